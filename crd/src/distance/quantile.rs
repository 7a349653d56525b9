//! Quantiles of a histogram.

use super::mass::Mass;
use crate::model::{Distances, Reading};

/// The distances that ascending `shares` of all distances do not exceed: the smallest such, interpolated inside their
/// buckets. None if empty.
pub fn quantiles<const N: usize>(mass: &Mass, shares: [f64; N]) -> [Option<f64>; N] {
    let count = mass.count();
    let targets = shares.map(|share| count * share);
    // Sums of parts come out a little short of the whole.
    let tolerance = count * 1e-9;
    let mut found = [None; N];
    let mut reached = 0;
    let mut before = 0.0;
    let mut ranges = mass.ranges().peekable();
    while let Some((first, last, mass)) = ranges.next() {
        let is_last = ranges.peek().is_none();
        while reached < N && (is_last || before + mass >= targets[reached] - tolerance) {
            let part = ((targets[reached] - before) / mass).clamp(0.0, 1.0);
            found[reached] = Some(first + part * (last - first));
            reached += 1;
        }
        before += mass;
    }
    found
}

/// A histogram with its quantiles. `granule`: bytes of an element.
pub fn describe(kind: Reading, mass: &Mass, granule: u32) -> Distances {
    let [median, p90, p99] = quantiles(mass, [0.5, 0.9, 0.99]);
    let bytes = |elements: Option<f64>| elements.map(|e| e * f64::from(granule));
    Distances {
        kind,
        count: mass.count(),
        median,
        p90,
        p99,
        median_bytes: bytes(median),
        p90_bytes: bytes(p90),
        p99_bytes: bytes(p99),
        buckets: mass.buckets().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_profile::Histogram;

    fn of(distances: impl IntoIterator<Item = u64>) -> Mass {
        let mut mass = Mass::default();
        mass.add_histogram(&Histogram::of(distances));
        mass
    }

    #[test]
    fn small_distances_are_exact() {
        let mass = of([0, 2, 2]);
        assert_eq!(quantiles(&mass, [0.3, 0.5, 1.0]), [Some(0.0), Some(2.0), Some(2.0)]);
        assert_eq!(quantiles(&Mass::default(), [0.5]), [None]);
    }

    #[test]
    fn large_ones_are_within_their_bucket() {
        // 8191 is the end of a bucket: all buckets are full, so the interpolation has nothing to guess.
        let mass = of(1..=8191);
        let shares = [0.1, 0.5, 0.9, 0.99];
        for (found, share) in quantiles(&mass, shares).into_iter().zip(shares) {
            let (found, exact) = (found.unwrap(), share * 8191.0);
            assert!((found - exact).abs() <= 1.0, "{found} for {exact}");
        }
    }
}
