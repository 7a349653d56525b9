//! Which parts of the address space have cells.

use crate::memory;
use crate::process::Process;
use threadtalk_abi::{CHUNK_BYTES, DIRECTORY_ENTRIES};

/// Entries of the directory in a page of memory.
const ENTRIES_PER_PAGE: u64 = 4096 / 8;
/// Pages of the directory.
const PAGES: usize = (DIRECTORY_ENTRIES / ENTRIES_PER_PAGE) as usize;

/// Which pages of the directory were ever touched: it is 16 GiB long and nearly empty, and one question to the kernel
/// answers for all of it.
pub struct Residency {
    pages: *const u64,
}

impl Residency {
    /// Asks the kernel.
    pub fn of(process: &Process) -> Option<Self> {
        let directory = process.signature.directory.base().cast::<u8>();
        let answer = memory::reserve(PAGES)?;
        // SAFETY: the directory's own mapping, and one byte of answer for each of its pages.
        let failed = unsafe { libc::mincore(directory.cast_mut().cast(), PAGES * 4096, answer.as_ptr()) };
        (failed == 0).then_some(Self { pages: answer.as_ptr().cast() })
    }

    /// Ranges (address, bytes) that may have cells, 32 MiB each.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let bytes = ENTRIES_PER_PAGE * CHUNK_BYTES;
        (0..PAGES / 8)
            // SAFETY: below the length of the answer.
            .map(|word| (word, unsafe { *self.pages.add(word) }))
            .filter(|(_, eight)| *eight != 0)
            .flat_map(|(word, eight)| {
                (0..8).filter(move |i| eight >> (i * 8) & 1 != 0).map(move |i| word as u64 * 8 + i)
            })
            .map(move |page| (page * bytes, bytes))
    }
}
