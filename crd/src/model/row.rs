//! A row of a matrix, for writing.

use serde::ser::{Serialize, Serializer};

use super::matrix::Entry;

/// A number that a serialised matrix may hold.
pub trait Number: Copy + Default + Serialize {
    /// The number, if it is written without a fraction and one byte holds it.
    fn byte(self) -> Option<u8>;
}

/// A row with its zeros, which is written as an array of bytes where all its numbers are that small. JSON has no other
/// form for it than an array of numbers, and who writes it gets the whole row at once: of the thirty million numbers of
/// a large report three quarters are in such rows, and take 16 instructions instead of 44.
pub struct Row<T> {
    bytes: Vec<u8>,
    /// Where bytes are too small.
    numbers: Vec<T>,
    are_bytes: bool,
}

impl<T: Number> Row<T> {
    /// A row of so many numbers.
    pub fn new(size: usize) -> Self {
        Self { bytes: vec![0; size], numbers: vec![T::default(); size], are_bytes: false }
    }

    /// Sets all numbers: those of the entries, and zeros.
    pub fn fill(&mut self, entries: &[Entry<T>]) {
        self.are_bytes = T::default().byte().is_some() && self.fill_bytes(entries);
        if !self.are_bytes {
            self.numbers.fill(T::default());
            entries.iter().for_each(|e| self.numbers[e.reader as usize] = e.value);
        }
    }

    /// False if one of them is no byte.
    fn fill_bytes(&mut self, entries: &[Entry<T>]) -> bool {
        self.bytes.fill(0);
        let set = |e: &Entry<T>| e.value.byte().map(|byte| self.bytes[e.reader as usize] = byte);
        entries.iter().try_for_each(set).is_some()
    }
}

impl<T: Number> Serialize for Row<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.are_bytes { serializer.serialize_bytes(&self.bytes) } else { self.numbers.serialize(serializer) }
    }
}

impl Number for u64 {
    fn byte(self) -> Option<u8> {
        self.try_into().ok()
    }
}

impl Number for i64 {
    fn byte(self) -> Option<u8> {
        self.try_into().ok()
    }
}

impl Number for f64 {
    /// Zero is written as `0.0`.
    fn byte(self) -> Option<u8> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_same<T: Number>(numbers: &[T], row: &mut Row<T>) {
        let entry = |(reader, value): (u32, &T)| Entry { writer: 0, reader, value: *value };
        let entries: Vec<Entry<T>> = (0..).zip(numbers).map(entry).collect();
        row.fill(&entries);
        assert_eq!(serde_json::to_string(&row).unwrap(), serde_json::to_string(numbers).unwrap());
    }

    #[test]
    fn fractions_stay_fractions() {
        assert_same(&[0.0, 0.0], &mut Row::new(2));
        assert_same(&[0.0, 7.0], &mut Row::new(2));
    }

    proptest! {
        #[test]
        fn bytes_are_written_as_numbers(
            rows in prop::collection::vec(prop::array::uniform5(prop_oneof![Just(0), 0..300u64, any::<u64>()]), 0..9)
        ) {
            let (mut counts, mut differences) = (Row::new(5), Row::new(5));
            for row in rows {
                assert_same(&row, &mut counts);
                assert_same(&row.map(|count| count as i64 - 100), &mut differences);
            }
        }
    }
}
