//! Which parts of the address space have cells.

use crate::memory;
use crate::process::Process;
use threadtalk_abi::{CHUNK_BYTES, DIRECTORY_ENTRIES};

/// Entries of the directory in a page of memory.
const ENTRIES_PER_PAGE: u64 = 4096 / 8;
/// Pages of the directory.
const PAGES: usize = (DIRECTORY_ENTRIES / ENTRIES_PER_PAGE) as usize;
/// Pages that one question is about: the kernel answers with a byte for each, into memory that costs a fault for each
/// 4096 of them. All at once took 1024 faults, 1 ms.
const ASKED: usize = PAGES / 16;

/// Calls `act` with the ranges (address, bytes) that may have cells, 32 MiB each. The directory is 16 GiB long and
/// nearly empty; the kernel knows which of its pages were ever touched.
pub fn ranges(process: &Process, mut act: impl FnMut(u64, u64)) {
    // A program without instrumented accesses to memory has none.
    if process.signature.pool.chunks() == 0 {
        return;
    }
    let directory = process.signature.directory.base().cast::<u8>().cast_mut();
    let Some(answer) = memory::reserve(ASKED) else { return };
    let bytes = ENTRIES_PER_PAGE * CHUNK_BYTES;
    for piece in 0..PAGES / ASKED {
        // SAFETY: a part of the directory's own mapping, and one byte of answer for each of its pages.
        let failed =
            unsafe { libc::mincore(directory.add(piece * ASKED * 4096).cast(), ASKED * 4096, answer.as_ptr()) };
        if failed != 0 {
            break;
        }
        for word in 0..ASKED / 8 {
            // SAFETY: below the length of the answer, which is aligned to a page.
            let eight = unsafe { *answer.as_ptr().cast::<u64>().add(word) };
            for i in (0..8).filter(|i| eight != 0 && eight >> (i * 8) & 1 != 0) {
                act(((piece * ASKED + word * 8) as u64 + i) * bytes, bytes);
            }
        }
    }
    // SAFETY: reserved above, and nobody else knows of it.
    unsafe { memory::release(answer, ASKED) };
}
