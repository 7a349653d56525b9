//! Whether distances differ, or may only seem to because they were sampled.
//!
//! With 95 % confidence the quantile `q` that a report prints is one from `q - e` to `q + e` of all distances, where
//! `e` is [`Crd::rank_error`]. Two quantiles differ where these ranges are apart. A share beyond a cache is off by as
//! much, and says little where most distances lie at the cache's very edge: 32.5 KiB become a tenth shorter by chance,
//! and a cache of 32 KiB holds all of them. So the edge counts as moved by what is noise for a distance itself.

use super::Metric;
use crate::model::{Crd, Cutoff, Region};

/// The distances of a region, and the bytes of an element in its report.
#[derive(Clone, Copy)]
pub struct Sampled<'a> {
    crd: &'a Crd,
    granule: f64,
}

impl<'a> Sampled<'a> {
    /// None where there is no distance.
    pub fn of(region: &'a Region, granule: u32) -> Option<Self> {
        let crd = region.counts.as_deref()?.own.crd.as_ref().filter(|crd| crd.distinct.count > 0.0)?;
        Some(Self { crd, granule: f64::from(granule.max(1)) })
    }

    /// What a figure may be. None if it is no figure of distances.
    fn range(self, metric: Metric, noise: f64) -> Option<(f64, f64)> {
        let cutoff = |level: Option<u8>| self.crd.cutoffs.iter().find(|c| level.is_none_or(|level| c.level == level));
        match metric {
            Metric::CrdMedian => self.quantile(0.5, self.crd.distinct.median?),
            Metric::CrdP90 => self.quantile(0.9, self.crd.distinct.p90?),
            Metric::DefiniteMiss(level) => self.share(cutoff(level)?, |c| (Some(c.max_bytes), None), noise),
            Metric::ProbableMiss(level) => {
                self.share(cutoff(level)?, |c| (Some(c.min_bytes), Some(c.max_bytes)), noise)
            }
            _ => None,
        }
    }

    fn quantile(self, share: f64, found: f64) -> Option<(f64, f64)> {
        match self.crd.rank_error {
            0.0 => Some((found, found)),
            error => Some((self.at(share - error).min(found), self.at(share + error).max(found))),
        }
    }

    /// The distance that this share of all does not exceed. Nobody knows how long the longest of all are.
    fn at(self, share: f64) -> f64 {
        match share {
            none if none <= 0.0 => 0.0,
            all if all >= 1.0 => f64::INFINITY,
            share => {
                let mut rest = share * self.crd.distinct.count;
                let mut last = 0.0;
                for bucket in &self.crd.distinct.buckets {
                    let (first, end) = (bucket.lo as f64, bucket.hi as f64 - 1.0);
                    if rest <= bucket.count {
                        return first + (end - first) * rest / bucket.count;
                    }
                    rest -= bucket.count;
                    last = end;
                }
                last
            }
        }
    }

    /// The share between two sizes, of which the second may be missing.
    fn share(
        self,
        cutoff: &Cutoff,
        between: fn(&Cutoff) -> (Option<u64>, Option<u64>),
        noise: f64,
    ) -> Option<(f64, f64)> {
        let (from, to) = between(cutoff);
        // Half of the noise on each of the sides that are compared.
        let edge = (1.0 + noise).sqrt();
        let beyond = |bytes: Option<u64>, factor: f64| bytes.map_or(0.0, |bytes| self.beyond(bytes as f64 * factor));
        let errors = self.crd.rank_error * if to.is_some() { 2.0 } else { 1.0 };
        let least = beyond(from, edge) - beyond(to, 1.0 / edge) - errors;
        let most = beyond(from, 1.0 / edge) - beyond(to, edge) + errors;
        Some((least.max(0.0), most.min(1.0)))
    }

    /// Share of the distances above so many bytes.
    fn beyond(self, bytes: f64) -> f64 {
        let limit = bytes / self.granule;
        let above = self.crd.distinct.buckets.iter().map(|bucket| {
            let (first, end) = (bucket.lo as f64, bucket.hi as f64);
            bucket.count * (end - limit.clamp(first, end)) / (end - first)
        });
        above.sum::<f64>() / self.crd.distinct.count
    }
}

