//! A histogram that may hold parts of counts.

use threadtalk_profile::Histogram;
use threadtalk_profile::buckets::{BUCKETS, bucket, lower_bound};

use crate::model::Bucket;

/// Mass by log-linear bucket, and where in the bucket it lies on average: what was counted is taken as spread
/// evenly over the bucket's whole numbers; estimates may know better.
///
/// Holds the buckets up to the largest that was met: of all 768, most regions have the first few dozen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mass {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    mass: f64,
    /// Sum of distance x mass.
    moment: f64,
}

impl Mass {
    /// Adds counted distances.
    pub fn add_histogram(&mut self, histogram: &Histogram) {
        for (bucket, count) in histogram.buckets() {
            let index = usize::from(*bucket);
            self.add_part(index, lower_bound(index), lower_bound(index + 1) - 1, *count as f64);
        }
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &Self) {
        self.hold(other.parts.len());
        for (own, other) in self.parts.iter_mut().zip(&other.parts) {
            own.mass += other.mass;
            own.moment += other.moment;
        }
    }

    /// Adds mass, spread evenly over the distances `first..=last`.
    pub fn add_range(&mut self, first: u64, last: u64, mass: f64) {
        let each = mass / ((last - first) as f64 + 1.0);
        let mut from = first;
        for index in bucket(first)..=bucket(last) {
            // What is beyond the last bucket counts in it.
            let to = if index + 1 == BUCKETS { last } else { last.min(lower_bound(index + 1) - 1) };
            self.add_part(index, from, to, each * ((to - from) as f64 + 1.0));
            from = to.saturating_add(1);
        }
    }

    /// Adds mass that is spread evenly over a part of a bucket.
    fn add_part(&mut self, index: usize, first: u64, last: u64, mass: f64) {
        self.hold(index + 1);
        let part = &mut self.parts[index];
        part.mass += mass;
        part.moment += mass * (first as f64 + last as f64) / 2.0;
    }

    fn hold(&mut self, buckets: usize) {
        if self.parts.len() < buckets {
            self.parts.resize(buckets, Part::default());
        }
    }

    /// The most mass that lies at or below a bucket here, and beyond the next bucket in `other`.
    pub fn moved_to(&self, other: &Self) -> f64 {
        let (mut own, mut beside, mut most) = (0.0, other.parts.first().map_or(0.0, |p| p.mass), 0.0f64);
        for (index, part) in self.parts.iter().enumerate() {
            own += part.mass;
            beside += other.parts.get(index + 1).map_or(0.0, |p| p.mass);
            most = most.max(own - beside);
        }
        most
    }

    /// All mass.
    pub fn count(&self) -> f64 {
        self.parts.iter().map(|p| p.mass).sum()
    }

    /// Buckets that are not empty, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.parts.iter().enumerate().filter(|(_, part)| part.mass > 0.0).map(|(index, part)| Bucket {
            lo: lower_bound(index),
            hi: lower_bound(index + 1),
            count: part.mass,
        })
    }

    /// Where the mass of each bucket that is not empty lies: the widest range inside the bucket around its mean, and
    /// the mass.
    pub fn ranges(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.parts.iter().enumerate().filter(|(_, part)| part.mass > 0.0).map(|(index, part)| {
            let (first, last) = (lower_bound(index) as f64, (lower_bound(index + 1) - 1) as f64);
            let mean = (part.moment / part.mass).clamp(first, last);
            let half = (mean - first).min(last - mean);
            (mean - half, mean + half, part.mass)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_by_more_than_a_bucket_is_told() {
        let of = |parts: &[(u64, f64)]| {
            let mut mass = Mass::default();
            parts.iter().for_each(|(at, count)| mass.add_range(*at, *at, *count));
            mass
        };
        let own = of(&[(3, 5.0), (8, 2.0)]);
        let moved =
            [&[(3, 5.0), (8, 2.0)][..], &[(4, 5.0), (9, 2.0)], &[(5, 5.0), (8, 2.0)], &[(3, 4.0), (9, 1.0), (20, 2.0)]]
                .map(|parts| own.moved_to(&of(parts)));
        assert_eq!(moved, [0.0, 0.0, 5.0, 2.0]);
        assert_eq!((Mass::default().moved_to(&own), own.moved_to(&Mass::default())), (0.0, 7.0));
    }

    #[test]
    fn a_range_is_spread_over_its_buckets() {
        let mut mass = Mass::default();
        // 32 and 33 are one bucket, 34 begins the next.
        mass.add_range(30, 34, 10.0);
        let counts: Vec<(u64, f64)> = mass.buckets().map(|b| (b.lo, b.count)).collect();
        assert_eq!(counts, [(30, 2.0), (31, 2.0), (32, 4.0), (34, 2.0)]);
        mass.add_range(u64::MAX - 9, u64::MAX, 1.0);
        assert!((mass.count() - 11.0).abs() < 1e-12);
    }
}
