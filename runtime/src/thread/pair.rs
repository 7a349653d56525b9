//! The first two threads of a process exchange cells without locked instructions, which wait for all earlier accesses:
//! a quarter of the time of a sort whose threads read each other's keys, 7 % of a sparse product's.
//!
//! What one of them reads for the first time was written by the other ([`States::is_pair`]). A third thread that reads
//! the same element could exchange the cell at the same time; so before it begins, who enters it on the roll sees to it
//! that neither of the two is in a hook that has not noticed. A hook says that it is at work by a plain store and then
//! asks; the barrier between these is made here, for all threads of the process at once: `membarrier` costs the rare
//! third thread some microseconds and the hooks nothing.

use crate::process::Process;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use threadtalk_sigmem::States;

/// `MEMBARRIER_CMD_PRIVATE_EXPEDITED` and its registration, of Linux's `membarrier.h`.
const BARRIER: c_int = 1 << 3;
const REGISTER: c_int = 1 << 4;

/// Longest wait for a hook to end. One takes microseconds; it lasts as long only if its thread was interrupted in it by
/// a signal handler that waits for something, or never came back from one.
const PATIENCE_NS: u64 = 100_000_000;

/// Whether the process has had two threads at most.
pub struct Pair {
    over: AtomicBool,
}

impl Pair {
    /// Not begun.
    pub const fn new() -> Self {
        Self { over: AtomicBool::new(true) }
    }

    /// At the start of the process, if the kernel can make the barrier.
    pub fn begin(&self, states: &States) {
        if membarrier(REGISTER) {
            self.over.store(false, Ordering::Relaxed);
            states.set_pair(true);
        }
    }

    /// Before a third logical thread begins.
    pub fn end(&self, process: &Process) {
        // Acquire: partner is the store below. Until then everyone who lets in a thread waits.
        if self.over.load(Ordering::Acquire) {
            return;
        }
        process.states.set_pair(false);
        membarrier(BARRIER);
        let own = super::own_block();
        let start = process.elapsed_ns();
        for block in process.pool.all().filter(|&block| block != own) {
            // SAFETY: blocks are never unmapped. Acquire: partner is the store at the end of a hook; what it did to
            // cells is done.
            while unsafe { (*block).busy.load(Ordering::Acquire) } && process.elapsed_ns() - start < PATIENCE_NS {
                // SAFETY: always succeeds.
                unsafe { libc::sched_yield() };
            }
        }
        self.over.store(true, Ordering::Release);
    }
}

fn membarrier(command: c_int) -> bool {
    // SAFETY: touches no memory.
    crate::lifecycle::unnoticed::unnoticed(|| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 })
}
