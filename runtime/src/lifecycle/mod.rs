//! The life of the process and of its threads: start, fork, exec, end.
//!
//! Nothing here counts anything: it finds out what happens and tells [`crate::core_api`], exactly once each.
//! No lock, no heap, no thread of our own.

pub mod exit;
pub mod fork;
mod signals;
pub mod start;
pub mod thread_end;
pub mod threads;
pub mod tls;
mod trampoline;
pub mod unnoticed;

use core::sync::atomic::{AtomicBool, Ordering};

static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whether this process is being profiled. False before the start, when profiling is switched off, and in children that
/// do not go on with the profile.
#[inline]
pub fn is_active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Stops telling the core anything.
pub fn deactivate() {
    ACTIVE.store(false, Ordering::Relaxed);
}

/// Whether another thread than the caller may exist.
#[inline]
pub fn others_exist() -> bool {
    threads::existing() > 1
}
