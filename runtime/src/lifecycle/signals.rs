//! Signals wait while a thread starts.
//!
//! A signal of the process (an interval timer's, a terminal's) goes to any thread that does not block it, also to one
//! whose trampoline has not run yet. Its handler is instrumented code in a thread that nobody has announced: it would
//! be taken for one more thread, which never ends. So the creator blocks signals while it creates a thread, which
//! inherits that, and both go on with what was blocked before.

use core::sync::atomic::{AtomicU64, Ordering};
use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGSYS, SIGTRAP};

/// Bytes of the kernel's set of signals.
const BYTES: usize = size_of::<u64>();
/// What an instruction causes cannot wait: the kernel would kill the process.
const SYNCHRONOUS: u64 =
    bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS) | bit(SIGABRT);
/// The C library's own: cancellation and change of user (`SIGCANCEL`, `SIGSETXID`).
const LIBRARY: u64 = bit(32) | bit(33);
/// Nobody can block these: the kernel takes them out of every set.
const UNBLOCKABLE: u64 = bit(SIGKILL) | bit(SIGSTOP);
const HELD: u64 = !(SYNCHRONOUS | LIBRARY | UNBLOCKABLE);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Adds to, or replaces, the calling thread's blocked signals; what was blocked before. By the kernel directly: the
/// functions of the C library may be the program's.
fn mask(how: i32, set: u64) -> u64 {
    let mut before = 0u64;
    // SAFETY: two sets of the size given. It cannot fail, and so leaves `errno` alone.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const set, &raw mut before, BYTES) };
    before
}

/// What the creator of a thread had blocked.
pub struct Held {
    before: u64,
}

impl Held {
    /// From here on signals wait, in this thread and in those that it creates; `creators` is for the new thread.
    pub fn begin(creators: &AtomicU64) -> Self {
        let before = mask(libc::SIG_BLOCK, HELD);
        creators.store(before, Ordering::Relaxed);
        Self { before }
    }

    /// The thread is created, or will not be.
    pub fn end(self) {
        mask(libc::SIG_SETMASK, self.before);
    }
}

/// In the new thread, once it is known: what its creator had blocked applies. A set that the thread was given by its
/// attributes stays.
pub fn let_go(creators: u64) {
    let own = mask(libc::SIG_BLOCK, 0);
    if own == creators | HELD && own != creators {
        mask(libc::SIG_SETMASK, creators);
    }
}
