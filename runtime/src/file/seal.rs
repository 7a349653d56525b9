//! The end of a profile: checksums over the blocks, then the state.

use super::ProfileFile;
use core::mem::offset_of;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_profile::layout::{BLOCK_MAGIC, BlockHeader, FileHeader, UNIT, block};
use xxhash_rust::xxh3::xxh3_64;

/// Writes checksums for all filled blocks (`whole`), or only for those that never change after they were published.
/// While other threads still count, a checksum over their events would call the file damaged.
pub fn seal(file: &ProfileFile, whole: bool, state: u32) {
    let units = file.units();
    let mut unit = 1;
    while unit < units {
        let header = file.at(unit * UNIT).cast::<BlockHeader>();
        // SAFETY: units below the counter are mapped, or about to be by a thread still inside `allocate`; that
        // can only be so for the last ones while other threads run, and then `whole` is false and the kernel is asked.
        if !whole && !is_mapped(header.cast()) {
            break;
        }
        // SAFETY: mapped, see above.
        let (magic, kind, length, used) = unsafe {
            let magic = AtomicU32::from_ptr(&raw mut (*header).magic).load(Ordering::Acquire);
            (magic, (*header).kind, (*header).units, (*header).used)
        };
        if magic != BLOCK_MAGIC || length == 0 {
            unit += 1;
            continue;
        }
        if whole || matches!(kind, block::META | block::MODULE) {
            // SAFETY: `used` bytes of payload follow the header inside the block.
            let payload = unsafe { slice::from_raw_parts(header.add(1).cast::<u8>(), used as usize) };
            let sum = xxh3_64(payload);
            // SAFETY: mapped, see above.
            unsafe { (*header).checksum = if sum == 0 { 1 } else { sum } };
        }
        unit += u64::from(length);
    }
    // What is cut off later shows. Units that never reached the file (disk full) make its length unknown; so do those
    // that other threads are about to take.
    if whole && file.lost_blocks() == 0 {
        file.word(offset_of!(FileHeader, sealed_length)).store(units * UNIT, Ordering::Relaxed);
    }
    // SAFETY: the header is mapped for the life of the process.
    let word = unsafe { AtomicU32::from_ptr(file.header().byte_add(offset_of!(FileHeader, state)).cast()) };
    word.store(state, Ordering::Release);
}

/// Whether the first bytes at an address can be read: a unit that another thread has taken but not mapped cannot.
fn is_mapped(at: *mut u8) -> bool {
    let mut copy = [0u8; 4];
    let local = libc::iovec { iov_base: copy.as_mut_ptr().cast(), iov_len: copy.len() };
    let remote = libc::iovec { iov_base: at.cast(), iov_len: copy.len() };
    // SAFETY: reads our own memory through the kernel, which answers EFAULT instead of sending a signal.
    unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) == copy.len() as isize }
}
