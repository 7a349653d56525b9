//! Where reuse distances outgrow a cache.

use serde::Serialize;

use super::fit::{Law, fit};

/// How far beyond the largest measured input a law is believed, as a factor.
const REACH: f64 = 1e4;

/// Which cutoff of a cache level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// From here on a capacity miss is possible: the cache less what the threads have for themselves.
    Min,
    /// From here on it is certain: the whole cache.
    Max,
}

/// Whether and how it is known where a distance crosses a cutoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Seen {
    /// The distance is beyond the cutoff at the smallest input already.
    Always,
    /// Between two of the inputs; the point is interpolated.
    Measured,
    /// Beyond the largest input, where the law of growth says.
    Predicted,
    /// Not before ten thousand times the largest input, as far as the law knows.
    Never,
}

/// A crossing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Cache level.
    pub level: u8,
    /// Which cutoff.
    pub cutoff: Bound,
    /// How it is known.
    pub seen: Seen,
    /// The input; none if never or always.
    pub at: Option<f64>,
}

/// Distance and cutoff, both in bytes, at an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Input size or number of threads.
    pub n: f64,
    /// Reuse distance.
    pub distance: f64,
    /// The cutoff there.
    pub cutoff: f64,
}

/// Where the distance first reaches the cutoff. `points` are ascending; `cache`: bytes of the whole cache, from which
/// the cutoff's distance is what grows.
pub fn crossing(points: &[Point], cache: f64) -> (Seen, Option<f64>) {
    let Some((first, last)) = points.first().zip(points.last()) else { return (Seen::Never, None) };
    if first.distance >= first.cutoff {
        return (Seen::Always, None);
    }
    if let Some(pair) = points.windows(2).find(|pair| pair[1].distance >= pair[1].cutoff) {
        return (Seen::Measured, Some(between(pair[0], pair[1])));
    }
    let law = fit(&points.iter().map(|p| (p.n, p.distance)).collect::<Vec<_>>());
    // A cutoff of 0 only says that the threads have more than the cache.
    let private = points.iter().filter(|p| p.cutoff > 0.0).map(|p| (p.n, cache - p.cutoff)).collect::<Vec<_>>();
    let private = fit(&private);
    let room = |n: f64| cache - private.map_or(cache - last.cutoff, |law| law.at(n)).clamp(0.0, cache);
    let reached = |law: &Law, n: f64| law.at(n) >= room(n);
    match law.filter(|law| reached(law, last.n * REACH)) {
        None => (Seen::Never, None),
        Some(law) => (Seen::Predicted, Some(first_true(last.n, last.n * REACH, |n| reached(&law, n)))),
    }
}

/// Both as powers of n between two points; a cutoff or distance of 0 counts as one byte.
fn between(low: Point, high: Point) -> f64 {
    let gap = |p: Point| (p.distance.max(1.0) / p.cutoff.max(1.0)).ln();
    let (before, after) = (gap(low), gap(high));
    let share = if after > before { (-before / (after - before)).clamp(0.0, 1.0) } else { 1.0 };
    low.n * (high.n / low.n).powf(share)
}

/// Smallest n up to a millionth that is true, if all beyond are; `high` is.
fn first_true(mut low: f64, mut high: f64, is: impl Fn(f64) -> bool) -> f64 {
    while high / low > 1.0 + 1e-6 {
        let middle = (low * high).sqrt();
        if is(middle) { high = middle } else { low = middle }
    }
    high
}
