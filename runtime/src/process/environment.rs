//! Environment variables without `getenv`: the runtime may start before libc is ready, and programs replace `getenv`.

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The environment as the kernel gave it: libc's own pointer may not be set yet when the runtime starts.
static AT_START: AtomicPtr<*const c_char> = AtomicPtr::new(ptr::null_mut());

/// Names the environment for as long as libc's pointer is null. It must live as long as the process.
pub fn use_if_unset(environment: *const *const c_char) {
    AT_START.store(environment.cast_mut(), Ordering::Relaxed);
}

/// The value of a variable.
pub fn get(name: &[u8]) -> Option<&'static [u8]> {
    // SAFETY: set by the dynamic linker before any constructor runs; a NULL-terminated array of C strings.
    let mut entry = unsafe { environ };
    if entry.is_null() {
        entry = AT_START.load(Ordering::Relaxed);
    }
    while !entry.is_null() {
        // SAFETY: inside the array, see above.
        let variable = unsafe { *entry };
        if variable.is_null() {
            return None;
        }
        // SAFETY: a C string that lives as long as the process does not change its environment; the runtime reads it
        // once at the start and copies what it keeps.
        let text = unsafe { CStr::from_ptr(variable) }.to_bytes();
        if let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")) {
            return Some(value);
        }
        // SAFETY: the terminator has not been reached.
        entry = unsafe { entry.add(1) };
    }
    None
}
