//! `threadtalk.h`: regions, start and stop, names.

use super::on_thread;
use crate::process;
use crate::thread::{self, roll};
use core::ffi::{CStr, c_char};

/// A region of the program's own begins on the calling thread.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __threadtalk_region_begin(name: *const c_char) {
    // SAFETY: the caller's promise.
    let name = unsafe { bytes_of(name) };
    on_thread(|t, p| {
        t.context = p.user_regions.begin(p, name, t.context);
        t.forget_events();
    });
}

/// The innermost open region of this name, and all opened inside it, end. Without such a region nothing happens.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __threadtalk_region_end(name: *const c_char) {
    // SAFETY: the caller's promise.
    let name = unsafe { bytes_of(name) };
    on_thread(|t, p| {
        if let Some(outer) = p.user_regions.end(name, t.context) {
            t.context = outer;
            t.forget_events();
        }
    });
}

/// Counting begins.
#[unsafe(no_mangle)]
pub extern "C" fn __threadtalk_start() {
    if let Some(process) = process::get() {
        process.pause(false);
    }
}

/// Counting pauses.
#[unsafe(no_mangle)]
pub extern "C" fn __threadtalk_stop() {
    process::start().pause(true);
}

/// Names the calling thread.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __threadtalk_thread_name(name: *const c_char) {
    // SAFETY: the caller's promise.
    let name = unsafe { bytes_of(name) };
    let thread = thread::current();
    // SAFETY: the calling thread's block, or the one of unrecorded threads, whose record is null.
    roll::name(unsafe { (*thread).record }, name);
}

/// # Safety
/// `name` is null or a C string.
unsafe fn bytes_of<'a>(name: *const c_char) -> &'a [u8] {
    if name.is_null() {
        return b"";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_bytes()
}