/// Whether a figure of distances may be the same in both although it was found to differ.
pub fn may_be_equal(metric: Metric, base: Option<Sampled>, new: Option<Sampled>, noise: f64) -> bool {
    let ranges = base.and_then(|b| b.range(metric, noise)).zip(new.and_then(|n| n.range(metric, noise)));
    ranges.is_some_and(|((least, most), (from, to))| least <= to && from <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bucket, Distances, Method, Reading};

    /// Evenly from 1 to `longest`, of which this share was drawn wrongly at most; a cache of 400 bytes.
    fn crd(longest: u64, rank_error: f64) -> Crd {
        let distinct = Distances {
            kind: Reading::Distinct,
            count: longest as f64,
            median: Some(longest as f64 * 0.5),
            p90: Some(longest as f64 * 0.9),
            p99: None,
            median_bytes: None,
            p90_bytes: None,
            p99_bytes: None,
            buckets: (1..=longest).map(|d| Bucket { lo: d, hi: d + 1, count: 1.0 }).collect(),
        };
        let beyond = longest.saturating_sub(100) as f64 / longest as f64;
        let cutoff = Cutoff {
            level: 1,
            min_bytes: 200,
            max_bytes: 400,
            no_miss: 0.0,
            probable_miss: 1.0 - beyond,
            definite_miss: beyond,
        };
        Crd {
            index: distinct.clone(),
            distinct,
            method: Method::Statstack,
            rate: 0.1,
            rank_error,
            abandoned: 0,
            cutoffs: vec![cutoff],
        }
    }

    fn equal(metric: Metric, base: (u64, f64), new: (u64, f64)) -> bool {
        let (base, new) = (crd(base.0, base.1), crd(new.0, new.1));
        let [base, new] = [&base, &new].map(|crd| Some(Sampled { crd, granule: 4.0 }));
        assert_eq!(may_be_equal(metric, base, new, 0.05), may_be_equal(metric, new, base, 0.05));
        may_be_equal(metric, base, new, 0.05)
    }

    #[test]
    fn quantiles_differ_where_their_ranges_are_apart() {
        // The median of 1..=1000 is one from 400 to 600, of 1..=1400 one from 560 to 840, of 1..=1600 from 640 on.
        let median = Metric::CrdMedian;
        assert!(equal(median, (1000, 0.1), (1400, 0.1)) && !equal(median, (1000, 0.1), (1600, 0.1)));
        // Nine of ten may be all of them.
        assert!(equal(Metric::CrdP90, (1000, 0.1), (5000, 0.1)) && !equal(Metric::CrdP90, (1000, 0.05), (1600, 0.05)));
        // What was followed is known.
        assert!(!equal(median, (1000, 0.0), (1020, 0.0)) && equal(median, (1000, 0.0), (1000, 0.0)));
        assert!(!equal(Metric::Raw, (1000, 1.0), (1020, 1.0)), "counts are not sampled");
    }

    #[test]
    fn shares_differ_by_more_than_the_errors_and_not_at_the_edge() {
        // 100 elements are the cache: 0 %, 3 %, 17 % and half of the distances are longer.
        let beyond = Metric::DefiniteMiss(None);
        assert!(equal(beyond, (100, 0.0), (103, 0.0)) && !equal(beyond, (100, 0.0), (120, 0.0)));
        assert!(equal(beyond, (100, 0.1), (120, 0.1)) && !equal(beyond, (100, 0.1), (200, 0.1)));
        let between = Metric::ProbableMiss(Some(1));
        assert!(equal(between, (100, 0.02), (105, 0.02)) && !equal(between, (100, 0.02), (400, 0.02)));
        assert!(!equal(Metric::DefiniteMiss(Some(2)), (100, 1.0), (200, 1.0)), "there is no such cache");
    }
}
