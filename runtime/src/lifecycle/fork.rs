//! Forked children: one thread, a copy of the memory, and the parent's profile still mapped.

use super::{exit, is_active, threads};
use crate::core_api::{self, Child};
use core::sync::atomic::{AtomicBool, Ordering};

/// `daemon` is at work: its child is the program.
static TAKING_OVER: AtomicBool = AtomicBool::new(false);

/// `fork` calls these by itself. Registered first: the child's handler runs before the program's own, the parent's
/// `prepare` after them.
pub(super) fn register() {
    // SAFETY: the handlers live as long as the process. Without memory for them forked children stay unnoticed until
    // they end.
    unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child_handler)) };
}

unsafe extern "C" fn prepare() {
    if is_active() {
        core_api::fork_prepare();
    }
}

unsafe extern "C" fn in_parent() {
    if is_active() {
        core_api::fork_parent();
    }
}

unsafe extern "C" fn in_child_handler() {
    in_child();
}

/// In a child that has a copy of the memory. Async-signal-safe.
#[cold]
pub fn in_child() {
    if !is_active() {
        return;
    }
    let child = if TAKING_OVER.load(Ordering::Relaxed) { Child::TakesOver } else { Child::Leaves };
    if core_api::fork_child(child) {
        threads::only_this_one_is_left();
        exit::remember_process();
    } else {
        super::deactivate();
    }
}

/// Runs a function whose child goes on with the profile because the parent ends.
pub fn taking_over<T>(call: impl FnOnce() -> T) -> T {
    TAKING_OVER.store(true, Ordering::Relaxed);
    let result = call();
    TAKING_OVER.store(false, Ordering::Relaxed);
    result
}
