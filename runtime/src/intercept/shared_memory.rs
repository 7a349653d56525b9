//! System V shared memory: `shmdt` does not say how much it unmaps, so `shmat` notes it.

use super::interpose;
use super::mapping::die;
use super::next::next;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicUsize, Ordering};

/// An attached segment; `address` 0 = free, 1 = being filled.
struct Segment {
    address: AtomicUsize,
    bytes: AtomicUsize,
}

/// Programs attach a handful; what does not fit lives on after `shmdt` until it is written again.
static SEGMENTS: [Segment; 64] = [const { Segment { address: AtomicUsize::new(0), bytes: AtomicUsize::new(0) } }; 64];

interpose! {
    /// Notes the size of the segment.
    fn shmat(id: c_int, wish: *const c_void, flags: c_int) -> *mut c_void {
        let Some(shmat) = next!(shmat: fn(c_int, *const c_void, c_int) -> *mut c_void) else { return libc::MAP_FAILED };
        // SAFETY: handed on unchanged.
        let address = unsafe { shmat(id, wish, flags) };
        let mut status = MaybeUninit::<libc::shmid_ds>::uninit();
        // SAFETY: room for the status, which is filled in when the result is 0.
        if address != libc::MAP_FAILED && unsafe { libc::shmctl(id, libc::IPC_STAT, status.as_mut_ptr()) } == 0 {
            // SAFETY: filled in.
            let bytes = unsafe { status.assume_init() }.shm_segsz;
            for segment in &SEGMENTS {
                if segment.address.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    segment.bytes.store(bytes, Ordering::Relaxed);
                    segment.address.store(address.addr(), Ordering::Release);
                    break;
                }
            }
        }
        address
    }
}

interpose! {
    /// The elements of the segment die in this process.
    fn shmdt(address: *const c_void) -> c_int {
        let Some(shmdt) = next!(shmdt: fn(*const c_void) -> c_int) else { return -1 };
        if let Some(segment) = SEGMENTS.iter().find(|s| s.address.load(Ordering::Acquire) == address.addr()) {
            die(address.cast_mut(), segment.bytes.load(Ordering::Relaxed));
            segment.address.store(0, Ordering::Release);
        }
        // SAFETY: handed on unchanged.
        unsafe { shmdt(address) }
    }
}
