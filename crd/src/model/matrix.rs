//! A sparse square matrix over the threads of a region.

use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};
use std::sync::Arc;

use super::row::{Number, Row};

/// An entry of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<T> {
    /// Index of the writing thread in the region's `threads`.
    pub writer: u32,
    /// Index of the reading thread in the region's `threads`.
    pub reader: u32,
    /// Not zero.
    pub value: T,
}

impl<T> Entry<T> {
    /// Ascends with (writer, reader).
    pub fn place(&self) -> u64 {
        u64::from(self.writer) << 32 | u64::from(self.reader)
    }
}

/// Largest matrix that is serialised densely: 1024 x 1024 zeros are 2 MiB of JSON. A program that creates ten thousand
/// threads one after the other would otherwise have hundreds of megabytes for each matrix of each region.
pub const DENSE_LIMIT: usize = 1024;

/// Rows are writers, columns are readers, both in the order of the region's `threads`; what is not stored is zero.
/// A clone shares the entries.
///
/// Serialises as rows of values up to [`DENSE_LIMIT`] threads, without building the dense matrix, and beyond as
/// `{"size": n, "entries": [[writer, reader, value], ...]}` with indices into `threads`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    size: usize,
    entries: Arc<Vec<Entry<T>>>,
}

impl<T> Default for Matrix<T> {
    fn default() -> Self {
        Self { size: 0, entries: Arc::default() }
    }
}

impl<T: Copy + PartialEq + Default> Matrix<T> {
    /// A matrix of `size` rows and columns.
    ///
    /// # Panics
    /// If the entries are not strictly ascending by (writer, reader) or lie outside.
    pub fn new(size: usize, mut entries: Vec<Entry<T>>) -> Self {
        // One look at each of some million entries.
        let (mut free, mut furthest, mut zeros) = (0u64, 0, 0);
        for e in &entries {
            let place = e.place();
            assert!(place >= free, "entries out of order");
            free = place + 1;
            furthest = furthest.max(e.writer.max(e.reader));
            zeros += usize::from(e.value == T::default());
        }
        assert!(entries.is_empty() || (furthest as usize) < size, "entry outside of the matrix");
        if zeros > 0 {
            entries.retain(|e| e.value != T::default());
        }
        Self { size, entries: Arc::new(entries) }
    }

    /// As [`Matrix::new`], of entries that come in order and from inside: to look at seven million of them once more
    /// is a fortieth of a large report.
    pub(crate) fn of_ordered(size: usize, entries: Vec<Entry<T>>) -> Self {
        debug_assert!(entries.iter().all(|e| e.value != T::default()), "an entry of zero");
        if cfg!(debug_assertions) { Self::new(size, entries) } else { Self { size, entries: Arc::new(entries) } }
    }

    /// Number of rows and of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// True if all entries are zero.
    pub fn is_zero(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries that are not zero, by (writer, reader).
    pub fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// The entries of one row that are not zero.
    pub fn row(&self, writer: usize) -> &[Entry<T>] {
        let start = self.entries.partition_point(|e| (e.writer as usize) < writer);
        let end = self.entries.partition_point(|e| e.writer as usize <= writer);
        &self.entries[start..end]
    }

    /// One entry.
    pub fn get(&self, writer: usize, reader: usize) -> T {
        let row = self.row(writer);
        row.binary_search_by_key(&reader, |e| e.reader as usize).map_or_else(|_| T::default(), |i| row[i].value)
    }

    /// All rows, zeros included: `size * size` values.
    pub fn dense(&self) -> Vec<Vec<T>> {
        let mut rows = vec![vec![T::default(); self.size]; self.size];
        for e in self.entries.iter() {
            rows[e.writer as usize][e.reader as usize] = e.value;
        }
        rows
    }
}

impl Matrix<u64> {
    /// Sum of all entries.
    pub fn sum(&self) -> u64 {
        self.entries.iter().fold(0, |s, e| s.saturating_add(e.value))
    }

    /// Largest entry.
    pub fn max(&self) -> u64 {
        self.entries.iter().map(|e| e.value).max().unwrap_or(0)
    }
}

impl Matrix<f64> {
    /// Largest entry.
    pub fn max(&self) -> f64 {
        self.entries.iter().map(|e| e.value).fold(0.0, f64::max)
    }
}

impl<T: Number> Serialize for Matrix<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let size = self.size;
        if size > DENSE_LIMIT {
            return serialize_sparse(size, self.entries.iter().copied(), serializer);
        }
        let mut rest = &self.entries[..];
        let mut row = Row::new(size);
        let mut rows = serializer.serialize_seq(Some(size))?;
        for writer in 0..size {
            row.fill(take_row(&mut rest, writer));
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

/// Serialises a matrix that is too large for rows.
pub(super) fn serialize_sparse<T: Number, S: Serializer>(
    size: usize,
    entries: impl Iterator<Item = Entry<T>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let triples: Vec<(u32, u32, T)> = entries.map(|e| (e.writer, e.reader, e.value)).collect();
    let mut sparse = serializer.serialize_struct("Matrix", 2)?;
    sparse.serialize_field("size", &size)?;
    sparse.serialize_field("entries", &triples)?;
    sparse.end()
}

/// Takes the entries of a row from those of it and of later ones.
pub(super) fn take_row<'a, T>(rest: &mut &'a [Entry<T>], writer: usize) -> &'a [Entry<T>] {
    let end = rest.iter().position(|e| e.writer as usize != writer).unwrap_or(rest.len());
    let (of_writer, others) = rest.split_at(end);
    *rest = others;
    of_writer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Matrix<u64> {
        let e = |writer, reader, value| Entry { writer, reader, value };
        Matrix::new(3, vec![e(0, 1, 5), e(0, 2, 7), e(1, 0, 0), e(2, 1, 9)])
    }

    #[test]
    fn what_is_stored_is_found_and_the_rest_is_zero() {
        let m = example();
        assert_eq!(m.dense(), [[0, 5, 7], [0, 0, 0], [0, 9, 0]]);
        assert_eq!((m.get(0, 2), m.get(1, 0), m.get(2, 1), m.get(2, 2)), (7, 0, 9, 0));
        assert_eq!((m.sum(), m.max(), m.entries().len()), (21, 9, 3));
    }

    #[test]
    fn it_serialises_as_rows() {
        assert_eq!(serde_json::to_string(&example()).unwrap(), "[[0,5,7],[0,0,0],[0,9,0]]");
        assert_eq!(serde_json::to_string(&Matrix::<u64>::default()).unwrap(), "[]");
    }

    #[test]
    fn a_large_one_serialises_as_what_is_not_zero() {
        let at = |size| Matrix::new(size, vec![Entry { writer: 1, reader: 1000, value: 7u64 }]);
        let large = serde_json::to_string(&at(DENSE_LIMIT + 1)).unwrap();
        assert_eq!(large, r#"{"size":1025,"entries":[[1,1000,7]]}"#);
        assert_eq!(
            serde_json::to_string(&at(DENSE_LIMIT)).unwrap().matches(',').count(),
            DENSE_LIMIT * DENSE_LIMIT - 1
        );
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn unsorted_entries_are_refused() {
        let e = |writer, reader| Entry { writer, reader, value: 1u64 };
        Matrix::new(2, vec![e(1, 0), e(0, 1)]);
    }
}
