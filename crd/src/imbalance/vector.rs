//! Vectors with an element per thread.

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}
