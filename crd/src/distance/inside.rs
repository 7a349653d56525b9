//! What the runtime found inside of sampled intervals, by their length ([`super::statstack`] has the meaning).

use threadtalk_profile::layout::LENGTHS;
use threadtalk_profile::{Histogram, Trace};

/// Samples that began inside of intervals of each length, and those of them that were still open at the end.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    shares: [Share; LENGTHS],
    /// Sampled intervals. A sample is inside of many, so that there are no more independent ones than this.
    samples: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// What they stand for.
    begun: f64,
    open: f64,
    /// How many began.
    known: f64,
}

/// So many samples inside count as much as what is taken for true without them: below that, chance is the larger error.
const TRUSTED: f64 = 32.0;
/// Standard errors of 95 %.
const SURE: f64 = 1.96;

impl Inside {
    /// Of a trace.
    pub fn of(trace: &Trace) -> Self {
        let weight = trace.sampled.count() as f64 / trace.samples.max(1) as f64;
        // What one sample inside of one interval adds, in the mean.
        let one = weight * weight;
        let mut inside = Self { samples: trace.samples as f64, ..Self::default() };
        let mut fill = |counts: &Histogram, of: fn(&mut Share) -> &mut f64| {
            for (length, count) in counts.buckets() {
                *of(&mut inside.shares[usize::from(*length).min(LENGTHS - 1)]) += *count as f64;
            }
        };
        fill(&trace.begun, |share| &mut share.begun);
        fill(&trace.open, |share| &mut share.open);
        if one > 0.0 {
            inside.shares.iter_mut().for_each(|share| share.known = share.begun / one);
        }
        inside
    }

    /// Adds what was found in another trace.
    pub fn add(&mut self, other: &Self) {
        for (own, other) in self.shares.iter_mut().zip(&other.shares) {
            own.begun += other.begun;
            own.open += other.open;
            own.known += other.known;
        }
        self.samples += other.samples;
    }

    /// The share of distinct elements in intervals of a length, taken for `before` without what was found; its standard
    /// error, of the part that was found.
    fn share(&self, length: usize, before: f64) -> (f64, f64) {
        let Share { begun, open, known } = self.shares[length];
        let number = known + TRUSTED;
        // Weights that make up for others may find more open than began.
        let found = if known > 0.0 { (open / begun).min(1.0) } else { 0.0 };
        let share = (found * known + before * TRUSTED) / number;
        let error = known / number * (share * (1.0 - share) / known.min(self.samples).max(1.0)).sqrt();
        (share, error)
    }
}

/// What is known of the insides of a trace's intervals: what its own samples found, and where these are few, those of
/// all traces of its region, which read the same in the same loops. Each of 240 traces by itself knows little.
#[derive(Clone, Debug)]
pub struct Looks<'a> {
    trace: Inside,
    region: &'a Inside,
    /// How many standard errors the shares are off.
    shift: f64,
}

impl<'a> Looks<'a> {
    /// Of a trace and its region.
    pub fn new(trace: &Trace, region: &'a Inside) -> Self {
        Self { trace: Inside::of(trace), region, shift: 0.0 }
    }

    /// The least and the largest shares that chance may have hidden, with 95 % confidence at each length. Where nothing
    /// was found there is nothing to be unsure about but the mixture, whose error nobody knows.
    pub fn bounds(&self) -> [Self; 2] {
        [-SURE, SURE].map(|shift| Self { shift, ..self.clone() })
    }

    /// How intervals of a length repeat elements, where a mixture would have `expected` distinct ones of all.
    pub fn repetition(&self, length: usize, expected: f64) -> Repetition {
        let (region, of_region) = self.region.share(length, expected);
        let (share, of_trace) = self.trace.share(length, region);
        // What is taken from the region is as unsure as that is.
        let taken = TRUSTED / (self.trace.shares[length].known + TRUSTED);
        let error = of_trace + taken * of_region;
        Repetition::new(expected, (share + self.shift * error).clamp(0.0, 1.0))
    }
}

