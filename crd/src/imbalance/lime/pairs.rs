//! Two predictors that explain the dependent variable only together.
//!
//! Two causes of equal weight each leave half of the variance to the other: with 8 threads neither reaches F = 6, while
//! the two together explain all. Forward selection (LIME, section 3.5) would stop before the first; so before it stops
//! it looks for such a pair. This goes beyond the paper.

use super::super::vector::{dot, norm, subtract};

/// One of the pair is among so many that explain most alone.
const FIRST: usize = 16;

/// Two sums of squares that differ by less than this share of the whole are equal.
const EQUAL: f64 = 1e-12;

/// Below this share of its length a predictor is a multiple of the other.
const COLLINEAR: f64 = 1e-6;

/// The two that leave least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub first: usize,
    pub second: usize,
    /// What they leave of the sum of squares.
    pub rest: f64,
    /// How many of the two have a positive coefficient.
    positive: usize,
}

/// Probability that the best pair by chance leaves only `rest` of `whole` with `freedom` degrees of freedom after it:
/// the upper tail of F with 2 and `freedom`, in closed form.
pub(super) fn chance(rest: f64, whole: f64, freedom: usize) -> f64 {
    (rest / whole).powf(freedom as f64 / 2.0)
}

/// The best pair of `candidates` for `left`; of equals that with more positive coefficients, then the lowest.
/// `candidates` are free of what is already selected, none where a predictor is out.
pub(super) fn best_pair(candidates: &[Option<&[f64]>], left: &[f64]) -> Option<Pair> {
    let whole = dot(left, left);
    let explained = |c: &[f64]| (dot(left, c) / norm(c)).powi(2);
    let mut order: Vec<(usize, f64)> =
        candidates.iter().enumerate().filter_map(|(i, c)| Some((i, explained((*c)?)))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut best: Option<Pair> = None;
    for &(first, _) in order.iter().take(FIRST) {
        let Some(a) = candidates[first] else { continue };
        let length = norm(a);
        let direction: Vec<f64> = a.iter().map(|x| x / length).collect();
        for (second, b) in candidates.iter().enumerate().filter_map(|(i, c)| Some((i, (*c)?))) {
            let Some(pair) = fit(left, &direction, b).filter(|_| second != first) else { continue };
            let pair = Pair { first, second, ..pair };
            let better = best.is_none_or(|best| {
                let key = |p: Pair| (p.first.min(p.second), p.first.max(p.second));
                let equal = (pair.rest - best.rest).abs() <= EQUAL * whole;
                let preferred =
                    pair.positive > best.positive || pair.positive == best.positive && key(pair) < key(best);
                if equal { preferred } else { pair.rest < best.rest }
            });
            if better {
                best = Some(pair);
            }
        }
    }
    best
}

/// What `left` keeps beside the unit vector `direction` and `other`; none if these are multiples of each other.
fn fit(left: &[f64], direction: &[f64], other: &[f64]) -> Option<Pair> {
    let shared = dot(other, direction);
    let mut own = other.to_vec();
    subtract(&mut own, shared, direction);
    let length = norm(&own);
    if length <= COLLINEAR * norm(other) {
        return None;
    }
    let along = dot(left, direction);
    let slope = dot(left, &own) / (length * length);
    let mut rest = left.to_vec();
    subtract(&mut rest, along, direction);
    subtract(&mut rest, slope, &own);
    let positive = usize::from(slope > 0.0) + usize::from(along - slope * shared > 0.0);
    Some(Pair { first: 0, second: 0, rest: dot(&rest, &rest), positive })
}
