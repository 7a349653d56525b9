//! The start routine that threads get instead of their own.
//!
//! It leaves no frame behind: a thread that ends by `pthread_exit` or is cancelled unwinds its stack, and Rust code
//! that does not unwind would abort the program there. So it jumps to the program's start routine.

use super::signals;
use super::threads::Slot;
use super::unnoticed::unnoticed;
use core::ffi::c_void;
use core::sync::atomic::Ordering;

/// Comes back in two registers.
#[repr(C)]
struct Routine {
    start: usize,
    argument: *mut c_void,
}

/// Takes a slot as its argument, reports the thread, then is what the program asked for.
///
/// # Safety
/// `slot` is a [`Slot`] that the creator filled.
#[unsafe(naked)]
pub unsafe extern "C" fn trampoline(slot: *mut c_void) -> *mut c_void {
    core::arch::naked_asm!(
        "lea rsi, [rsp + 8]",
        "push rbx", // any register: the stack is a multiple of 16 at the call
        "call {begin}",
        "pop rbx",
        "mov rdi, rdx",
        "jmp rax",
        begin = sym begin,
    )
}

/// # Safety
/// See [`trampoline`].
unsafe extern "C" fn begin(slot: *mut c_void, frame: usize) -> Routine {
    // SAFETY: a slot, which are never given back to the system.
    let slot = unsafe { &*slot.cast::<Slot>() };
    // Read first: if the creator has detached the thread, only its own end frees the slot.
    let routine =
        Routine { start: slot.start.load(Ordering::Relaxed), argument: slot.argument.load(Ordering::Relaxed) };
    let signals = slot.signals.load(Ordering::Relaxed);
    unnoticed(|| slot.begin(frame));
    signals::let_go(signals);
    routine
}
