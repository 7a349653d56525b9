//! How much memory each region touches that it shares with nobody: for the min cutoff (Mazaheri et al., section 3.3).
//!
//! A value that no other thread has read belongs to the region whose line wrote it last. Cells are looked at when their
//! memory dies and at the end of the process, one in 64: those of granules at multiples of 256 bytes (10 ms for a full
//! signature of 256 MiB). Each address counts once, so that a block that is freed and allocated again in a loop is no
//! larger than it is.

use crate::memory;
use crate::process::Process;
use crate::tally::Tally;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_profile::layout::{PrivateRecord, block};
use threadtalk_sigmem::{FreshId, Run};

/// Bytes of memory from one cell looked at to the next.
const STRIDE: u64 = 64 * GRANULE;
/// Addresses are remembered modulo 2^26 strides: 16 GiB, in 8 MiB of bits.
const SEEN_BITS: u64 = 1 << 26;
/// Sums by (region, writing thread), for all threads.
pub struct PrivateSums {
    /// By `region << 32 | writer`: cells.
    sums: Tally<1>,
    seen: *const AtomicU64,
}

// SAFETY: the bits live for ever and consist of atomics.
unsafe impl Sync for PrivateSums {}

impl PrivateSums {
    /// An empty table.
    pub fn new() -> Option<Self> {
        let seen = memory::reserve((SEEN_BITS / 8) as usize)?.as_ptr().cast_const().cast();
        Some(Self { sums: Tally::new()?, seen })
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

    /// The process ends, and all cells were looked at: writes the sums into the profile.
    pub fn finish(&self, process: &Process) {
        self.sums.write(process, block::PRIVATE, |key, [cells]| PrivateRecord {
            region: (key >> 32) as u32,
            writer: key as u32,
            bytes: cells * STRIDE,
        });
    }

    /// Every 64th of some cells, from the first on, which is that of `address`.
    fn look_at(&self, process: &Process, address: u64, cells: &[AtomicU32]) {
        for (cell, i) in cells.iter().step_by((STRIDE / GRANULE) as usize).zip(0..) {
            let state = cell.load(Ordering::Relaxed);
            if state != NONE && state & SHARED == 0 && self.is_new(address / STRIDE + i) {
                let written = FreshId(state);
                let site = written.site(process.site_bits);
                let region = if site < process.lineless_sites { process.sites.region(site) } else { 0 };
                self.sums.add(u64::from(region) << 32 | u64::from(written.thread(process.site_bits)), 0, 1);
            }
        }
    }

    fn is_new(&self, place: u64) -> bool {
        let bit = place % SEEN_BITS;
        // SAFETY: below the number of bits.
        let word = unsafe { &*self.seen.add((bit / 64) as usize) };
        word.fetch_or(1 << (bit % 64), Ordering::Relaxed) >> (bit % 64) & 1 == 0
    }
}
