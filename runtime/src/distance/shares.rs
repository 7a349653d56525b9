//! How many traces share a region.
//!
//! Distances are reported by region, all of its traces together. With 2 threads there are 2 traces in a region, with 16
//! there are 240; were each followed as if it were alone, the same work would have 120 times the samples, and a watched
//! element in each column of a matrix.

use crate::memory;
use core::sync::atomic::{AtomicU32, Ordering};

/// Regions with a count of their own; the traces of others are followed as if each were alone. 4 MiB of addresses.
const REGIONS: usize = 1 << 20;

/// The number of traces of each region. They are counted by all threads, when a trace begins.
#[derive(Clone, Copy)]
pub struct Shares {
    counts: &'static [AtomicU32],
}

impl Shares {
    /// No traces. `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { counts: memory::counts(REGIONS)? })
    }

    fn count(&self, region: u32) -> Option<&AtomicU32> {
        self.counts.get(region as usize)
    }

    /// A trace of the region begins.
    pub fn enter(&self, region: u32) {
        if let Some(count) = self.count(region) {
            // Relaxed: a number, no more.
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What the region's traces divide by: half of their number, so that 2 of them are followed as one alone is.
    pub fn of(&self, region: u32) -> u64 {
        self.count(region).map_or(1, |count| u64::from(count.load(Ordering::Relaxed) / 2).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_traces_are_followed_as_one_alone_and_more_share() {
        let shares = Shares::new().unwrap();
        let after = |n: u32| {
            (0..n).for_each(|_| shares.enter(7));
            shares.of(7)
        };
        assert_eq!([0, 1, 1, 2, 236].map(after), [1, 1, 1, 2, 120]);
        assert_eq!((shares.of(8), shares.of(u32::MAX)), (1, 1));
        shares.enter(u32::MAX);
        assert_eq!(shares.of(u32::MAX), 1);
    }
}