/// From what a mixture lets expect to what was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repetition {
    /// Fewer distinct elements: so much of those expected.
    More(f64),
    /// More distinct elements: so much of the expected repetitions. No interval has more elements than usages.
    Less(f64),
}

impl Repetition {
    /// As expected.
    pub const NONE: Self = Self::More(1.0);

    fn new(expected: f64, found: f64) -> Self {
        match found < expected {
            true => Self::More(found / expected),
            false if expected < 1.0 => Self::Less((1.0 - found) / (1.0 - expected)),
            false => Self::NONE,
        }
    }

    /// Distinct elements of `usages` that a mixture would have `expected` of.
    pub fn distinct(self, expected: f64, usages: f64) -> f64 {
        match self {
            Self::More(factor) => expected * factor,
            Self::Less(factor) => usages - (usages - expected) * factor,
        }
        .clamp(0.0, usages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace whose intervals stand for ten events each.
    fn trace(begun: u64, open: u64) -> Trace {
        let class = |count| Histogram::of_buckets([(3, count * 100)]);
        let sampled = Histogram::of_buckets([(80, 10_000)]);
        Trace { samples: 1000, sampled, begun: class(begun), open: class(open), ..Trace::default() }
    }

    #[test]
    fn what_was_found_counts_by_how_much_it_is() {
        let nothing = Inside::default();
        let of = |begun, open| Looks::new(&trace(begun, open), &nothing).repetition(3, 0.5);
        assert_eq!(of(0, 0), Repetition::Less(1.0));
        assert_eq!(of(32, 8), Repetition::More(0.75));
        assert_eq!(of(32, 24), Repetition::Less(0.75));
        let Repetition::Less(much) = of(1_000_000, 2_000_000) else { panic!("more than all") };
        assert!(much < 1e-4, "{much}");
        let other_length = Looks::new(&trace(32, 8), &nothing).repetition(4, 0.5);
        assert_eq!(other_length, Repetition::Less(1.0), "another length");
    }

    #[test]
    fn a_trace_of_few_samples_is_taken_to_be_as_its_region() {
        let mut region = Inside::default();
        (0..1000).for_each(|_| region.add(&Inside::of(&trace(96, 24))));
        let of = |begun, open| match Looks::new(&trace(begun, open), &region).repetition(3, 0.5) {
            Repetition::More(share) => share * 0.5,
            Repetition::Less(rest) => 1.0 - rest * 0.5,
        };
        assert!((of(0, 0) - 0.25).abs() < 1e-3, "as the region, not as the mixture: {}", of(0, 0));
        assert!((of(32, 32) - 0.625).abs() < 1e-3, "half of each");
        assert!((of(32_000, 16_000) - 0.5).abs() < 1e-3, "what it knows itself counts most");
    }

    #[test]
    fn no_interval_has_more_elements_than_usages() {
        assert_eq!(Repetition::new(0.5, 1.0).distinct(60.0, 100.0), 100.0);
        assert_eq!(Repetition::new(0.5, 0.75).distinct(40.0, 100.0), 70.0);
        assert_eq!(Repetition::new(0.5, 0.25).distinct(40.0, 100.0), 20.0);
        assert_eq!(Repetition::new(1.0, 1.0).distinct(100.0, 100.0), 100.0);
        assert_eq!(Repetition::new(0.0, 0.0).distinct(0.0, 0.0), 0.0);
    }

    #[test]
    fn chance_is_larger_where_less_of_it_was_found() {
        let between = |begun: u64| {
            let nothing = Inside::default();
            let [low, high] = Looks::new(&trace(begun, begun / 2), &nothing).bounds();
            high.repetition(3, 0.5).distinct(500.0, 1000.0) - low.repetition(3, 0.5).distinct(500.0, 1000.0)
        };
        assert_eq!(between(0), 0.0);
        let of =
            |known: f64, independent: f64| 2.0 * 1.96 * 1000.0 * known / (known + 32.0) * (0.25 / independent).sqrt();
        for (begun, independent) in [(32, 32.0), (100, 100.0), (1 << 20, 1000.0)] {
            assert!((between(begun) - of(begun as f64, independent)).abs() < 1e-9, "{begun}");
        }
    }
}
