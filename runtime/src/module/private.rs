//! How much memory each region touches that it shares with nobody: for the min cutoff (Mazaheri et al., section 3.3).
//!
//! A value that no other thread has read belongs to the region whose line wrote it last. Cells are looked at when their
//! memory dies and at the end of the process, one in 64: one in each 256 bytes (10 ms for a full signature of 256 MiB).
//! Which one differs from stride to stride, because rows of arrays are multiples of strides long: with the first of
//! each, LU had 256 private bytes instead of 123 000, as only every 32nd column was looked at. Each address counts
//! once, so that a block that is freed and allocated again in a loop is no larger than it is.

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
/// Where memory begins is a multiple of this, which differs from run to run.
const PAGE: u64 = 4096;
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
        for run in process.signature.directory.runs(address, bytes) {
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

    /// Those of some cells that stand for their strides. `address`: of the first one's granule.
    fn look_at(&self, process: &Process, address: u64, cells: &[AtomicU32]) {
        let end = address + cells.len() as u64 * GRANULE;
        for place in address / STRIDE..end.div_ceil(STRIDE) {
            let granule = place * STRIDE + sampled(place) * GRANULE;
            let cell = granule.checked_sub(address).and_then(|bytes| cells.get((bytes / GRANULE) as usize));
            let Some(state) = cell.map(|cell| cell.load(Ordering::Relaxed)) else { continue };
            if state != NONE && state & SHARED == 0 && self.is_new(place) {
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

/// Which granule of a stride is looked at: another one in each of a page's, evenly spread. The same in all pages, for
/// these lie elsewhere in each run, which is to find the same.
fn sampled(place: u64) -> u64 {
    place % (PAGE / STRIDE) * 37 % (STRIDE / GRANULE)
}

#[cfg(test)]
mod tests {
    use super::{PAGE, STRIDE, sampled};
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn no_element_of_rows_and_no_member_of_structures_is_looked_at_more_often() {
        let of_page: Vec<u64> = (0..PAGE / STRIDE).map(sampled).collect();
        for granules in [2, 4, 8, 16] {
            let mut looked = vec![0; granules];
            of_page.iter().for_each(|granule| looked[*granule as usize % granules] += 1);
            assert!(looked.iter().all(|n| *n == of_page.len() / granules), "{granules}: {looked:?}");
        }
        let mut sorted = of_page;
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|w| (1..=7).contains(&(w[1] - w[0]))) && sorted[0] < 7, "{sorted:?}");
    }
}
