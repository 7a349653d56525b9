//! The beginning: before anything of the program and its libraries runs.
//!
//! In executables [`__threadtalk_init`] stands in `.preinit_array` (which the dynamic linker runs before all
//! constructors), in the shared library in `.init_array`. What is registered this early runs last at the end. If a
//! constructor of another library is earlier still, the first hook calls [`ensure`].

use super::{ACTIVE, exit, fork, thread_end, threads};
use crate::core_api;
use crate::intercept::mapping;
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU32, Ordering};

static STARTED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    static mut environ: *const *const c_char;
    static mut program_invocation_name: *const c_char;
    static mut program_invocation_short_name: *const c_char;
}

/// The first code of the process. The C library has not set its `environ` and the program's name yet.
///
/// # Safety
/// Called by the dynamic linker, with the arguments of `main`.
#[cfg_attr(feature = "interpose", unsafe(no_mangle))]
pub unsafe extern "C" fn __threadtalk_init(argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    if STARTED.swap(1, Ordering::Relaxed) != 0 {
        return;
    }
    let arguments = if argv.is_null() {
        &[]
    } else {
        // SAFETY: main's arguments: `argc` pointers.
        unsafe { core::slice::from_raw_parts(argv, argc.max(0) as usize) }
    };
    // SAFETY: no other thread exists yet; the C library will store the same values.
    unsafe {
        if environ.is_null() {
            environ = envp;
        }
        if let Some(&name) = arguments.first().filter(|name| !name.is_null()) {
            program_invocation_name = name;
            program_invocation_short_name = base_name(name);
        }
    }
    // SAFETY: just set, or by the C library.
    if !core_api::process_start(arguments, unsafe { environ }) {
        return;
    }
    mapping::resolve();
    exit::register();
    fork::register();
    thread_end::create_key();
    threads::begin_with_first();
    ACTIVE.store(true, Ordering::Relaxed);
}

/// What follows the last slash.
///
/// # Safety
/// `path` is a C string.
unsafe fn base_name(path: *const c_char) -> *const c_char {
    let mut base = path;
    let mut at = path;
    // SAFETY: up to the NUL.
    unsafe {
        while *at != 0 {
            at = at.add(1);
            if *at.sub(1) == b'/' as c_char {
                base = at;
            }
        }
    }
    base
}
