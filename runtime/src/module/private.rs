//! How much memory each region touches that it shares with nobody: for the min cutoff (Mazaheri et al., section 3.3).
//!
//! A value that no other thread has read belongs to the region whose line wrote it last. Cells are looked at when their memory dies and
//! at the end of the process, one in 64: those of granules at multiples of 256 bytes (10 ms for a full signature of 256 MiB). Each address counts
//! once, so that a block that is freed and allocated again in a loop is no larger than it is.

use crate::memory;
use crate::process::Process;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_abi::{CHUNK_BYTES, DIRECTORY_ENTRIES, GRANULE};
use threadtalk_profile::layout::{PrivateRecord, block};
use threadtalk_sigmem::{FreshId, Run};

/// Bytes of memory from one cell looked at to the next.
const STRIDE: u64 = 64 * GRANULE;
/// Addresses are remembered modulo 2^26 strides: 16 GiB, in 8 MiB of bits.
const SEEN_BITS: u64 = 1 << 26;
/// Most pairs of (region, thread) in the table: 1 MiB of addresses.
const MOST: usize = 1 << 16;

/// One pair and the cells found for it. Zeroed memory is a free one.
#[repr(C)]
struct Sum {
    /// `region << 32 | writer`, plus 1; 0 = free. Set once.
    key: AtomicU64,
    cells: AtomicU64,
}

/// Sums by (region, writing thread), for all threads.
pub struct PrivateSums {
    sums: *const Sum,
    seen: *const AtomicU64,
}

// SAFETY: the table lives for ever and consists of atomics.
unsafe impl Sync for PrivateSums {}

impl PrivateSums {
    /// An empty table.
    pub fn new() -> Option<Self> {
        let sums = memory::reserve(MOST * size_of::<Sum>())?.as_ptr().cast_const().cast();
        let seen = memory::reserve((SEEN_BITS / 8) as usize)?.as_ptr().cast_const().cast();
        Some(Self { sums, seen })
    }

    /// The elements of a range are about to die.
    pub fn range_dies(&self, process: &Process, address: u64, bytes: u64) {
        let first = address.next_multiple_of(STRIDE);
        let Some(bytes) = address.saturating_add(bytes).checked_sub(first).filter(|b| *b > 0) else { return };
        for run in process.signature.directory.runs(first, bytes) {
            if let Run::Mapped { address, cells } = run {
                self.look_at(process, address, cells);
            }
        }
    }

    /// The process ends: looks at all cells and writes the sums into the profile.
    pub fn finish(&self, process: &Process) {
        let Some(residency) = Residency::of(process.signature.directory.base().cast()) else { return };
        for page in residency.pages() {
            let (first, bytes) = (page * ENTRIES_PER_PAGE * CHUNK_BYTES, ENTRIES_PER_PAGE * CHUNK_BYTES);
            self.range_dies(process, first, bytes);
        }
        self.write(process);
    }

    /// Every 64th of some cells, from the first on, which is that of `address`.
    fn look_at(&self, process: &Process, address: u64, cells: &[AtomicU32]) {
        for (cell, i) in cells.iter().step_by((STRIDE / GRANULE) as usize).zip(0..) {
            let state = cell.load(Ordering::Relaxed);
            if state != NONE && state & SHARED == 0 && self.is_new(address / STRIDE + i) {
                let written = FreshId(state);
                let site = written.site(process.site_bits);
                let region = if site < process.lineless_sites { process.sites.region(site) } else { 0 };
                self.add(region, written.thread(process.site_bits));
            }
        }
    }

    fn is_new(&self, place: u64) -> bool {
        let bit = place % SEEN_BITS;
        // SAFETY: below the number of bits.
        let word = unsafe { &*self.seen.add((bit / 64) as usize) };
        word.fetch_or(1 << (bit % 64), Ordering::Relaxed) >> (bit % 64) & 1 == 0
    }

    fn add(&self, region: u32, writer: u32) {
        let key = (u64::from(region) << 32 | u64::from(writer)) + 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % MOST;
        for _ in 0..MOST {
            // SAFETY: below the table's length.
            let sum = unsafe { &*self.sums.add(at) };
            // Relaxed: the key is all that is published, and the counter adds up whoever adds.
            match sum.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {}
                Err(held) if held == key => {}
                Err(_) => {
                    at = (at + 1) % MOST;
                    continue;
                }
            }
            sum.cells.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }

    fn write(&self, process: &Process) {
        let sums = (0..MOST)
            // SAFETY: below the table's length.
            .map(|i| unsafe { &*self.sums.add(i) })
            .map(|sum| (sum.key.load(Ordering::Relaxed), sum.cells.load(Ordering::Relaxed)))
            .filter(|(key, _)| *key != 0);
        let used = sums.clone().count();
        if used == 0 {
            return;
        }
        let length = used * size_of::<PrivateRecord>();
        let Some(target) = process.file.allocate(length as u64) else { return };
        for (i, (key, cells)) in sums.take(used).enumerate() {
            let (region, writer) = (((key - 1) >> 32) as u32, (key - 1) as u32);
            // SAFETY: i < used, for which the block has room.
            unsafe {
                let place = target.payload().cast::<PrivateRecord>().add(i);
                place.write(PrivateRecord { region, writer, bytes: cells * STRIDE });
            }
        }
        target.publish(block::PRIVATE, size_of::<PrivateRecord>(), length as u64);
    }
}

/// Entries of the directory in a page of memory.
const ENTRIES_PER_PAGE: u64 = 4096 / 8;
/// Pages of the directory.
const PAGES: usize = (DIRECTORY_ENTRIES / ENTRIES_PER_PAGE) as usize;

/// Which pages of the directory were ever touched: it is 16 GiB long and nearly empty, and one question to the kernel
/// answers for all of it.
struct Residency {
    pages: *const u64,
}

impl Residency {
    fn of(directory: *const u8) -> Option<Self> {
        let answer = memory::reserve(PAGES)?;
        // SAFETY: the directory's own mapping, and one byte of answer for each of its pages.
        let failed = unsafe { libc::mincore(directory.cast_mut().cast(), PAGES * 4096, answer.as_ptr()) };
        (failed == 0).then_some(Self { pages: answer.as_ptr().cast() })
    }

    fn pages(&self) -> impl Iterator<Item = u64> + '_ {
        (0..PAGES / 8)
            // SAFETY: below the length of the answer.
            .map(|word| (word, unsafe { *self.pages.add(word) }))
            .filter(|(_, eight)| *eight != 0)
            .flat_map(|(word, eight)| {
                (0..8).filter(move |i| eight >> (i * 8) & 1 != 0).map(move |i| word as u64 * 8 + i)
            })
    }
}
