//! What is not instrumented: memory that no other thread can see, and functions that must or shall stay as they are.

use crate::llvm::hash::Map;
use crate::llvm::{self, debug};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue, PointerValue};
use std::collections::HashSet;

/// The annotation that a user gives a function to leave it alone.
const IGNORE_ANNOTATION: &str = "threadtalk_ignore";

/// Decides what memory is private. Remembers its answers for objects.
#[derive(Default)]
pub struct Skipper {
    objects: Map<LLVMValueRef, bool>,
}

impl Skipper {
    /// Whether what the pointer points to is never shared with another thread while it may change.
    pub fn is_private(&mut self, pointer: PointerValue<'_>) -> bool {
        self.is_private_object(llvm::underlying_object(pointer.as_value_ref()))
    }

    /// The same for an object: an alloca, a global, or anything else.
    pub fn is_private_object(&mut self, object: LLVMValueRef) -> bool {
        if let Some(&known) = self.objects.get(&object) {
            return known;
        }
        let private = if llvm::as_alloca(object).is_some() {
            !llvm::is_captured(object)
        } else if let Some(global) = llvm::as_global(object) {
            let name = global.get_name().to_bytes();
            global.is_constant()
                || name.starts_with(b"llvm.")
                || name.starts_with(b"__llvm_")
                || name.starts_with(b"__prof")
                || (global.is_thread_local() && is_unshared_thread_local(object))
        } else {
            false
        };
        self.objects.insert(object, private);
        private
    }
}

/// Whether a thread-local variable's address never leaves the code that we see.
fn is_unshared_thread_local(global: LLVMValueRef) -> bool {
    // SAFETY: a live global variable.
    let linkage = unsafe { LLVMGetLinkage(global) };
    use inkwell::llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
    if !matches!(linkage, LLVMInternalLinkage | LLVMPrivateLinkage) {
        return false;
    }
    llvm::users(global).into_iter().all(|user| {
        llvm::as_instruction(user).is_some_and(|inst| {
            llvm::is_call(inst)
                && llvm::callee(inst).is_some_and(|c| c.get_name().to_bytes().starts_with(b"llvm.threadlocal.address"))
                && !llvm::is_captured(user)
        })
    })
}

/// Functions that are left alone.
pub struct SkippedFunctions {
    annotated: HashSet<LLVMValueRef>,
    resolvers: HashSet<LLVMValueRef>,
    attributes: [u32; 3],
}

impl SkippedFunctions {
    /// Reads the module's annotations and ifuncs.
    pub fn find(module: &Module<'_>) -> Self {
        let names = ["naked", "disable_sanitizer_instrumentation", "presplitcoroutine"];
        SkippedFunctions {
            annotated: annotated(module),
            resolvers: resolvers(module),
            attributes: names.map(Attribute::get_named_enum_kind_id),
        }
    }

    /// Whether a function stays as it is. `ignored` asks the user's list for (`fun` or `src`, text).
    pub fn contains(&self, function: FunctionValue<'_>, ignored: impl Fn(&str, &str) -> bool) -> bool {
        let name = function.get_name().to_string_lossy();
        let file = || {
            let subprogram = debug::subprogram(function);
            if subprogram.is_null() { String::new() } else { debug::file(subprogram) }
        };
        function.count_basic_blocks() == 0
            || function.get_linkage() == Linkage::AvailableExternally
            || name.starts_with("__threadtalk_")
            || name.starts_with("threadtalk.")
            // Glue of the compiler that computes addresses inside a task's descriptor; no access of the program.
            || name.starts_with(".omp_task_privates_map.")
            || self.annotated.contains(&function.as_value_ref())
            || self.resolvers.contains(&function.as_value_ref())
            || self.attributes.iter().any(|&a| function.get_enum_attribute(AttributeLoc::Function, a).is_some())
            || function.get_section().is_some_and(|s| s.to_bytes().starts_with(b"threadtalk"))
            || ignored("fun", &name)
            || ignored("src", &file())
    }
}

/// Functions in `llvm.global.annotations` with our annotation: an array of {value, text, file, line, arguments}.
fn annotated(module: &Module<'_>) -> HashSet<LLVMValueRef> {
    let mut found = HashSet::new();
    let Some(list) = module.get_global("llvm.global.annotations") else { return found };
    // SAFETY: live constants; each is checked before it is taken apart.
    unsafe {
        let entries = LLVMGetInitializer(list.as_value_ref());
        if entries.is_null() || LLVMIsAConstantArray(entries).is_null() {
            return found;
        }
        for i in 0..LLVMGetNumOperands(entries) as u32 {
            let entry = LLVMGetOperand(entries, i);
            if LLVMIsAConstantStruct(entry).is_null() || LLVMGetNumOperands(entry) < 2 {
                continue;
            }
            let text = LLVMIsAGlobalVariable(llvm::underlying_object(LLVMGetOperand(entry, 1)));
            if text.is_null() || LLVMGetInitializer(text).is_null() {
                continue;
            }
            let text = LLVMGetInitializer(text);
            if LLVMIsAConstantDataSequential(text).is_null() || LLVMIsConstantString(text) == 0 {
                continue;
            }
            let mut length = 0;
            let data = LLVMGetAsString(text, &mut length);
            if llvm::string(data, length).trim_end_matches('\0') == IGNORE_ANNOTATION {
                found.insert(llvm::underlying_object(LLVMGetOperand(entry, 0)));
            }
        }
    }
    found
}

/// Functions that the dynamic linker calls before anything is initialised.
fn resolvers(module: &Module<'_>) -> HashSet<LLVMValueRef> {
    let mut found = HashSet::new();
    // SAFETY: the list of ifuncs of a live module.
    unsafe {
        let mut at = LLVMGetFirstGlobalIFunc(module.as_mut_ptr());
        while !at.is_null() {
            found.insert(llvm::underlying_object(LLVMGetGlobalIFuncResolver(at)));
            at = LLVMGetNextGlobalIFunc(at);
        }
    }
    found
}
