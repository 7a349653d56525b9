//! A histogram that may hold parts of counts.

use threadtalk_profile::Histogram;
use threadtalk_profile::buckets::{BUCKETS, bucket, lower_bound};

use crate::model::Bucket;

/// Mass by log-linear bucket. Inside a bucket it is taken as spread evenly over the bucket's whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass {
    buckets: Vec<f64>,
}

impl Default for Mass {
    fn default() -> Self {
        Self { buckets: vec![0.0; BUCKETS] }
    }
}

impl Mass {
    /// Adds counted distances.
    pub fn add_histogram(&mut self, histogram: &Histogram) {
        for (bucket, count) in histogram.buckets() {
            self.buckets[usize::from(*bucket)] += *count as f64;
        }
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &Self) {
        for (own, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += other;
        }
    }

    /// Adds mass, spread evenly over the distances `first..=last`.
    pub fn add_range(&mut self, first: u64, last: u64, mass: f64) {
        let each = mass / ((last - first) as f64 + 1.0);
        let mut from = first;
        for index in bucket(first)..=bucket(last) {
            // What is beyond the last bucket counts in it.
            let to = if index + 1 == BUCKETS { last } else { last.min(lower_bound(index + 1) - 1) };
            self.buckets[index] += each * ((to - from) as f64 + 1.0);
            from = to.saturating_add(1);
        }
    }

    /// All mass.
    pub fn count(&self) -> f64 {
        self.buckets.iter().sum()
    }

    /// Buckets that are not empty, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.buckets.iter().enumerate().filter(|(_, mass)| **mass > 0.0).map(|(index, mass)| Bucket {
            lo: lower_bound(index),
            hi: lower_bound(index + 1),
            count: *mass,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_spread_over_its_buckets() {
        let mut mass = Mass::default();
        // 16 and 17 are one bucket, 18 begins the next.
        mass.add_range(14, 18, 10.0);
        let counts: Vec<(u64, f64)> = mass.buckets().map(|b| (b.lo, b.count)).collect();
        assert_eq!(counts, [(14, 2.0), (15, 2.0), (16, 4.0), (18, 2.0)]);
        mass.add_range(u64::MAX - 9, u64::MAX, 1.0);
        assert!((mass.count() - 11.0).abs() < 1e-12);
    }
}
