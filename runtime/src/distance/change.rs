//! Whether the intervals of a trace are still of the kind that they were.
//!
//! The analysis turns the index distances of a record into distinct ones as if they had occurred in any order
//! (StatStack). A trace that changes (a first step over all data, then steps over the halo) is no such mixture:
//! n-body's distances of 7 984 in its first step, a tenth of all, became 4 610. So when intervals change, a new record
//! begins, and each is turned by itself.
//!
//! Batches of intervals are compared with all before them by the octaves that they fall into. A batch spans twice the
//! longest interval of the record: what alternates faster is a mixture to the windows that are looked at. By chance a
//! batch of one kind differs from the others in a tenth of its members (ten octaves alike), never in half of them.

/// Least intervals of a batch.
const BATCH: u32 = 128;
/// Least length of a batch in longest intervals.
const SPAN: u64 = 2;
/// Most intervals of a batch: counts are of 16 bits. If they do not span enough, they are taken as they are.
const MOST: u32 = 1 << 14;
/// Octaves; the last holds all beyond.
const OCTAVES: usize = 40;

/// How many intervals fell into each octave: of the batch that is being collected, and before. Zeroed memory is none.
#[derive(Clone, Copy)]
pub struct Intervals {
    noted: u32,
    /// Of this record; of the batch alone it would be short wherever short ones alternate with long ones.
    longest: u64,
    longest_in_batch: u64,
    /// The trace's clock when the batch began.
    since: u64,
    batch: [u16; OCTAVES],
    before: [u16; OCTAVES],
}

impl Intervals {
    /// None.
    pub const fn new() -> Self {
        Self { noted: 0, longest: 0, longest_in_batch: 0, since: 0, batch: [0; OCTAVES], before: [0; OCTAVES] }
    }

    /// Notes an interval that ended at `clock`. True if it completes a batch of another kind than those before, which
    /// later ones are compared with.
    pub fn note(&mut self, interval: u64, clock: u64) -> bool {
        if self.noted == 0 {
            (self.since, self.longest_in_batch) = (clock, 0);
        }
        let octave = (interval.max(1).ilog2() as usize).min(OCTAVES - 1);
        if let Some(count) = self.batch.get_mut(octave) {
            *count += 1;
        }
        self.noted += 1;
        self.longest_in_batch = self.longest_in_batch.max(interval);
        self.longest = self.longest.max(interval);
        let spans = clock.saturating_sub(self.since) >= SPAN.saturating_mul(self.longest);
        if self.noted < BATCH || !spans && self.noted < MOST {
            return false;
        }
        let (batch, new) = (self.batch, self.noted);
        (self.batch, self.noted) = ([0; OCTAVES], 0);
        let old = self.before.iter().map(|n| u32::from(*n)).sum::<u32>();
        // Shares of both, over one denominator: their differences add up to twice the part that is elsewhere.
        let differences = batch.iter().zip(&self.before).map(|(batch, before)| {
            let (batch, before) = (u64::from(*batch) * u64::from(old), u64::from(*before) * u64::from(new));
            batch.abs_diff(before)
        });
        if spans && old > 0 && differences.sum::<u64>() > u64::from(old) * u64::from(new) {
            (self.before, self.longest) = (batch, self.longest_in_batch);
            return true;
        }
        for (before, batch) in self.before.iter_mut().zip(batch) {
            // Halved in time: then later intervals count more, and there is room for a batch.
            *before = if old >= 2 * MOST { *before / 2 } else { *before } + batch;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Clocks at which intervals were found to be of another kind; one in `period` events is sampled.
    fn changes(period: u64, intervals: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut noted = Intervals::new();
        let clocks = (1..).map(|i| i * period);
        clocks
            .zip(intervals)
            .filter(|(clock, interval)| noted.note(*interval, *clock))
            .map(|(clock, _)| clock)
            .collect()
    }

    fn times(interval: u64, number: usize) -> impl Iterator<Item = u64> {
        std::iter::repeat_n(interval, number)
    }

    #[test]
    fn another_octave_is_another_kind_and_then_the_usual_one() {
        let two = times(8000, 1280).chain(times(3500, 1280)).chain(times(8000, 256));
        assert_eq!(changes(200, two), [200 * (1280 + 128), 200 * (2560 + 128)]);
        assert_eq!(changes(200, times(3500, 999).chain(times(2100, 999))), [0; 0], "of one octave");
        assert_eq!(changes(200, times(0, 384).chain(times(1, 384)).chain(times(u64::MAX, 128))), [0; 0]);
    }

    #[test]
    fn what_alternates_within_an_interval_is_a_mixture() {
        // 2 000 events of one kind, 2 000 of the other; the long intervals reach over 50 000.
        let alternating =
            |period: u64| (0..4_000_000 / period).map(move |i| [5, 50_000][(i * period / 2000 % 2) as usize]);
        for period in [2, 20, 200] {
            assert_eq!(changes(period, alternating(period)), [0; 0], "{period}");
        }
    }

    #[test]
    fn a_mixture_stays_one() {
        // Ten octaves alike, and two that are far apart, at random.
        let mut random = 0x2018_0813_1cbb_2018u64;
        let mut below = |bound: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) % bound
        };
        let many: Vec<u64> = (0..400_000).map(|_| 1 << below(10)).collect();
        let two: Vec<u64> = (0..400_000).map(|_| [5, 50_000][below(2) as usize]).collect();
        assert_eq!((changes(2000, many), changes(2000, two)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn after_many_of_one_kind_counts_stay_in_range() {
        let mut noted = Intervals::new();
        assert!((0..400_000).all(|clock| !noted.note(1 << 20, clock)), "never spanned");
        assert!(noted.before.iter().all(|n| u32::from(*n) <= 3 * MOST));
        let clocks = (1..=3000).map(|i| 400_000 + i * (1 << 15));
        assert_eq!(clocks.filter(|clock| noted.note(100, *clock)).count(), 1);
    }
}
