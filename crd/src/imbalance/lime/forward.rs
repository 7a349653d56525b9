//! Forward selection by the partial F test, and standardised coefficients (LIME, section 3.5; Efroymson 1960).

use super::super::vector::{centred, constant, deviation, dot, norm, subtract};
use super::f_test::upper_tail;
use super::residual::project_out;

/// What is left of the dependent variable's sum of squares when the fit counts as perfect.
const PERFECT: f64 = 1e-12;

/// Below this share of its length a predictor is a combination of those already selected.
const COLLINEAR: f64 = 1e-8;

/// Two F that differ by less than this share are equal: what is left of a billion after the rounding of 64 products.
const EQUAL_F: f64 = 1e-9;

/// A predictor that entered the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selected {
    /// Index of the predictor.
    pub predictor: usize,
    /// Partial F at entry; infinite if it made the fit perfect.
    pub f: f64,
    /// Probability of that F by chance.
    pub p: f64,
    /// Standardised coefficient in the final model.
    pub beta: f64,
}

/// Selects among `predictors` for `dependent`, in order of entry, until the best one's p reaches `alpha`.
///
/// `groups`: means that were removed from the data before, each a degree of freedom; 1 for plain data.
///
/// Of equal F the predictor with the positive coefficient enters, then the one with the lowest index: the two sides of a branch
/// are exact opposites and explain the same, but the side that takes the time is the cause.
pub fn forward(dependent: &[f64], predictors: &[Vec<f64>], alpha: f64, groups: usize) -> Vec<Selected> {
    let mut left = centred(dependent);
    let total = dot(&left, &left);
    // Predictors without what the selected ones explain, with their length before.
    let mut candidates: Vec<Option<(Vec<f64>, f64)>> = predictors
        .iter()
        .map(|p| {
            (!constant(p)).then(|| centred(p)).map(|c| {
                let length = norm(&c);
                (c, length)
            })
        })
        .collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut selected: Vec<(usize, f64, f64)> = Vec::new();
    loop {
        let rss = dot(&left, &left);
        let Some(freedom) = dependent.len().checked_sub(groups + selected.len() + 1).filter(|&d| d >= 1) else { break };
        if rss <= PERFECT * total {
            break;
        }
        let Some(best) = best_of(&mut candidates, &basis, &left, rss, PERFECT * total, freedom) else { break };
        let p = upper_tail(best.f, freedom);
        if p >= alpha {
            break;
        }
        candidates[best.index] = None;
        let along = dot(&left, &best.direction);
        subtract(&mut left, along, &best.direction);
        for (candidate, _) in candidates.iter_mut().flatten() {
            let along = dot(candidate, &best.direction);
            subtract(candidate, along, &best.direction);
        }
        basis.push(best.direction);
        selected.push((best.index, best.f, p));
    }
    let betas = coefficients(dependent, predictors, &selected, &basis);
    selected.into_iter().zip(betas).map(|((predictor, f, p), beta)| Selected { predictor, f, p, beta }).collect()
}

struct Best {
    index: usize,
    f: f64,
    positive: bool,
    direction: Vec<f64>,
}

fn best_of(
    candidates: &mut [Option<(Vec<f64>, f64)>],
    basis: &[Vec<f64>],
    left: &[f64],
    rss: f64,
    perfect: f64,
    freedom: usize,
) -> Option<Best> {
    let mut best: Option<Best> = None;
    let mut rest = vec![0.0; left.len()];
    for (index, slot) in candidates.iter_mut().enumerate() {
        let Some((candidate, before)) = slot else { continue };
        if norm(candidate) < 0.1 * *before {
            // Much of it has been taken away: the rounding along the earlier directions is no longer small beside the rest.
            project_out(candidate, basis);
        }
        let length = norm(candidate);
        if length <= COLLINEAR * *before {
            *slot = None;
            continue;
        }
        let along = dot(left, candidate) / (length * length);
        rest.copy_from_slice(left);
        subtract(&mut rest, along, candidate);
        let after = dot(&rest, &rest);
        let f = if after <= perfect { f64::INFINITY } else { (rss - after) / (after / freedom as f64) };
        let better = best.as_ref().is_none_or(|b| {
            let equal = f == b.f || (f - b.f).abs() <= EQUAL_F * b.f;
            if equal { along > 0.0 && !b.positive } else { f > b.f }
        });
        if better {
            let direction = candidate.iter().map(|x| x / length).collect();
            best = Some(Best { index, f, positive: along > 0.0, direction });
        }
    }
    best
}

/// Back substitution: the selected predictors are the directions times a triangle.
fn coefficients(
    dependent: &[f64],
    predictors: &[Vec<f64>],
    selected: &[(usize, f64, f64)],
    basis: &[Vec<f64>],
) -> Vec<f64> {
    let y = centred(dependent);
    let columns: Vec<Vec<f64>> = selected.iter().map(|s| centred(&predictors[s.0])).collect();
    let mut slopes = vec![0.0; selected.len()];
    for i in (0..selected.len()).rev() {
        let above: f64 = (i + 1..selected.len()).map(|j| dot(&basis[i], &columns[j]) * slopes[j]).sum();
        slopes[i] = (dot(&basis[i], &y) - above) / dot(&basis[i], &columns[i]);
    }
    let scale = deviation(dependent);
    selected.iter().zip(slopes).map(|(s, slope)| slope * deviation(&predictors[s.0]) / scale).collect()
}
