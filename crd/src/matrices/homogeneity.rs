//! Communication reuse homogeneity (ICPP'18, section 3.4.1, equation 1): the mean over the rows of the CRR matrix of
//! the row's variance. 0 = all threads reuse alike.
//!
//! The equation leaves open which variance, and whether the diagonal, which is always 0, is part of a row. The headline
//! is the population variance with the diagonal; the other readings are given beside it.

use crate::model::{Entry, Homogeneity, Matrix};

/// Headline value and the other readings, over `threads` threads (T of the equation; those beyond the
/// matrix's rows and columns with an entry have zeros only).
pub fn homogeneity(crr: &Matrix<f64>, threads: usize) -> (f64, Homogeneity) {
    let rows = |length, divisor| mean_variance(crr, |e| e.writer, threads, length, divisor);
    let columns = mean_variance(crr, |e| e.reader, threads, threads, threads);
    let one_less = threads.saturating_sub(1);
    let headline = rows(threads, threads);
    let max = crr.max();
    // Scaling all entries by s scales variances by s squared.
    let scale = if max > 0.0 { 100.0 / max } else { 0.0 };
    let others = Homogeneity {
        sample: rows(threads, one_less),
        off_diagonal: rows(one_less, one_less),
        by_reader: columns,
        scaled: headline * scale * scale,
    };
    (headline, others)
}

/// Mean over `threads` rows or columns (`vector`) of: squared deviations from the mean of `length` values, summed and
/// divided by `divisor`. Two passes: the difference of mean square and squared mean would cancel.
fn mean_variance(
    crr: &Matrix<f64>,
    vector: impl Fn(&Entry<f64>) -> u32,
    threads: usize,
    length: usize,
    divisor: usize,
) -> f64 {
    if threads == 0 || divisor == 0 {
        return 0.0;
    }
    // Of each vector: its mean, and the number of its zeros.
    let mut vectors = vec![(0.0, length); crr.size()];
    for e in crr.entries() {
        let (mean, zeros) = &mut vectors[vector(e) as usize];
        *mean += e.value / length as f64;
        *zeros = zeros.saturating_sub(1);
    }
    let of_entries = crr.entries().iter().map(|e| (e.value - vectors[vector(e) as usize].0).powi(2));
    let of_zeros = vectors.iter().map(|(mean, zeros)| *zeros as f64 * mean * mean);
    (of_entries.sum::<f64>() + of_zeros.sum::<f64>()) / divisor as f64 / threads as f64
}
