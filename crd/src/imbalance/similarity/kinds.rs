//! Kinds of threads: clusters of their vectors by OPTICS (Liu et al., section 3).

use super::super::vector::norm;
use super::optics::{extract, optics};

/// Radius of a kind as a share of the median length of the vectors: threads that differ by under a tenth are alike.
pub const TAU: f64 = 0.10;

/// Points that make a place dense, the point itself among them.
pub const MIN_POINTS: usize = 2;

/// Label of each thread, kinds numbered by their lowest threads. Equal partitions have equal labels.
pub fn kinds(threads: &[Vec<f64>], tau: f64) -> Vec<usize> {
    let eps = tau * median(threads.iter().map(|v| norm(v)).collect());
    extract(&optics(threads, eps, MIN_POINTS), eps)
}

/// Threads of each kind.
pub fn members(labels: &[usize]) -> Vec<Vec<usize>> {
    let mut kinds = vec![Vec::new(); labels.iter().max().map_or(0, |max| max + 1)];
    for (thread, &label) in labels.iter().enumerate() {
        kinds[label].push(thread);
    }
    kinds
}

/// Mean of the two middle ones; 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}
