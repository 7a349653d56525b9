//! Barriers: where phases of communication end.

use super::interpose;
use super::next::next;
use crate::{core_api, lifecycle};
use core::ffi::c_int;
use libc::pthread_barrier_t;
use threadtalk_profile::layout::PhaseEnd;

interpose! {
    /// What was read until here belongs to the phase before.
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        let Some(next) = next!(pthread_barrier_wait: fn(*mut pthread_barrier_t) -> c_int) else { return libc::EINVAL };
        let active = lifecycle::is_active();
        if active {
            core_api::phase_boundary(PhaseEnd::Barrier);
        }
        // SAFETY: handed on unchanged.
        let result = unsafe { next(barrier) };
        if active {
            core_api::phase_resume();
        }
        result
    }
}
