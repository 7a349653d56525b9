//! The end of a thread: however it ends, destructors of thread-specific data run.
//!
//! C++'s `thread_local` objects are destroyed before them. The C library calls the destructors of all keys with a
//! value, in up to four rounds as long as destructors set values again. Ours sets its value again three times and acts
//! in the last round, so that it follows the program's own, which may still access shared memory. The key is created
//! before any of the program's, so within that last round it comes first.

use super::threads::Slot;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::pthread_key_t;

/// Rounds of destructors in glibc and musl (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: usize = 4;

/// The key, or [`NONE`].
static KEY: AtomicU32 = AtomicU32::new(NONE);
const NONE: u32 = u32::MAX;

/// A slot's address is a multiple of 64, so the round fits into its low bits.
const ROUND_MASK: usize = 63;

/// If no key is left (1024 in a process), ends of threads are noticed when they are joined.
pub(super) fn create_key() {
    let mut key: pthread_key_t = 0;
    // SAFETY: room for the key; the destructor lives as long as the process.
    if unsafe { libc::pthread_key_create(&mut key, Some(round)) } == 0 {
        KEY.store(key, Ordering::Relaxed);
    }
}

/// The calling thread's end is to be reported for this slot.
pub(super) fn arm(slot: &'static Slot) {
    set(core::ptr::from_ref(slot).cast());
}

/// The slot that the calling thread is armed with.
pub(super) fn armed() -> Option<&'static Slot> {
    let key = KEY.load(Ordering::Relaxed);
    if key == NONE {
        return None;
    }
    // SAFETY: the key exists.
    let value = unsafe { libc::pthread_getspecific(key) }.cast_const();
    // SAFETY: null, or the address of a slot plus the round; slots are never given back to the system.
    unsafe { value.map_addr(|address| address & !ROUND_MASK).cast::<Slot>().as_ref() }
}

fn set(value: *const c_void) {
    let key = KEY.load(Ordering::Relaxed);
    if key != NONE {
        // SAFETY: the key exists. Keys below 32 need no memory; ours is the first or nearly so.
        unsafe { libc::pthread_setspecific(key, value) };
    }
}

unsafe extern "C" fn round(value: *mut c_void) {
    let done = value.addr() & ROUND_MASK;
    if done + 1 < ROUNDS {
        set(value.wrapping_byte_add(1));
        return;
    }
    // SAFETY: `arm` stored the address of a slot, to which the rounds were added.
    let slot = unsafe { &*value.map_addr(|address| address & !ROUND_MASK).cast::<Slot>() };
    slot.end();
}
