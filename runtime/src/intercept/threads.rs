//! Creation, joining and detaching of threads: POSIX and C11.
//!
//! The C library's `thrd_*` do not pass through the exported `pthread_*`, so both families are here. In all of them 0
//! means success.

use super::next::next;
use super::{interpose, timed};
use crate::execution::{on_thread, sections, waiting};
use crate::lifecycle::threads::{self, Creation};
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_attr_t, pthread_t, timespec};
use threadtalk_profile::layout::BlockedKind;

/// A start routine; C11's returns an `int`, which comes back in the same register.
type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

interpose! {
    /// The new thread gets its number before it exists, so that numbers follow the order of creation.
    fn pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void) -> c_int {
        let Some(next) = next!(pthread_create: fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int) else {
            return libc::EAGAIN;
        };
        // SAFETY: null or initialised attributes, by the caller's contract.
        let creation = unsafe { Creation::begin(start as usize, argument, attributes) };
        let Some(creation) = creation else {
            // SAFETY: handed on unchanged.
            return unsafe { next(thread, attributes, start, argument) };
        };
        // SAFETY: the trampoline calls `start(argument)` in the new thread.
        let result = unsafe { next(thread, attributes, threads::trampoline, creation.argument()) };
        // SAFETY: set when the thread was created.
        creation.end((result == 0).then(|| unsafe { *thread }));
        result
    }
}

interpose! {
    /// See [`pthread_create`].
    fn thrd_create(thread: *mut pthread_t, start: Start, argument: *mut c_void) -> c_int {
        let Some(next) = next!(thrd_create: fn(*mut pthread_t, Start, *mut c_void) -> c_int) else {
            return 2; // thrd_error
        };
        // SAFETY: no attributes.
        let Some(creation) = (unsafe { Creation::begin(start as usize, argument, core::ptr::null()) }) else {
            // SAFETY: handed on unchanged.
            return unsafe { next(thread, start, argument) };
        };
        // SAFETY: as in `pthread_create`.
        let result = unsafe { next(thread, threads::trampoline, creation.argument()) };
        // SAFETY: set when the thread was created.
        creation.end((result == 0).then(|| unsafe { *thread }));
        result
    }
}

/// Joins or detaches: which thread it is must be known before, because afterwards its handle may be another's.
fn release(thread: pthread_t, joins: bool, call: impl FnOnce() -> c_int) -> c_int {
    let known = threads::find(thread);
    let result = call();
    if result == 0 {
        threads::release(known, joins);
    }
    result
}

/// The calling thread arrives where it joins another.
fn arrive() {
    on_thread(|t, p| {
        let site = t.header.call_site;
        sections::before_join(t, p, site);
    });
}

/// Joins, waiting.
fn join(thread: pthread_t, call: impl FnOnce() -> c_int) -> c_int {
    arrive();
    let result = release(thread, true, || waiting::during(BlockedKind::Join, call));
    on_thread(sections::after_join);
    result
}

// A thread that is cancelled while it joins unwinds through these frames: they hold nothing that must be dropped.

timed! {
    /// A joined thread exists no more.
    fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
        let Some(next) = next!(pthread_join: fn(pthread_t, *mut *mut c_void) -> c_int) else { return libc::EINVAL };
        // SAFETY: handed on unchanged.
        join(thread, || unsafe { next(thread, value) })
    }
}

interpose! {
    /// See [`pthread_join`]. Only the attempt that succeeds is a join.
    fn pthread_tryjoin_np(thread: pthread_t, value: *mut *mut c_void) -> c_int {
        let Some(next) = next!(pthread_tryjoin_np: fn(pthread_t, *mut *mut c_void) -> c_int) else { return libc::EINVAL };
        // SAFETY: handed on unchanged.
        let result = release(thread, true, || unsafe { next(thread, value) });
        if result == 0 {
            arrive();
            on_thread(sections::after_join);
        }
        result
    }
}

timed! {
    /// See [`pthread_join`].
    fn pthread_timedjoin_np(thread: pthread_t, value: *mut *mut c_void, until: *const timespec) -> c_int {
        let Some(next) = next!(pthread_timedjoin_np: fn(pthread_t, *mut *mut c_void, *const timespec) -> c_int) else {
            return libc::EINVAL;
        };
        // SAFETY: handed on unchanged.
        join(thread, || unsafe { next(thread, value, until) })
    }
}

timed! {
    /// See [`pthread_join`].
    fn pthread_clockjoin_np(thread: pthread_t, value: *mut *mut c_void, clock: clockid_t, until: *const timespec) -> c_int {
        let Some(next) = next!(pthread_clockjoin_np: fn(pthread_t, *mut *mut c_void, clockid_t, *const timespec) -> c_int)
        else {
            return libc::EINVAL;
        };
        // SAFETY: handed on unchanged.
        join(thread, || unsafe { next(thread, value, clock, until) })
    }
}

timed! {
    /// See [`pthread_join`].
    fn thrd_join(thread: pthread_t, value: *mut c_int) -> c_int {
        let Some(next) = next!(thrd_join: fn(pthread_t, *mut c_int) -> c_int) else { return 2 };
        // SAFETY: handed on unchanged.
        join(thread, || unsafe { next(thread, value) })
    }
}

interpose! {
    /// A detached thread exists until it ends.
    fn pthread_detach(thread: pthread_t) -> c_int {
        let Some(next) = next!(pthread_detach: fn(pthread_t) -> c_int) else { return libc::EINVAL };
        // SAFETY: handed on unchanged.
        release(thread, false, || unsafe { next(thread) })
    }
}

interpose! {
    /// See [`pthread_detach`].
    fn thrd_detach(thread: pthread_t) -> c_int {
        let Some(next) = next!(thrd_detach: fn(pthread_t) -> c_int) else { return 2 };
        // SAFETY: handed on unchanged.
        release(thread, false, || unsafe { next(thread) })
    }
}
