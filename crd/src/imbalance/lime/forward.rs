//! Forward selection by the partial F test, and standardised coefficients (LIME, section 3.5; Efroymson 1960).

use super::super::vector::{centred, constant, deviation, dot, norm, subtract};
use super::f_test::upper_tail;
use super::pairs::{best_pair, chance};
use super::residual::project_out;

/// What is left of the dependent variable's sum of squares when the fit is perfect: rounding.
pub const PERFECT: f64 = 1e-12;

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

/// When a predictor enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The p of one alone must be below this.
    pub alone: f64,
    /// If no one enters alone, two enter together whose common p is below this; 0 = never.
    pub pair: f64,
    /// Nothing more is sought when this share of the sum of squares is left, at least [`PERFECT`].
    pub rest: f64,
}

impl Level {
    /// `alpha` for one alone, no pairs, until the fit is perfect.
    pub fn raw(alpha: f64) -> Level {
        Level { alone: alpha, pair: 0.0, rest: PERFECT }
    }

    /// `alpha` divided by how many there are to choose from: predictors, and pairs of them (Bonferroni).
    pub fn divided(alpha: f64, predictors: usize) -> Level {
        let n = predictors.max(2) as f64;
        Level { alone: alpha / predictors.max(1) as f64, pair: alpha / (n * (n - 1.0) / 2.0), rest: PERFECT }
    }
}

/// Selects among `predictors` for `dependent`, in order of entry, until the best p no longer is below its `level`.
///
/// `groups`: means that were removed from the data before, each a degree of freedom; 1 for plain data.
///
/// Of equal F the predictor with the positive coefficient enters, then the one with the lowest index: the two sides of
/// a branch are exact opposites and explain the same, but the side that takes the time is the cause.
pub fn forward(dependent: &[f64], predictors: &[Vec<f64>], level: Level, groups: usize) -> Vec<Selected> {
    let mut model = Model::new(dependent, predictors);
    let enough = level.rest.max(PERFECT) * dot(&model.left, &model.left);
    loop {
        let rss = dot(&model.left, &model.left);
        let used = groups + model.selected.len();
        let Some(freedom) = dependent.len().checked_sub(used + 1).filter(|&d| d >= 1) else { break };
        if rss <= enough {
            break;
        }
        let Some((index, f)) = model.best_alone(rss, freedom) else { break };
        let p = upper_tail(f, freedom);
        if p < level.alone {
            model.enter(index, f, p);
            continue;
        }
        let Some(freedom) = Some(freedom - 1).filter(|&d| d >= 1 && level.pair > 0.0) else { break };
        let Some(pair) = best_pair(&model.open(), &model.left) else { break };
        let rest = if pair.rest <= model.perfect { 0.0 } else { pair.rest };
        let p = chance(rest, rss, freedom);
        if p >= level.pair {
            break;
        }
        let f = (rss - rest) / 2.0 / (rest / freedom as f64);
        model.enter(pair.first, f, p);
        model.enter(pair.second, f, p);
    }
    let betas = coefficients(dependent, predictors, &model.selected, &model.basis);
    let entries = model.selected.into_iter().zip(betas);
    entries.map(|((predictor, f, p), beta)| Selected { predictor, f, p, beta }).collect()
}

struct Model {
    /// The dependent variable without what the selected predictors explain.
    left: Vec<f64>,
    /// Sum of squares at which the fit counts as perfect.
    perfect: f64,
    /// Predictors without what the selected ones explain, with their length before; none where selected or without use.
    candidates: Vec<Option<(Vec<f64>, f64)>>,
    /// Orthonormal directions of the selected ones.
    basis: Vec<Vec<f64>>,
    selected: Vec<(usize, f64, f64)>,
}

impl Model {
    fn new(dependent: &[f64], predictors: &[Vec<f64>]) -> Model {
        let left = centred(dependent);
        let candidate = |p: &Vec<f64>| {
            let centred = centred(p);
            let length = norm(&centred);
            (!constant(p)).then_some((centred, length))
        };
        let candidates = predictors.iter().map(candidate).collect();
        Model { perfect: PERFECT * dot(&left, &left), left, candidates, basis: Vec::new(), selected: Vec::new() }
    }

    fn enter(&mut self, index: usize, f: f64, p: f64) {
        let Some((mut direction, _)) = self.candidates[index].take() else { return };
        let length = norm(&direction);
        direction.iter_mut().for_each(|x| *x /= length);
        for v in self.candidates.iter_mut().flatten().map(|c| &mut c.0).chain([&mut self.left]) {
            let along = dot(v, &direction);
            subtract(v, along, &direction);
        }
        self.basis.push(direction);
        self.selected.push((index, f, p));
    }

    fn open(&self) -> Vec<Option<&[f64]>> {
        self.candidates.iter().map(|c| c.as_ref().map(|(v, _)| &v[..])).collect()
    }

    /// The predictor with the largest partial F, and that F.
    fn best_alone(&mut self, rss: f64, freedom: usize) -> Option<(usize, f64)> {
        let mut best: Option<Best> = None;
        let mut rest = vec![0.0; self.left.len()];
        for (index, slot) in self.candidates.iter_mut().enumerate() {
            let Some((candidate, before)) = slot else { continue };
            if norm(candidate) < 0.1 * *before {
                // Much of it has been taken away: the rounding along the earlier directions is no longer small beside
                // the rest.
                project_out(candidate, &self.basis);
            }
            let length = norm(candidate);
            if length <= COLLINEAR * *before {
                *slot = None;
                continue;
            }
            let along = dot(&self.left, candidate) / (length * length);
            rest.copy_from_slice(&self.left);
            subtract(&mut rest, along, candidate);
            let after = dot(&rest, &rest);
            let f = if after <= self.perfect { f64::INFINITY } else { (rss - after) / (after / freedom as f64) };
            let better = best.as_ref().is_none_or(|b| {
                let equal = f == b.f || (f - b.f).abs() <= EQUAL_F * b.f;
                if equal { along > 0.0 && !b.positive } else { f > b.f }
            });
            if better {
                best = Some(Best { index, f, positive: along > 0.0 });
            }
        }
        best.map(|b| (b.index, b.f))
    }
}

struct Best {
    index: usize,
    f: f64,
    positive: bool,
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
