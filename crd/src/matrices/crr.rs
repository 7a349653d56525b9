//! Communication reuse ratio (ICPP'18, section 3.4): reuse divided by true communication, element by element.

use super::cells::{Cell, locator};
use crate::model::{Entry, Matrix};

/// The ratio of a pair of threads: 0 for 0 / 0; x for x / 0, when all of it was received in another region.
pub fn ratio(raw: u64, rar: u64) -> f64 {
    rar as f64 / raw.max(1) as f64
}

/// The matrix over `threads` (ascending indices).
pub fn matrix(cells: &[Cell], threads: &[u32]) -> Matrix<f64> {
    let locate = locator(threads);
    let mut entries = Vec::with_capacity(cells.len());
    for c in cells.iter().filter(|c| c.rar > 0) {
        entries.push(Entry { writer: locate(c.writer), reader: locate(c.reader), value: ratio(c.raw, c.rar) });
    }
    Matrix::new(threads.len(), entries)
}

/// Pairs (writer, reader) of thread indices that reuse in this region what they received in another.
pub fn carried_in(cells: &[Cell]) -> impl Iterator<Item = (u32, u32)> + '_ {
    cells.iter().filter(|c| c.raw == 0 && c.rar > 0).map(|c| (c.writer, c.reader))
}
