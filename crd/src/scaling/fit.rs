//! Growth laws fitted to a few measurements.
//!
//! The hypotheses are the performance model normal form with one term, `constant + factor * n^a * log2(n)^b`, with `a`
//! and `b` from a small set (Calotoiu, Hoefler, Poke, Wolf, "Using Automated Performance Modeling to Find Scalability
//! Bugs in Complex Codes", SC'13). The one with the smallest error in leave-one-out cross-validation is chosen, the
//! simplest where several are as good.

use serde::Serialize;

/// Mean error at a size that the law was not fitted to, from which on it is none: 0.25 = predictions off by a factor of
/// 5 / 3.
const NO_LAW: f64 = 0.25;

/// Values that differ by no more than this relative to the largest are constant.
const NOISE: f64 = 0.05;
/// Errors that differ by less are equal: then the simpler law holds. A hundredth: counts of blocks and borders are
/// seldom nearer to a law, and without it n^(2/3) log^2 n beats n by a thousandth.
const EQUAL_ERRORS: f64 = 0.01;

/// Largest power that two points give. Beyond it the sizes are nearly the same, or it is no power law.
const STEEPEST: f64 = 16.0;

/// Powers of n and of its logarithm that programs often have, the simplest first.
const USUAL: [(f64, f64); 11] = [
    (1.0, 0.0),
    (2.0, 0.0),
    (3.0, 0.0),
    (-1.0, 0.0),
    (0.0, 1.0),
    (0.5, 0.0),
    (1.0, 1.0),
    (2.0, 1.0),
    (1.5, 0.0),
    (-2.0, 0.0),
    (-0.5, 0.0),
];

/// Further powers of n; all are combined with no logarithm, with it and with its square.
const POWERS: [f64; 18] = [
    0.0,
    1.0,
    2.0,
    3.0,
    0.5,
    1.5,
    2.5,
    1.0 / 3.0,
    2.0 / 3.0,
    4.0 / 3.0,
    5.0 / 3.0,
    7.0 / 3.0,
    8.0 / 3.0,
    0.25,
    0.75,
    1.25,
    1.75,
    2.25,
];

/// How a law came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// All values are the same up to 5 %.
    Constant,
    /// The power law through two points: nothing says how good it is.
    TwoPoints,
    /// The best of all hypotheses.
    Fitted,
}

/// `constant + factor * n^exponent * log2(n)^log_exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Law {
    /// How it came about.
    pub method: Method,
    /// What does not grow.
    pub constant: f64,
    /// Of the term that grows.
    pub factor: f64,
    /// Power of `n`.
    pub exponent: f64,
    /// Power of its logarithm to base 2.
    pub log_exponent: f64,
    /// Mean relative error of the values predicted from all others, 0 to 1 (|p - v| / (|p| + |v|)); none without
    /// a value to spare.
    pub error: Option<f64>,
}

impl Law {
    /// Its value.
    pub fn at(&self, n: f64) -> f64 {
        self.constant + self.factor * term(n, self.exponent, self.log_exponent)
    }

    /// Whether it has no limit.
    pub fn grows(&self) -> bool {
        self.factor > 0.0 && (self.exponent > 0.0 || self.exponent == 0.0 && self.log_exponent > 0.0)
    }
}

fn term(n: f64, power: f64, log_power: f64) -> f64 {
    n.powf(power) * n.log2().powf(log_power)
}

/// The law of points (n, value) with different n of at least 1 and values of at least 0. None for less than two points,
/// for two of which one value is 0 or that are too steep for a law, and where no law
/// predicts each point from the others.
pub fn fit(points: &[(f64, f64)]) -> Option<Law> {
    let largest = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let smallest = points.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    if points.len() < 2 {
        return None;
    }
    if largest - smallest <= NOISE * largest {
        let mean = points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64;
        let error = (points.len() > 2).then(|| cross_validated(points, mean_law));
        return Some(Law { error: error.flatten(), ..constant(mean) });
    }
    if let [(n1, v1), (n2, v2)] = *points {
        if smallest == 0.0 {
            return None;
        }
        let exponent = (v2 / v1).ln() / (n2 / n1).ln();
        if exponent.abs() > STEEPEST {
            return None;
        }
        let factor = v1 / n1.powf(exponent);
        return Some(Law { method: Method::TwoPoints, factor, exponent, ..constant(0.0) });
    }
    let others = [0.0, 1.0, 2.0].into_iter().flat_map(|b| POWERS.map(|a| (a, b)));
    let hypotheses = USUAL.into_iter().chain(others);
    let tried: Vec<(f64, Law)> = hypotheses
        .filter_map(|(a, b)| {
            let error = cross_validated(points, |rest| least_squares(rest, a, b))?;
            Some((error, least_squares(points, a, b)?))
        })
        .collect();
    let least = tried.iter().map(|(error, _)| *error).fold(f64::INFINITY, f64::min);
    let (error, law) = tried.into_iter().find(|(error, _)| *error <= least + EQUAL_ERRORS && *error < NO_LAW)?;
    Some(Law { error: Some(error), ..law })
}

fn constant(value: f64) -> Law {
    Law { method: Method::Constant, constant: value, factor: 0.0, exponent: 0.0, log_exponent: 0.0, error: None }
}

fn mean_law(points: &[(f64, f64)]) -> Option<Law> {
    Some(constant(points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64))
}

/// Mean relative error at each point of the law from all others.
fn cross_validated(points: &[(f64, f64)], law: impl Fn(&[(f64, f64)]) -> Option<Law>) -> Option<f64> {
    let mut sum = 0.0;
    for left_out in 0..points.len() {
        let mut rest = points.to_vec();
        let (n, value) = rest.remove(left_out);
        let predicted = law(&rest)?.at(n);
        let size = predicted.abs() + value.abs();
        sum += if size > 0.0 { (predicted - value).abs() / size } else { 0.0 };
    }
    Some(sum / points.len() as f64)
}

/// Constant and factor by least squares of relative errors, so that small values count as much as large ones. None
/// where the term is the same at all points.
fn least_squares(points: &[(f64, f64)], a: f64, b: f64) -> Option<Law> {
    let scale_x = points.iter().map(|(n, _)| term(*n, a, b).abs()).fold(0.0, f64::max);
    let scale_y = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if !(scale_x > 0.0 && scale_x.is_finite() && scale_y > 0.0) {
        return None;
    }
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (n, value) in points {
        let (x, y) = (term(*n, a, b) / scale_x, value / scale_y);
        // A value of 0 has no relative error; it counts as one of a thousandth of the largest.
        let weight = 1.0 / y.max(1e-3).powi(2);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let determinant = w * wxx - wx * wx;
    if determinant <= 1e-12 * w * wxx {
        return None;
    }
    let factor = (w * wxy - wx * wy) / determinant;
    let constant = (wy - factor * wx) / w;
    Some(Law {
        method: Method::Fitted,
        constant: constant * scale_y,
        factor: factor * scale_y / scale_x,
        exponent: a,
        log_exponent: b,
        error: None,
    })
}
