//! Vectors with an element per thread.

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

pub fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

pub fn centred(v: &[f64]) -> Vec<f64> {
    let mean = mean(v);
    v.iter().map(|x| x - mean).collect()
}

/// `a -= factor * b`
pub fn subtract(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(x, y)| *x -= factor * y);
}

/// Whether all elements are equal but for the rounding of their mean: the deviation is under 1e-9 of the largest
/// element. Relative, so that the unit of a quantity does not matter.
pub fn constant(v: &[f64]) -> bool {
    let largest = v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    norm(&centred(v)) <= 1e-9 * largest * (v.len() as f64).sqrt()
}

/// Pearson's correlation coefficient, -1 to 1; 0 if one of the two is constant.
pub fn pearson(a: &[f64], b: &[f64]) -> f64 {
    if constant(a) || constant(b) {
        return 0.0;
    }
    let (a, b) = (centred(a), centred(b));
    (dot(&a, &b) / (norm(&a) * norm(&b))).clamp(-1.0, 1.0)
}

/// Standard deviation of all elements (not of a sample).
pub fn deviation(v: &[f64]) -> f64 {
    norm(&centred(v)) / (v.len() as f64).sqrt()
}
