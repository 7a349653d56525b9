//! Distinct distances from index distances: the StatStack transform.
//!
//! Source: Eklov, Hagersten, "StatStack: Efficient Modeling of LRU Caches", ISPASS 2010 (expected stack distance).
//!
//! Between two usages of an element that are `d` positions apart lie `d - 1` usages of others. One that is `i`
//! positions before the end is the last of its element there if its own next usage is more than `i` positions on. If
//! `F` is the length of an interval taken at random, the expected number of distinct elements is
//!
//! ```text
//! E(d) = P(F > 1) + P(F > 2) + ... + P(F > d - 1)
//! ```
//!
//! An element that is never used again has an interval without end: it is in P for all `i`.
//!
//! The histogram gives P bucket by bucket, falling linearly inside a bucket, so E is a sum of arithmetic series: one
//! step per bucket. E never falls, hence a bucket's distances go to the range from E(first) to E(last).
//!
//! That takes the trace for one mixture. Where two arrays are used in turns, or all data first and then a halo, windows
//! of one kind meet more or fewer repetitions than the average window: in a product of matrices half of the distances
//! lay from 25 000 to 67 000 instead of at 52 000. So the runtime looks inside of sampled intervals: of the samples
//! that began there, which are still waiting for their element when the interval ends? Each of those is an element that
//! was not used again inside, which is the sum above, term by term, for this window instead of an average one. The
//! share of them, `open / begun`, over all intervals of a length is the mean of `E(d) / (d - 1)` there; the sums above
//! give its shape among those lengths ([`Looks`]).
//!
//! Error: the expected value stands for all intervals of one length, so spread around it is lost. On traces with few
//! elements that are used at random this moves single quantiles by one element; with regular access the transform is
//! exact up to the buckets' width (see `tests/statstack.rs`).

use threadtalk_profile::Histogram;
use threadtalk_profile::buckets::{length, lower_bound};
use threadtalk_profile::layout::LENGTHS;

use super::inside::{Looks, Repetition};
use super::mass::Mass;

/// Distances of a bucket: index distances `first..end` and what is expected of the first and the last.
struct Step {
    first: u64,
    end: u64,
    expected: (f64, f64),
    mass: f64,
}

/// Adds to `out` the estimated distinct distances of intervals with these index distances. `endless`: intervals whose
/// element was never used again, counted as those of the histogram are.
pub fn transform(index: &Histogram, endless: f64, inside: &Looks, out: &mut Mass) {
    let steps = steps(index, endless, out);
    // Expected distances and lengths of each class.
    let mut sums = [(0.0, 0.0); LENGTHS];
    for step in &steps {
        let (expected, lengths) = &mut sums[step.class()];
        *expected += step.mass * (step.expected.0 + step.expected.1) / 2.0;
        *lengths += step.mass * ((step.first - 1) as f64 + (step.end - 2) as f64) / 2.0;
    }
    for step in steps {
        let (expected, lengths) = sums[step.class()];
        let repetition =
            if lengths > 0.0 { inside.repetition(step.class(), expected / lengths) } else { Repetition::NONE };
        // Inside of a bucket as in a mixture: intervals of one length are spread over it, and those that are longer by
        // that meet others of their kind twice.
        let (expected, last) = step.expected;
        let first = repetition.distinct(expected, (step.first - 1) as f64);
        let slope = if expected > 0.0 { first / expected } else { 1.0 };
        let last = (first + (last - expected) * slope).min((step.end - 2) as f64);
        out.add_range(first.round() as u64, last.round().max(first.round()) as u64, step.mass);
    }
}

impl Step {
    fn class(&self) -> usize {
        length(self.first)
    }
}

/// The buckets of a histogram with the expected distinct distances of their first and last index distance. Intervals
/// that cannot be go to `out`.
fn steps(index: &Histogram, endless: f64, out: &mut Mass) -> Vec<Step> {
    let finite: f64 = index.buckets().iter().map(|(_, count)| *count as f64).sum();
    let all = finite + endless;
    let mut steps = Vec::with_capacity(index.buckets().len());
    if finite <= 0.0 {
        return steps;
    }
    // E up to `at`, and the mass of intervals not shorter than `at`.
    let (mut at, mut expected, mut tail) = (1u64, 0.0f64, all);
    for (bucket, count) in index.buckets() {
        let mass = *count as f64;
        let first = lower_bound(usize::from(*bucket));
        if first == 0 {
            // No two usages have the same position; only a damaged file says so.
            out.add_range(0, 0, mass);
            tail -= mass;
            continue;
        }
        let end = lower_bound(usize::from(*bucket) + 1);
        let width = (end - first) as f64;
        expected += (first - at) as f64 * tail / all;
        tail -= mass;
        // Sum of P(F > i) for the first n distances i of the bucket: n terms of an arithmetic series.
        let partial = |n: f64| (n * tail + mass * n * (width - 1.0 - (n - 1.0) / 2.0) / width) / all;
        let last = expected + partial(width - 1.0);
        steps.push(Step { first, end, expected: (expected, last.max(expected)), mass });
        expected += partial(width);
        at = end;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::inside::Inside;
    use super::*;
    use threadtalk_profile::Trace;

    fn quantities(index: &[u64], endless: f64) -> Vec<(u64, f64)> {
        let mut out = Mass::default();
        transform(
            &Histogram::of(index.iter().copied()),
            endless,
            &Looks::new(&Trace::default(), &Inside::default()),
            &mut out,
        );
        out.buckets().map(|b| (b.lo, b.count)).collect()
    }

    #[test]
    fn one_element_is_used_at_once() {
        assert_eq!(quantities(&[1; 9], 1.0), [(0, 9.0)]);
    }

    #[test]
    fn a_sweep_sees_all_others() {
        // Ten elements in turn: each interval is 10 long and meets the 9 others.
        assert_eq!(quantities(&[10; 90], 10.0), [(9, 90.0)]);
    }

    #[test]
    fn intervals_that_cannot_be_are_taken_for_the_shortest() {
        assert_eq!(quantities(&[0, 1, 10, 10], 0.0), [(0, 2.0), (5, 2.0)]);
    }

    #[test]
    fn without_intervals_there_is_no_distance() {
        assert_eq!(quantities(&[], 5.0), []);
    }

    #[test]
    fn the_series_is_the_sum_term_by_term() {
        // All mass in one bucket of width 8, 128 to 135, and some without end.
        let (mass, endless) = (16.0, 4.0);
        let mut out = Mass::default();
        transform(&Histogram::of([128; 16]), endless, &Looks::new(&Trace::default(), &Inside::default()), &mut out);
        let beyond = |i: u64| (endless + mass * (135 - i.clamp(127, 135)) as f64 / 8.0) / (mass + endless);
        let expected = |d: u64| (1..d).map(beyond).sum::<f64>();
        let mut terms = Mass::default();
        terms.add_range(expected(128).round() as u64, expected(135).round() as u64, mass);
        assert_eq!(out, terms);
    }
}
