//! Hardware events without what their superiors explain (LIME, section 3.1), by the Gram-Schmidt process.

use super::super::vector::{centred, dot, norm, subtract};

/// Below this share of a superior's length nothing of it is left but rounding: it adds no direction of its own.
const DEPENDENT: f64 = 1e-9;

/// Below this share of the event's length what is left of it is rounding of the counts.
const EXPLAINED: f64 = 1e-7;

/// What of `counts` no combination of `superiors` and a constant explains, centred; all zero if they explain it wholly.
/// Projected twice, as once leaves rounding in the direction of nearly parallel superiors.
pub fn residual(counts: &[f64], superiors: &[Vec<f64>]) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for superior in superiors {
        let mut direction = centred(superior);
        let before = norm(&direction);
        project_out(&mut direction, &basis);
        let length = norm(&direction);
        if length > DEPENDENT * before {
            direction.iter_mut().for_each(|x| *x /= length);
            basis.push(direction);
        }
    }
    let mut left = centred(counts);
    let before = norm(&left);
    project_out(&mut left, &basis);
    if norm(&left) <= EXPLAINED * before { vec![0.0; counts.len()] } else { left }
}

/// Removes from `v` its part along each of the orthonormal vectors `basis`, twice.
pub(super) fn project_out(v: &mut [f64], basis: &[Vec<f64>]) {
    for _ in 0..2 {
        for q in basis {
            let along = dot(v, q);
            subtract(v, along, q);
        }
    }
}
