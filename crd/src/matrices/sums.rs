use crate::model::Entry;

/// Sums of the rows and of the columns of a matrix.
pub struct Sums {
    /// By writer.
    pub rows: Vec<Vector>,
    /// By reader.
    pub columns: Vec<Vector>,
}

/// A row or a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector {
    /// Sum of its entries.
    pub sum: f64,
    /// Number of them that are not zero.
    pub entries: usize,
}

impl Sums {
    /// Those of a matrix of `size` rows and columns.
    pub fn of(entries: &[Entry<f64>], size: usize) -> Self {
        let [mut rows, mut columns] = [(); 2].map(|()| vec![Vector::default(); size]);
        for e in entries {
            rows[e.writer as usize].add(e.value);
            columns[e.reader as usize].add(e.value);
        }
        Self { rows, columns }
    }
}

impl Vector {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.entries += 1;
    }
}
