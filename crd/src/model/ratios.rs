//! The ratios of two matrices, without the memory of a third.

use serde::ser::{Serialize, Serializer};

use super::matrix::{self, Entry, Matrix};

/// The communication reuse ratio (ICPP'18, section 3.4): reuse divided by true communication, element by element.
///
/// 0 for 0 / 0; x for x / 0, when all of it was received in another region. Holds what it is computed from, which the
/// region's matrices hold anyway. Serialises as the [`Matrix`] of the ratios.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratios {
    raw: Matrix<u64>,
    rar: Matrix<u64>,
}

impl Ratios {
    /// `rar` / `raw`.
    ///
    /// # Panics
    /// If the matrices are not of one size.
    pub fn new(raw: Matrix<u64>, rar: Matrix<u64>) -> Self {
        assert_eq!(raw.size(), rar.size(), "ratios of matrices of different sizes");
        Self { raw, rar }
    }

    /// Number of rows and of columns.
    pub fn size(&self) -> usize {
        self.rar.size()
    }

    /// One entry.
    pub fn get(&self, writer: usize, reader: usize) -> f64 {
        ratio(self.raw.get(writer, reader), self.rar.get(writer, reader))
    }

    /// The entries that are not zero, by (writer, reader).
    pub fn entries(&self) -> impl Iterator<Item = Entry<f64>> + '_ {
        let mut raw = self.raw.entries();
        self.rar.entries().iter().map(move |reuse| {
            let place = reuse.place();
            while let [before, rest @ ..] = raw
                && before.place() < place
            {
                raw = rest;
            }
            let received = raw.first().filter(|e| e.place() == place).map_or(0, |e| e.value);
            Entry { writer: reuse.writer, reader: reuse.reader, value: ratio(received, reuse.value) }
        })
    }

    /// The ratios as a matrix of their own.
    pub fn matrix(&self) -> Matrix<f64> {
        Matrix::new(self.size(), self.entries().collect())
    }
}

/// The ratio of one element.
#[inline]
pub fn ratio(raw: u64, rar: u64) -> f64 {
    rar as f64 / raw.max(1) as f64
}

/// Whether a thread reuses here only what it received in another region.
pub fn is_carried_in(raw: u64, rar: u64) -> bool {
    raw == 0 && rar > 0
}

impl Serialize for Ratios {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        matrix::serialize(self.size(), &self.entries().collect::<Vec<_>>(), serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const SIZE: usize = 5;

    fn some_matrix() -> impl Strategy<Value = Matrix<u64>> {
        prop::collection::btree_map((0..SIZE as u32, 0..SIZE as u32), 0..9u64, 0..20).prop_map(
            |places: BTreeMap<(u32, u32), u64>| {
                let entry = |((writer, reader), value)| Entry { writer, reader, value };
                Matrix::new(SIZE, places.into_iter().map(entry).collect())
            },
        )
    }

    proptest! {
        #[test]
        fn each_entry_is_divided_by_its_own(raw in some_matrix(), rar in some_matrix()) {
            let ratios = Ratios::new(raw.clone(), rar.clone());
            let matrix = ratios.matrix();
            for writer in 0..SIZE {
                for reader in 0..SIZE {
                    let expected = match (raw.get(writer, reader), rar.get(writer, reader)) {
                        (0, reuse) => reuse as f64,
                        (received, reuse) => reuse as f64 / received as f64,
                    };
                    prop_assert_eq!(matrix.get(writer, reader), expected);
                    prop_assert_eq!(ratios.get(writer, reader), expected);
                }
            }
            prop_assert_eq!(serde_json::to_string(&ratios).unwrap(), serde_json::to_string(&matrix).unwrap());
        }
    }
}
