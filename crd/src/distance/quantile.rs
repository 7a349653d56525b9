//! Quantiles of a histogram.

use super::mass::Mass;
use crate::model::{Distances, Reading};

/// The distance that `share` of all distances do not exceed: the smallest such, interpolated inside its bucket. None if
/// empty.
pub fn quantile(mass: &Mass, share: f64) -> Option<f64> {
    let count = mass.count();
    let target = count * share;
    // Sums of parts come out a little short of the whole.
    let tolerance = count * 1e-9;
    let mut before = 0.0;
    let mut found = None;
    for (first, last, mass) in mass.ranges() {
        let part = ((target - before) / mass).clamp(0.0, 1.0);
        found = Some(first + part * (last - first));
        before += mass;
        if before >= target - tolerance {
            break;
        }
    }
    found
}

/// A histogram with its quantiles. `granule`: bytes of an element.
pub fn describe(kind: Reading, mass: &Mass, granule: u32) -> Distances {
    let [median, p90, p99] = [0.5, 0.9, 0.99].map(|share| quantile(mass, share));
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
        assert_eq!([0.3, 0.5, 1.0].map(|q| quantile(&mass, q)), [Some(0.0), Some(2.0), Some(2.0)]);
        assert_eq!(quantile(&Mass::default(), 0.5), None);
    }

    #[test]
    fn large_ones_are_within_their_bucket() {
        // 8191 is the end of a bucket: all buckets are full, so the interpolation has nothing to guess.
        let mass = of(1..=8191);
        for share in [0.1, 0.5, 0.9, 0.99] {
            let (found, exact) = (quantile(&mass, share).unwrap(), share * 8191.0);
            assert!((found - exact).abs() <= 1.0, "{found} for {exact}");
        }
    }
}
