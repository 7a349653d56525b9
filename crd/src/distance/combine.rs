//! The traces of a region's pairs of threads taken together.
//!
//! A trace begins with an exact phase, in which the runtime finds distinct and index distances of every usage. When the
//! trace has too many elements for that, it goes on with sampled index distances, weighted by the usages that each
//! stands for. Those become distinct distances by [`super::statstack`], trace by trace, since the transform
//! is about one sequence.

use threadtalk_profile::Trace;

use super::confidence::Confidence;
use super::cutoff::cutoff;
use super::inside::{Inside, Looks};
use super::mass::Mass;
use super::quantile::describe;
use super::statstack;
use crate::machine::Cache;
use crate::model::{Crd, Method, Reading};
use crate::participants::ByThread;

/// Sum of the traces of any number of pairs and regions.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    distinct: Mass,
    index: Mass,
    has_exact: bool,
    has_sampled: bool,
    /// Usages that were followed.
    followed: u64,
    /// Those of them that were followed exactly.
    exact: u64,
    abandoned: u64,
    confidence: Confidence,
    /// Distinct distances that come from looks inside of sampled intervals, and the shortest and longest that they may
    /// be by chance.
    estimated: [Mass; 3],
}

impl Traces {
    /// Adds a trace. `region`: what was found inside of the intervals of all traces of its region.
    pub fn add_trace(&mut self, trace: &Trace, region: &Inside) {
        self.distinct.add_histogram(&trace.distinct);
        self.index.add_histogram(&trace.index);
        self.index.add_histogram(&trace.sampled);
        if trace.samples > 0 && !trace.sampled.is_empty() {
            let weight = trace.sampled.count() as f64 / trace.samples as f64;
            let endless = trace.abandoned as f64 * weight;
            let inside = Looks::new(trace, region);
            statstack::transform(&trace.sampled, endless, &inside, &mut self.distinct);
            if trace.makes_up {
                let [low, high] = inside.bounds();
                for (inside, out) in [inside, low, high].iter().zip(&mut self.estimated) {
                    statstack::transform(&trace.sampled, endless, inside, out);
                }
            }
        }
        let samples = trace.samples.saturating_add(trace.abandoned);
        let usages = trace.sampled.count() as f64;
        match trace.makes_up {
            true => self.confidence.add_weighted(trace.samples, usages, trace.abandoned),
            false => self.confidence.add_samples(trace.samples, usages, trace.abandoned),
        }
        self.exact = self.exact.saturating_add(trace.exact_usages);
        self.has_exact |= trace.exact_usages > 0;
        self.has_sampled |= samples > 0;
        self.followed = self.followed.saturating_add(trace.exact_usages).saturating_add(samples);
        self.abandoned = self.abandoned.saturating_add(trace.abandoned);
    }

    /// Adds the traces of a region inside.
    pub fn add(&mut self, other: &Self) {
        self.distinct.add(&other.distinct);
        self.index.add(&other.index);
        self.exact = self.exact.saturating_add(other.exact);
        self.has_exact |= other.has_exact;
        self.has_sampled |= other.has_sampled;
        self.followed = self.followed.saturating_add(other.followed);
        self.abandoned = self.abandoned.saturating_add(other.abandoned);
        self.confidence.add(other.confidence);
        self.estimated.iter_mut().zip(&other.estimated).for_each(|(own, other)| own.add(other));
    }

    /// What sampling, and the transform of what was sampled, may have moved past a quantile.
    fn rank_error(&self) -> f64 {
        let (count, [found, low, high]) = (self.distinct.count(), &self.estimated);
        let moved = found.moved_to(high).max(low.moved_to(found));
        let transform = if count > 0.0 { moved / count } else { 0.0 };
        (self.confidence.rank_error(count) + transform).min(1.0)
    }

    /// The result. `usages`: RaW and RaR events of the pairs.
    pub fn describe(&self, usages: u64, granule: u32, caches: &[Cache], private: &ByThread) -> Crd {
        // Whatever the samples are worth, what was followed exactly is known.
        let unknown = usages.saturating_sub(self.exact) as f64 / usages.max(1) as f64;
        Crd {
            distinct: describe(Reading::Distinct, &self.distinct, granule),
            index: describe(Reading::Index, &self.index, granule),
            method: match (self.has_exact, self.has_sampled) {
                (_, false) => Method::Exact,
                (false, true) => Method::Statstack,
                (true, true) => Method::ExactThenStatstack,
            },
            rate: if usages > 0 { (self.followed as f64 / usages as f64).min(1.0) } else { 0.0 },
            rank_error: self.rank_error().min(unknown),
            abandoned: self.abandoned,
            cutoffs: caches.iter().map(|c| cutoff(*c, &self.distinct, granule, private)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_profile::Histogram;

    #[test]
    fn an_exact_phase_and_samples_add_up() {
        let trace = Trace {
            exact_usages: 4,
            distinct: Histogram::of([0, 1]),
            index: Histogram::of([1, 2]),
            samples: 2,
            // Each sample stands for 8 usages of a sweep over 10 elements.
            sampled: Histogram::of_buckets([(10, 16)]),
            abandoned: 1,
            ..Trace::default()
        };
        let mut traces = Traces::default();
        traces.add_trace(&trace, &Inside::default());
        let crd = traces.describe(28, 4, &[], &Vec::new());
        let counts = |d: &crate::model::Distances| d.buckets.iter().map(|b| (b.lo, b.count)).collect::<Vec<_>>();
        assert_eq!(counts(&crd.distinct), [(0, 1.0), (1, 1.0), (9, 16.0)]);
        assert_eq!(counts(&crd.index), [(1, 1.0), (2, 1.0), (10, 16.0)]);
        assert_eq!((crd.method, crd.rate, crd.abandoned), (Method::ExactThenStatstack, 0.25, 1));
        assert_eq!((crd.distinct.median, crd.distinct.median_bytes), (Some(9.0), Some(36.0)));
        // The one given up stands for 8 usages more. Twenty samples for the same usages are surer than two.
        assert_eq!(crd.rank_error, (28.0 - 4.0) / 28.0);
        let mut traces = Traces::default();
        traces.add_trace(&Trace { samples: 20, abandoned: 10, ..trace }, &Inside::default());
        let rank_error = traces.describe(28, 4, &[], &Vec::new()).rank_error;
        let expected = ((2.0f64 / 0.05).ln() / 2.0 / 20.0).sqrt() * 16.0 / 18.0 + 8.0 / 26.0;
        assert!((rank_error - expected).abs() < 1e-9, "{rank_error} for {expected}");
    }
}
