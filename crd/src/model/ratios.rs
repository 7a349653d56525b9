//! The ratios of two matrices, without the memory of a third.

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::matrix::{DENSE_LIMIT, Entry, Matrix, serialize_sparse, take_row};

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
        let size = self.size();
        if size > DENSE_LIMIT {
            return serialize_sparse(size, self.entries(), serializer);
        }
        let (mut raw, mut rar) = (self.raw.entries(), self.rar.entries());
        // What a row has received is found by its place: entries of two lists that are merged take three times as long.
        let (mut received, mut ratios) = (vec![0; size], vec![0.0; size]);
        let mut rows = serializer.serialize_seq(Some(size))?;
        for writer in 0..size {
            received.fill(0);
            ratios.fill(0.0);
            take_row(&mut raw, writer).iter().for_each(|e| received[e.reader as usize] = e.value);
            for reuse in take_row(&mut rar, writer) {
                let reader = reuse.reader as usize;
                ratios[reader] = ratio(received[reader], reuse.value);
            }
            rows.serialize_element(&ratios)?;
        }
        rows.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const SIZE: usize = 5;

    #[test]
    fn ratios_of_many_threads_are_those_that_are_not_zero() {
        let at = |value| Matrix::new(DENSE_LIMIT + 1, vec![Entry { writer: 1, reader: 1000, value }]);
        let text = serde_json::to_string(&Ratios::new(at(2), at(3))).unwrap();
        assert_eq!(text, r#"{"size":1025,"entries":[[1,1000,1.5]]}"#);
    }

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
