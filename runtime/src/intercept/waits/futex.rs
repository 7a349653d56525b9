//! `syscall()`: how libstdc++'s semaphores, barriers and atomic waits, and other runtimes, reach the futex.

use crate::execution::waiting;
use crate::intercept::process::made_a_copy;
use crate::intercept::timed;
use crate::lifecycle::fork;
use core::ffi::c_long;
use threadtalk_profile::layout::BlockedKind;

timed! {
    /// Any system call; C declares the arguments as variable, and they come in the registers of six. Waiting at a futex
    /// is timed, and a child that is a copy of its parent is told that it is.
    fn syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long {
        let call = || {
            let result: c_long;
            // SAFETY: what the caller asks of the kernel.
            unsafe {
                core::arch::asm!(
                    "syscall",
                    inlateout("rax") number => result,
                    in("rdi") a,
                    in("rsi") b,
                    in("rdx") c,
                    in("r10") d,
                    in("r8") e,
                    in("r9") f,
                    lateout("rcx") _,
                    lateout("r11") _,
                );
            }
            result
        };
        let result = if number == libc::SYS_futex && waits(b) { waiting::during(BlockedKind::Futex, call) } else { call() };
        // SAFETY: the kernel took these arguments.
        if result == 0 && unsafe { made_a_copy(number, a) } {
            fork::in_child();
        }
        // The kernel's errors are -4095..-1.
        if (-4095..0).contains(&result) {
            // SAFETY: the thread's errno.
            unsafe { *libc::__errno_location() = -result as i32 };
            return -1;
        }
        result
    }
}

/// Whether a futex operation waits.
fn waits(operation: c_long) -> bool {
    let command = operation as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    matches!(command, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET | libc::FUTEX_LOCK_PI | libc::FUTEX_WAIT_REQUEUE_PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_told_from_waking_with_any_flags() {
        for flags in [0, libc::FUTEX_PRIVATE_FLAG, libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME] {
            assert!(waits((libc::FUTEX_WAIT | flags).into()) && waits((libc::FUTEX_WAIT_BITSET | flags).into()));
            assert!(!waits((libc::FUTEX_WAKE | flags).into()) && !waits((libc::FUTEX_REQUEUE | flags).into()));
        }
    }
}
