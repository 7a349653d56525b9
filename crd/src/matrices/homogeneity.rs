//! Communication reuse homogeneity (ICPP'18, section 3.4.1, equation 1): the mean over the rows of the CRR matrix of
//! the row's variance. 0 = all threads reuse alike.
//!
//! The equation leaves open which variance, and whether the diagonal, which is always 0, is part of a row. The headline
//! is the population variance with the diagonal; the other readings are given beside it.

use crate::model::{Entry, Homogeneity};

/// Headline value and the other readings of a matrix of `size` rows and columns, over `threads` threads (T of the
/// equation; those beyond the rows and columns with an entry have zeros only).
pub fn homogeneity(crr: &[Entry<f64>], size: usize, threads: usize) -> (f64, Homogeneity) {
    let one_less = threads.saturating_sub(1);
    let rows = |length| squares(crr, size, |e| e.writer, length);
    let whole_rows = rows(threads);
    let headline = mean(whole_rows, threads, threads);
    let max = crr.iter().map(|e| e.value).fold(0.0, f64::max);
    // Scaling all entries by s scales variances by s squared.
    let scale = if max > 0.0 { 100.0 / max } else { 0.0 };
    let others = Homogeneity {
        sample: mean(whole_rows, one_less, threads),
        off_diagonal: mean(rows(one_less), one_less, threads),
        by_reader: mean(squares(crr, size, |e| e.reader, threads), threads, threads),
        scaled: headline * scale * scale,
    };
    (headline, others)
}

/// The mean over `threads` vectors of variances, of which the squares are summed.
fn mean(squares: f64, divisor: usize, threads: usize) -> f64 {
    if divisor == 0 { 0.0 } else { squares / divisor as f64 / threads as f64 }
}

/// Squared deviations from the mean of `length` values, summed over all rows or columns (`vector`). Two passes: the
/// difference of mean square and squared mean would cancel.
fn squares(crr: &[Entry<f64>], size: usize, vector: impl Fn(&Entry<f64>) -> u32, length: usize) -> f64 {
    if length == 0 {
        return 0.0;
    }
    // Of each vector: its mean, and the number of its zeros.
    let mut vectors = vec![(0.0, length); size];
    for e in crr {
        let (sum, zeros) = &mut vectors[vector(e) as usize];
        *sum += e.value;
        *zeros = zeros.saturating_sub(1);
    }
    vectors.iter_mut().for_each(|(sum, _)| *sum /= length as f64);
    let of_entries = crr.iter().map(|e| (e.value - vectors[vector(e) as usize].0).powi(2));
    let of_zeros = vectors.iter().map(|(mean, zeros)| *zeros as f64 * mean * mean);
    of_entries.sum::<f64>() + of_zeros.sum::<f64>()
}
