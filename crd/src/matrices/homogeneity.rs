//! Communication reuse homogeneity (ICPP'18, section 3.4.1, equation 1): the mean over the rows of the CRR matrix of the
//! row's variance. 0 = all threads reuse alike.
//!
//! The equation leaves open which variance, and whether the diagonal, which is always 0, is part of a row. The headline
//! is the population variance with the diagonal; the other readings are given beside it.

use crate::model::{Entry, Homogeneity, Matrix};

/// Headline value and the other readings, over `threads` threads (T of the equation; those beyond the
/// matrix's rows and columns with an entry have zeros only).
pub fn homogeneity(crr: &Matrix<f64>, threads: usize) -> (f64, Homogeneity) {
    let rows = Vectors::of(crr, |e| e.writer);
    let columns = Vectors::of(crr, |e| e.reader);
    let headline = rows.mean_variance(threads, threads, threads);
    let max = crr.max();
    // Scaling all entries by s scales variances by s squared.
    let scale = if max > 0.0 { 100.0 / max } else { 0.0 };
    let others = Homogeneity {
        sample: rows.mean_variance(threads, threads, threads.saturating_sub(1)),
        off_diagonal: rows.mean_variance(threads, threads.saturating_sub(1), threads.saturating_sub(1)),
        by_reader: columns.mean_variance(threads, threads, threads),
        scaled: headline * scale * scale,
    };
    (headline, others)
}

/// Rows or columns: the entries of each that are not zero.
struct Vectors {
    values: Vec<Vec<f64>>,
}

impl Vectors {
    fn of(matrix: &Matrix<f64>, vector: impl Fn(&Entry<f64>) -> u32) -> Self {
        let mut values = vec![Vec::new(); matrix.size()];
        for e in matrix.entries() {
            values[vector(e) as usize].push(e.value);
        }
        Self { values }
    }

    /// Mean over `threads` vectors of the sum of squared deviations of `length` values divided by `divisor`.
    fn mean_variance(&self, threads: usize, length: usize, divisor: usize) -> f64 {
        if threads == 0 || divisor == 0 {
            return 0.0;
        }
        let variances = self.values.iter().filter(|v| !v.is_empty()).map(|v| squares(v, length) / divisor as f64);
        variances.sum::<f64>() / threads as f64
    }
}

/// Sum of squared deviations from the mean of `length` values, all zero but `values`. Two passes: the
/// difference of mean square and squared mean would cancel.
fn squares(values: &[f64], length: usize) -> f64 {
    let mean = values.iter().sum::<f64>() / length as f64;
    let zeros = (length - values.len().min(length)) as f64;
    values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() + zeros * mean * mean
}
