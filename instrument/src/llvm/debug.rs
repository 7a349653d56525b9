//! Debug locations.

use super::ffi::RawLocation;
use super::{ffi, string};
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use std::ptr::null_mut;

/// A call frame in terms of debug information: the function that the source names, and the call that it was inlined at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// `DISubprogram`.
    pub subprogram: LLVMMetadataRef,
    /// `DILocation` of the call, or null.
    pub inlined_at: LLVMMetadataRef,
}

/// A `DILocation` taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The metadata itself.
    pub raw: LLVMMetadataRef,
    /// 1-based; 0 = unknown.
    pub line: u32,
    /// Innermost lexical scope.
    pub scope: LLVMMetadataRef,
    /// Where it belongs.
    pub frame: Frame,
}

/// Lets the code generator follow variables alone to find their places, for all that this process compiles; a tenth
/// less time. Where a variable has been copied to another register, a debugger may show it as optimised out.
pub fn follow_variables_alone() {
    // SAFETY: LLVM's options exist as long as its library; passes of other modules run in other processes.
    unsafe { ffi::threadtalk_shim_follow_variables_alone() }
}

/// Takes a `DILocation` apart; `None` for null.
pub fn location(raw: LLVMMetadataRef) -> Option<Location> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: `raw` is a DILocation of a live module.
    unsafe {
        let scope = LLVMDILocationGetScope(raw);
        let subprogram = ffi::threadtalk_shim_subprogram_of(scope);
        let frame = Frame { subprogram, inlined_at: LLVMDILocationGetInlinedAt(raw) };
        (!subprogram.is_null()).then(|| Location { raw, line: LLVMDILocationGetLine(raw), scope, frame })
    }
}

/// The location of an instruction.
pub fn of(inst: InstructionValue<'_>) -> Option<Location> {
    // SAFETY: a live instruction.
    unsafe {
        let mut at =
            RawLocation { raw: null_mut(), scope: null_mut(), subprogram: null_mut(), inlined_at: null_mut(), line: 0 };
        ffi::threadtalk_shim_location(inst.as_value_ref(), &mut at).then_some(Location {
            raw: at.raw,
            line: at.line,
            scope: at.scope,
            frame: Frame { subprogram: at.subprogram, inlined_at: at.inlined_at },
        })
    }
}

/// The `DISubprogram` of a function, or null.
pub fn subprogram(function: FunctionValue<'_>) -> LLVMMetadataRef {
    // SAFETY: a live function.
    unsafe { LLVMGetSubprogram(function.as_value_ref()) }
}

/// The name that the linker sees if debug information has it, else the name in the source.
pub fn name(subprogram: LLVMMetadataRef) -> String {
    let name = name_of(subprogram, true);
    if name.is_empty() { source_name(subprogram) } else { name }
}

/// The name in the source, without what it belongs to; empty if there is none.
pub fn source_name(subprogram: LLVMMetadataRef) -> String {
    name_of(subprogram, false)
}

fn name_of(subprogram: LLVMMetadataRef, linkage: bool) -> String {
    let mut length = 0;
    // SAFETY: a DISubprogram of a live module; the strings live in its context.
    unsafe {
        let data = ffi::threadtalk_shim_subprogram_name(subprogram, linkage, &mut length);
        string(data, length)
    }
}

/// The line that a `DISubprogram` begins at.
pub fn line(subprogram: LLVMMetadataRef) -> u32 {
    // SAFETY: a DISubprogram of a live module.
    unsafe { LLVMDISubprogramGetLine(subprogram) }
}

/// The line that a function begins at; 0 = unknown.
pub fn line_of(function: FunctionValue<'_>) -> u32 {
    let subprogram = subprogram(function);
    if subprogram.is_null() { 0 } else { line(subprogram) }
}

/// The path of the file of a scope (a subprogram or a lexical block).
pub fn file(scope: LLVMMetadataRef) -> String {
    // SAFETY: a DIScope of a live module; a missing file is checked for.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let mut length = 0;
        let data = LLVMDIFileGetFilename(file, &mut length);
        let filename = string(data, length as usize);
        if filename.starts_with('/') || filename.is_empty() {
            return filename;
        }
        let data = LLVMDIFileGetDirectory(file, &mut length);
        let directory = string(data, length as usize);
        if directory.is_empty() { filename } else { format!("{}/{filename}", directory.trim_end_matches('/')) }
    }
}
