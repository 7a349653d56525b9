//! Communication reuse balance (ICPP'18, section 3.4.2, equation 2): how far the largest row sum of the CRR matrix is
//! above the mean row sum, in percent. 0 = balanced.

use crate::model::Entry;

/// Balance of the rows (by writer) and of the columns (by reader) of a matrix of `size` over `threads` threads; 0 if
/// all is zero.
pub fn balance(crr: &[Entry<f64>], size: usize, threads: usize) -> (f64, f64) {
    (excess(&sums(crr, size, |e| e.writer), threads), excess(&sums(crr, size, |e| e.reader), threads))
}

fn sums(crr: &[Entry<f64>], size: usize, vector: impl Fn(&Entry<f64>) -> u32) -> Vec<f64> {
    let mut sums = vec![0.0; size];
    for e in crr {
        sums[vector(e) as usize] += e.value;
    }
    sums
}

fn excess(sums: &[f64], threads: usize) -> f64 {
    let total: f64 = sums.iter().sum();
    let max = sums.iter().copied().fold(0.0, f64::max);
    if total > 0.0 { (max * threads as f64 / total - 1.0) * 100.0 } else { 0.0 }
}
