//! Communication reuse balance (ICPP'18, section 3.4.2, equation 2): how far the largest row sum of the CRR matrix is
//! above the mean row sum, in percent. 0 = balanced.

use super::{Sums, Vector};

/// Balance of the rows (by writer) and of the columns (by reader) of a matrix over `threads` threads; 0 if all is zero.
pub fn balance(sums: &Sums, threads: usize) -> (f64, f64) {
    (excess(&sums.rows, threads), excess(&sums.columns, threads))
}

fn excess(vectors: &[Vector], threads: usize) -> f64 {
    let sums = || vectors.iter().map(|vector| vector.sum);
    let (total, max) = (sums().sum::<f64>(), sums().fold(0.0, f64::max));
    if total > 0.0 { (max * threads as f64 / total - 1.0) * 100.0 } else { 0.0 }
}
