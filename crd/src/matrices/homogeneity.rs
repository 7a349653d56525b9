//! Communication reuse homogeneity (ICPP'18, section 3.4.1, equation 1): the mean over the rows of the CRR matrix of
//! the row's variance. 0 = all threads reuse alike.
//!
//! The equation leaves open which variance, and whether the diagonal, which is always 0, is part of a row. The headline
//! is the population variance with the diagonal; the other readings are given beside it.

use super::{Sums, Vector};
use crate::model::{Entry, Homogeneity};

/// Headline value and the other readings of a matrix over `threads` threads (T of the equation; those beyond the rows
/// and columns with an entry have zeros only).
pub fn homogeneity(crr: &[Entry<f64>], sums: &Sums, threads: usize) -> (f64, Homogeneity) {
    let one_less = threads.saturating_sub(1);
    let (rows, short_rows) = (Deviations::new(&sums.rows, threads), Deviations::new(&sums.rows, one_less));
    let columns = Deviations::new(&sums.columns, threads);
    // One look at the entries for all readings.
    let (mut of_rows, mut of_short_rows, mut of_columns, mut max) = (0.0, 0.0, 0.0, 0.0f64);
    for e in crr {
        of_rows += rows.square(e.writer, e.value);
        of_short_rows += short_rows.square(e.writer, e.value);
        of_columns += columns.square(e.reader, e.value);
        max = max.max(e.value);
    }
    let whole_rows = of_rows + rows.of_zeros;
    let headline = mean(whole_rows, threads, threads);
    // Scaling all entries by s scales variances by s squared.
    let scale = if max > 0.0 { 100.0 / max } else { 0.0 };
    let others = Homogeneity {
        sample: mean(whole_rows, one_less, threads),
        off_diagonal: mean(of_short_rows + short_rows.of_zeros, one_less, threads),
        by_reader: mean(of_columns + columns.of_zeros, threads, threads),
        scaled: headline * scale * scale,
    };
    (headline, others)
}

/// The mean over `threads` vectors of variances, of which the squares are summed.
fn mean(squares: f64, divisor: usize, threads: usize) -> f64 {
    if divisor == 0 { 0.0 } else { squares / divisor as f64 / threads as f64 }
}

/// Deviations from the means of rows or columns of `length` values. The means come first: the difference of mean square
/// and squared mean would cancel.
struct Deviations {
    means: Vec<f64>,
    /// Squares of the deviations of what is zero, over all vectors.
    of_zeros: f64,
}

impl Deviations {
    fn new(vectors: &[Vector], length: usize) -> Self {
        // Without a value there is nothing to divide; the caller divides by the length, too, and gets 0.
        let means: Vec<f64> = vectors.iter().map(|v| v.sum / length.max(1) as f64).collect();
        let zeros = vectors.iter().map(|v| length.saturating_sub(v.entries) as f64);
        let of_zeros = zeros.zip(&means).map(|(zeros, mean)| zeros * mean * mean).sum();
        Self { means, of_zeros }
    }

    fn square(&self, vector: u32, value: f64) -> f64 {
        (value - self.means[vector as usize]).powi(2)
    }
}
