//! Variables behind accesses, as debug information names them.

use super::ffi::{self, RawObject};
use super::hash::Map;
use super::string;
use inkwell::llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};
use inkwell::values::{AsValueRef, InstructionValue};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use threadtalk_abi::module::TASK_DATA;

/// A variable and what it has to do with an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Number of a [`threadtalk_abi::module::ObjectKind`].
    pub kind: u32,
    /// As an expression of the source: `grid`, `grid->cells`.
    pub name: String,
    /// Path of the file with the declaration; empty = unknown.
    pub file: Rc<str>,
    /// Its line; 0 = unknown.
    pub line: u32,
}

/// Paths of files that declare variables: a large function has thousands of accesses to what one file declares.
#[derive(Default)]
pub struct Files(Map<LLVMMetadataRef, Rc<str>>);

/// The variable that a pointer leads to, or the pointer variable that leads there; and of a pointer to bytes or halves,
/// how many bytes one of them has, else 0.
pub fn behind(pointer: LLVMValueRef, files: &mut Files) -> Option<(Object, u32)> {
    // SAFETY: a live pointer value; the visitor gets the string that it expects.
    let found = found(files, |out, data| unsafe { ffi::threadtalk_shim_object(pointer, out, data, on_name) });
    found.map(|(object, raw)| (object, raw.element))
}

/// The variable that receives the result of a call; and by how many inlined calls its frame is outside of the one that
/// the call is in: a function that allocates for others was inlined into those.
pub fn receiver(call: InstructionValue<'_>, files: &mut Files) -> Option<(Object, u32)> {
    received(call, false, files)
}

/// The same of what a call stores in a local variable, to which its argument 0 points.
pub fn receiver_behind(call: InstructionValue<'_>, files: &mut Files) -> Option<(Object, u32)> {
    received(call, true, files)
}

fn received(call: InstructionValue<'_>, behind: bool, files: &mut Files) -> Option<(Object, u32)> {
    // SAFETY: a live call, with an argument if `behind`; the visitor gets the string that it expects.
    let ask = |out, data| unsafe { ffi::threadtalk_shim_receiver(call.as_value_ref(), behind, out, data, on_name) };
    found(files, ask).map(|(object, raw)| (object, raw.frames))
}

fn found(files: &mut Files, ask: impl FnOnce(*mut RawObject, *mut c_void) -> bool) -> Option<(Object, RawObject)> {
    let mut name = String::new();
    let mut raw = RawObject { kind: 0, line: 0, file: null_mut(), frames: 0, element: 0 };
    let data: *mut String = &mut name;
    ask(&mut raw, data.cast()).then(|| {
        let file = files.0.entry(raw.file).or_insert_with(|| path(raw.file).into()).clone();
        (Object { kind: raw.kind, name: known(name), file, line: raw.line }, raw)
    })
}

/// clang's names of the block that holds an OpenMP task, or of a part of it.
const TASK_BLOCKS: [&str; 3] = [".task_t.", ".privates.", "__context"];

fn known(name: String) -> String {
    if TASK_BLOCKS.iter().any(|block| name.starts_with(block)) { TASK_DATA.to_owned() } else { name }
}

extern "C" fn on_name(data: *mut c_void, text: *const c_char, length: usize) {
    // SAFETY: `find` passes its own String, and the shim a name that lives during the call.
    unsafe { *data.cast::<String>() = string(text, length) };
}

/// The path of a `DIFile`; empty for null.
fn path(file: LLVMMetadataRef) -> String {
    if file.is_null() {
        return String::new();
    }
    let part = |directory| {
        let mut length = 0;
        // SAFETY: a DIFile of a live module; the strings live in its context.
        unsafe { string(ffi::threadtalk_shim_file_part(file, directory, &mut length), length) }
    };
    let (name, directory) = (part(false), part(true));
    if name.starts_with('/') || name.is_empty() || directory.is_empty() {
        return name;
    }
    format!("{}/{name}", directory.trim_end_matches('/'))
}
