//! How many traces share a region, and what they have followed exactly.
//!
//! Distances are reported by region, all of its traces together. With 2 threads there are 2 traces in a region, with 16
//! there are 240; were each followed as if it were alone, the same work would have 120 times the samples, and a watched
//! element in each column of a matrix.

use crate::memory;
use core::sync::atomic::{AtomicU32, Ordering};

/// Regions with counts of their own; the traces of others are followed as if each were alone. 12 MiB of addresses.
const REGIONS: usize = 1 << 20;

/// Counts of each region: its traces, the usages that these have followed exactly, and how often their marks have held
/// up a thread. All threads count there.
const COUNTS: usize = 3;

/// Regions with traces that are followed as if they were alone; in programs with more, each has a share of what these
/// have together. A decoder of 195 regions spent a third of its time on their first usages and samples.
const FULL: u64 = 32;

/// So often before the traces of a region are sampled half as much: some 3 ms of CPU time.
const HELD_UP: u32 = 16;
/// So often that is done at most.
const MOST_DOUBLINGS: u32 = 3;

/// What the traces of each region have in common.
#[derive(Clone, Copy)]
pub struct Shares {
    counts: &'static [AtomicU32],
}

impl Shares {
    /// No traces. `None`: no memory.
    pub fn new() -> Option<Self> {
        // Behind those of the regions: how many regions have traces.
        Some(Self { counts: memory::counts(COUNTS * REGIONS + 1)? })
    }

    fn counts(&self, region: u32) -> Option<&[AtomicU32; COUNTS]> {
        self.counts.as_chunks().0.get(region as usize)
    }

    /// A trace of the region begins.
    pub fn enter(&self, region: u32) {
        if let Some([traces, ..]) = self.counts(region)
            // Relaxed: numbers, no more.
            && traces.fetch_add(1, Ordering::Relaxed) == 0
            && let Some(regions) = self.counts.last()
        {
            regions.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// So many usages more of a trace of the region were followed exactly. How many of all its traces there are.
    pub fn follow(&self, region: u32, usages: u32) -> u64 {
        // Relaxed: as above. If it ever wraps around, some traces are exact for longer than need be.
        self.counts(region)
            .map_or(0, |[_, exact, _]| (exact.fetch_add(usages, Ordering::Relaxed).wrapping_add(usages)).into())
    }

    /// What the region's traces divide by: half of their number, so that 2 of them are followed as one alone is.
    pub fn of(&self, region: u32) -> u64 {
        self.counts(region).map_or(1, |[traces, ..]| u64::from(traces.load(Ordering::Relaxed) / 2).max(1))
    }

    /// What all regions divide by.
    pub fn of_regions(&self) -> u64 {
        let regions = self.counts.last().map_or(0, |regions| regions.load(Ordering::Relaxed));
        (u64::from(regions) / FULL).max(1)
    }

    /// Elements that its traces wait for have held up a thread that does not wait for them.
    pub fn hold_up(&self, region: u32) {
        if let Some([.., held_up]) = self.counts(region) {
            // Relaxed: a number, no more. It goes no further than it is looked at.
            if held_up.load(Ordering::Relaxed) < HELD_UP * MOST_DOUBLINGS {
                held_up.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How often the period of the region's traces is doubled for that.
    pub fn doublings(&self, region: u32) -> u32 {
        self.counts(region).map_or(0, |[.., held_up]| held_up.load(Ordering::Relaxed) / HELD_UP).min(MOST_DOUBLINGS)
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
        assert_eq!(
            [(7, 32), (7, 32), (8, 5), (u32::MAX, 32)].map(|(region, n)| shares.follow(region, n)),
            [32, 64, 5, 0]
        );
    }

    #[test]
    fn many_regions_share_what_some_have() {
        let shares = Shares::new().unwrap();
        let mut regions = 0..;
        let mut after = |n: usize| {
            regions.by_ref().take(n).for_each(|region| (0..3).for_each(|_| shares.enter(region)));
            shares.of_regions()
        };
        assert_eq!([0, 32, 31, 1, 128].map(&mut after), [1, 1, 1, 2, 6]);
    }

    #[test]
    fn what_holds_others_up_is_sampled_less_and_less() {
        let shares = Shares::new().unwrap();
        let after = |n: u32| {
            (0..n).for_each(|_| shares.hold_up(7));
            shares.doublings(7)
        };
        assert_eq!([15, 1, 15, 1, 16, 100, 100].map(after), [0, 1, 1, 2, 3, 3, 3]);
        shares.hold_up(u32::MAX);
        assert_eq!((shares.doublings(8), shares.doublings(u32::MAX), shares.of(7)), (0, 0, 1));
    }
}
