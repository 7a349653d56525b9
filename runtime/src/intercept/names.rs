//! Names that programs give their threads.

use super::interpose;
use super::next::next;
use crate::core_api;
use crate::lifecycle;
use crate::lifecycle::threads;
use core::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use libc::pthread_t;

interpose! {
    /// Takes the name over if the C library accepts it (at most 15 bytes).
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
        let Some(next) = next!(pthread_setname_np: fn(pthread_t, *const c_char) -> c_int) else { return libc::EINVAL };
        // SAFETY: handed on unchanged.
        let result = unsafe { next(thread, name) };
        if result == 0 && lifecycle::is_active() && let Some(ticket) = threads::find(thread).map(|slot| slot.ticket()) {
            // SAFETY: the C library has just read it as a string.
            core_api::thread_named(ticket, unsafe { CStr::from_ptr(name) }.to_bytes());
        }
        result
    }
}

interpose! {
    /// `PR_SET_NAME` names the calling thread. C declares the parameters after the first as variable; on this machine
    /// they are passed like any others.
    fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int {
        let Some(next) = next!(prctl: fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int) else { return -1 };
        // SAFETY: handed on unchanged.
        let result = unsafe { next(option, a, b, c, d) };
        if result == 0
            && option == libc::PR_SET_NAME
            && lifecycle::is_active()
            && let Some(ticket) = threads::current().map(|slot| slot.ticket())
        {
            let name = core::ptr::with_exposed_provenance::<c_void>(a as usize).cast::<u8>();
            let mut bytes = [0u8; 16];
            let mut used = 0;
            // The kernel reads up to 15 bytes or the NUL, and so does this: what follows need not be mapped.
            while used < 15 {
                // SAFETY: the kernel has just read it, up to the NUL that has not been reached.
                let byte = unsafe { *name.add(used) };
                if byte == 0 {
                    break;
                }
                bytes[used] = byte;
                used += 1;
            }
            core_api::thread_named(ticket, &bytes[..used]);
        }
        result
    }
}
