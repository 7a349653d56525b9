//! Condition variables and barriers.

use super::waits;
use crate::execution::{barriers, on_thread, sections, waiting};
use crate::intercept::next::next;
use crate::intercept::{interpose, timed};
use core::ffi::{c_int, c_uint};
use libc::{clockid_t, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_mutex_t, timespec};
use threadtalk_profile::layout::BlockedKind;

waits! {
    Condition: fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int, or libc::EINVAL;
    Condition: fn pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec)
        -> c_int, or libc::EINVAL;
    Condition: fn pthread_cond_clockwait(
        cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec
    ) -> c_int, or libc::EINVAL;
    Condition: fn cnd_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int, or 2;
    Condition: fn cnd_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec)
        -> c_int, or 2;
}

interpose! {
    /// Notes for how many threads it is.
    fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t, attributes: *const pthread_barrierattr_t, count: c_uint,
    ) -> c_int {
        let Some(next) =
            next!(pthread_barrier_init: fn(*mut pthread_barrier_t, *const pthread_barrierattr_t, c_uint) -> c_int)
        else {
            return libc::EINVAL;
        };
        // SAFETY: handed on unchanged.
        let result = unsafe { next(barrier, attributes, count) };
        if result == 0 {
            barriers::made(barrier.addr(), count);
        }
        result
    }
}

interpose! {
    /// Its address may be another's soon.
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        let Some(next) = next!(pthread_barrier_destroy: fn(*mut pthread_barrier_t) -> c_int) else { return libc::EINVAL };
        barriers::forget(barrier.addr());
        // SAFETY: handed on unchanged.
        unsafe { next(barrier) }
    }
}

timed! {
    /// Ends the phase of the calling thread, and begins the next.
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        let Some(next) = next!(pthread_barrier_wait: fn(*mut pthread_barrier_t) -> c_int) else { return libc::EINVAL };
        let next_phase = on_thread(|t, p| {
            let site = t.header.call_site;
            sections::before_barrier(t, p, barrier.addr(), site)
        });
        // SAFETY: handed on unchanged.
        let result = waiting::during(BlockedKind::Barrier, || unsafe { next(barrier) });
        if let Some(phase) = next_phase.flatten() {
            on_thread(|t, p| sections::after_barrier(t, p, phase));
        }
        result
    }
}
