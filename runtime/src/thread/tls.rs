//! The thread-local pointer that instrumented code reads.
//!
//! Stable Rust has no `#[thread_local]`, and `thread_local!` calls `__tls_get_addr` in a shared library; the symbol is defined here in
//! assembly, 8 zeroed bytes in the static TLS block (initial-exec: one `%fs` access from anywhere).

use super::Thread;
use core::arch::{asm, global_asm};

global_asm!(
    ".pushsection .tbss.__threadtalk_thread,\"awT\",@nobits",
    ".globl __threadtalk_thread",
    ".type __threadtalk_thread, @object",
    ".size __threadtalk_thread, 8",
    ".p2align 3",
    "__threadtalk_thread:",
    ".zero 8",
    ".popsection",
);

/// The calling thread's control block; null until it is attached.
#[inline(always)]
pub fn get() -> *mut Thread {
    let thread: *mut Thread;
    // SAFETY: reads 8 bytes of this thread's static TLS.
    unsafe {
        asm!(
            "mov {t}, qword ptr [rip + __threadtalk_thread@GOTTPOFF]",
            "mov {t}, qword ptr fs:[{t}]",
            t = out(reg) thread,
            options(nostack, preserves_flags, readonly),
        );
    }
    thread
}

/// Gives the calling thread its control block, or takes it away (null).
#[inline(always)]
pub fn set(thread: *mut Thread) {
    // SAFETY: writes 8 bytes of this thread's static TLS.
    unsafe {
        asm!(
            "mov {t}, qword ptr [rip + __threadtalk_thread@GOTTPOFF]",
            "mov qword ptr fs:[{t}], {v}",
            t = out(reg) _,
            v = in(reg) thread,
            options(nostack, preserves_flags),
        );
    }
}
