//! An LLVM 19 pass plugin that makes a program report its memory accesses to the threadtalk runtime.
//!
//! `clang-19 -fpass-plugin=libthreadtalk_pass.so` loads it. The pass runs at the end of the optimiser's pipeline, so
//! that it instruments the accesses that are left; on each access it emits the sequence that [`threadtalk_abi::thread`]
//! describes, and per object file a table of source regions and sites.
//!
//! The way through the code: `module_pass` is what happens to a module; `access` finds what functions do to
//! memory, helped by `library` and `skip`; `pure` finds functions whose calls change nothing; `control` counts control
//! flow; `regions` finds where in the source that is; `tables` collects it; `optimise` leaves out what need not be
//! done; `emit` writes the code. `llvm` wraps what inkwell does not, over the C++ shim in `shim/`.

mod access;
mod control;
mod emit;
mod error;
mod ignorelist;
mod library;
mod llvm;
mod module_pass;
mod optimise;
mod options;
mod pure;
mod regions;
mod skip;
mod tables;

use inkwell::llvm_sys::core::LLVMGetModuleContext;
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::ffi::{c_char, c_void};
use std::mem::ManuallyDrop;

/// `llvm::PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
}

/// `LLVM_PLUGIN_API_VERSION` of LLVM 19.
const PLUGIN_API_VERSION: u32 = 1;

/// The symbol that clang looks for.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: PLUGIN_API_VERSION,
        name: c"threadtalk".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register: llvm::ffi::threadtalk_shim_register,
    }
}

/// Called by the shim for each module.
///
/// # Safety
/// `module` is a live module that nobody else uses during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threadtalk_pass_run(module: LLVMModuleRef) -> bool {
    // SAFETY: a live module. It belongs to clang, so it must not be disposed of here.
    let wrapped = ManuallyDrop::new(unsafe { Module::new(module) });
    match module_pass::run(&wrapped) {
        Ok(changed) => changed,
        Err(error) => {
            let text = format!("threadtalk: {error}");
            // SAFETY: the context of a live module; the text lives during the call.
            unsafe {
                let context = LLVMGetModuleContext(module);
                llvm::ffi::threadtalk_shim_error(context, text.as_ptr().cast(), text.len());
            }
            false
        }
    }
}

/// Called by the shim for functions that loops call.
///
/// # Safety
/// `function` is a live function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threadtalk_only_computes(function: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe { FunctionValue::new(function) }.is_some_and(library::only_computes)
}
