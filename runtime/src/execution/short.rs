//! Regions that are too short to be timed.
//!
//! Regions that were entered 8 192 times and take less than a microsecond each are not timed from then on: their time
//! is their caller's, and their visits stop. What a visit takes is CPU time, unless the region waits: where 16 threads
//! share two processors, a visit of 0.3 microseconds takes three on the clock. Each thread judges for itself, as what
//! is short for one of them may be all the work of another, but the visits that this takes are divided by the threads
//! alive, and where one has found a region short 256 are enough for the others.

use core::sync::atomic::{AtomicU32, Ordering};

/// Regions are looked at after so many visits of all threads together, if all visit them as often.
const MANY: u64 = 1 << 13;
/// Visits of one thread between two looks, and before the first one at what another thread has found short.
const FEW: u64 = 1 << 8;
/// A region waits if it begins or ends a wait in one of so many visits at least: then its time is that on the clock.
const WAITS: u64 = 16;
/// Mean time below which a region is not timed any more.
const TINY_NS: u64 = 1_000;
/// Bits for regions that some thread has found short, by the lowest bits of their numbers: what falls together with
/// a short one is only looked at sooner.
const SHORT: usize = 1 << 13;

/// Which regions some thread has found short.
pub(super) struct Short([AtomicU32; SHORT / 32]);

impl Short {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; SHORT / 32])
    }

    fn word(&self, region: u32) -> Option<&AtomicU32> {
        self.0.get(region as usize % SHORT / 32)
    }

    /// Relaxed, in both: a hint, which no other data hang on.
    fn is_short(&self, region: u32) -> bool {
        self.word(region).is_some_and(|word| word.load(Ordering::Relaxed) >> (region % 32) & 1 != 0)
    }

    pub(super) fn found_short(&self, region: u32) {
        if let Some(word) = self.word(region) {
            word.fetch_or(1 << (region % 32), Ordering::Relaxed);
        }
    }

    /// Whether to look at a region that a thread has entered so often, of so many threads alive.
    pub(super) fn is_due(&self, region: u32, visits: u64, threads: u64) -> bool {
        visits >= MANY / threads.max(1) || self.is_short(region)
    }
}

/// Whether a thread asks after this visit.
pub(super) fn is_asked(visits: u64) -> bool {
    visits > 0 && visits.is_multiple_of(FEW)
}

/// Whether a visit takes next to no time: what `visits` took together, on the clock and of a processor, with so many
/// begins and ends of waits in them.
pub(super) fn is_tiny((visits, waits): (u64, u64), wall_ns: u64, cpu_ns: u64) -> bool {
    let ns = if waits.saturating_mul(WAITS) < visits { cpu_ns } else { wall_ns };
    ns / visits.max(1) < TINY_NS
}

#[cfg(test)]
mod tests {
    use super::{Short, is_tiny};

    /// Visits of 0.3 microseconds, while seven other threads have the processor for as long.
    #[test]
    fn what_waits_for_a_processor_is_short_and_what_waits_for_others_is_not() {
        assert!(is_tiny((1000, 0), 2_400_000, 300_000));
        assert!(is_tiny((1000, 62), 2_400_000, 300_000));
        assert!(!is_tiny((1000, 63), 2_400_000, 300_000), "one visit in 32 waits");
        assert!(!is_tiny((1000, 0), 2_400_000, 1_000_000), "a microsecond each");
        assert!(is_tiny((1000, 2000), 999_000, 300_000), "waits that take no time");
    }

    #[test]
    fn regions_that_are_short_are_known_to_all() {
        let short = Short::new();
        short.found_short(5);
        short.found_short(u32::MAX);
        assert!(short.is_short(5) && short.is_short(u32::MAX) && !short.is_short(4) && !short.is_short(37));
        assert!(short.is_due(5, 256, 1) && !short.is_due(4, 256, 1));
        assert!(short.is_due(4, 512, 16) && !short.is_due(4, 511, 16));
    }
}
