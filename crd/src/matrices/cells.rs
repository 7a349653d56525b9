//! Sparse matrices of events: own ones of a region from its events, and those with all regions inside by addition.

use threadtalk_profile::Event;

use crate::model::{Entry, Matrix};

/// Events from one thread to another in one region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Index of the writing thread.
    pub writer: u32,
    /// Index of the reading thread.
    pub reader: u32,
    /// True communication.
    pub raw: u64,
    /// Reuse.
    pub rar: u64,
    /// Of `raw`, those whose read is atomic.
    pub sync_raw: u64,
    /// Of `rar`, those whose read is atomic.
    pub sync_rar: u64,
    /// Of `raw`, those of data written while one thread existed.
    pub serial_raw: u64,
    /// Of `rar`, those of data written while one thread existed.
    pub serial_rar: u64,
}

impl Cell {
    fn key(&self) -> (u32, u32) {
        (self.writer, self.reader)
    }

    fn of(event: &Event, index: impl Fn(u32) -> u32) -> Self {
        let only = |condition: bool, count: u64| if condition { count } else { 0 };
        Self {
            writer: index(event.writer),
            reader: index(event.reader),
            raw: event.raw,
            rar: event.rar,
            sync_raw: only(event.is_sync(), event.raw),
            sync_rar: only(event.is_sync(), event.rar),
            serial_raw: only(event.is_serial(), event.raw),
            serial_rar: only(event.is_serial(), event.rar),
        }
    }

    /// Counters of a damaged file may be anything: sums end at the largest number.
    fn add(&mut self, other: &Self) {
        self.raw = self.raw.saturating_add(other.raw);
        self.rar = self.rar.saturating_add(other.rar);
        self.sync_raw = self.sync_raw.saturating_add(other.sync_raw);
        self.sync_rar = self.sync_rar.saturating_add(other.sync_rar);
        self.serial_raw = self.serial_raw.saturating_add(other.serial_raw);
        self.serial_rar = self.serial_rar.saturating_add(other.serial_rar);
    }
}

/// The cells of a region's own events, by (writer, reader).
pub fn own(events: &[Event], index: impl Fn(u32) -> u32, scratch: &mut Scratch) -> Vec<Cell> {
    scratch.sum(events.iter().map(|e| Cell::of(e, &index)), events.len())
}

/// The sum of sparse matrices, by (writer, reader).
pub fn sum(lists: &[&[Cell]], scratch: &mut Scratch) -> Vec<Cell> {
    match lists {
        [] => Vec::new(),
        [one] => one.to_vec(),
        _ => scratch.sum(lists.iter().copied().flatten().copied(), lists.iter().map(|l| l.len()).sum()),
    }
}

/// Pairs (writer, reader) of thread indices that reuse in this region what they received in another.
pub fn carried_in(cells: &[Cell]) -> impl Iterator<Item = (u32, u32)> + '_ {
    cells.iter().filter(|c| c.raw == 0 && c.rar > 0).map(|c| (c.writer, c.reader))
}

/// Sorts and adds up what has the same place.
fn fold(cells: &mut Vec<Cell>) {
    cells.sort_unstable_by_key(Cell::key);
    cells.dedup_by(|next, kept| {
        let same = next.key() == kept.key();
        if same {
            kept.add(next);
        }
        same
    });
}

/// Memory that additions use again.
pub struct Scratch {
    /// Position of each thread among those of the present addition.
    position: Vec<u32>,
    /// A dense matrix; all zero between additions.
    dense: Vec<Cell>,
}

impl Scratch {
    /// For threads with indices below `threads`.
    pub fn new(threads: usize) -> Self {
        Self { position: vec![u32::MAX; threads], dense: Vec::new() }
    }

    /// Adds up what has the same place, of so many `entries` in any order.
    fn sum(&mut self, cells: impl Iterator<Item = Cell> + Clone, entries: usize) -> Vec<Cell> {
        self.sum_dense(cells.clone(), entries).unwrap_or_else(|| {
            let mut all: Vec<Cell> = cells.collect();
            fold(&mut all);
            all
        })
    }

    /// Adds into a dense matrix over the threads that occur; none where sorting is cheaper, as for
    /// thousands of threads of which each talks to a few.
    fn sum_dense(&mut self, cells: impl Iterator<Item = Cell> + Clone, entries: usize) -> Option<Vec<Cell>> {
        let mut threads: Vec<u32> = Vec::new();
        for cell in cells.clone() {
            for thread in [cell.writer, cell.reader] {
                if self.position[thread as usize] == u32::MAX {
                    self.position[thread as usize] = 0;
                    threads.push(thread);
                }
            }
        }
        threads.sort_unstable();
        let size = threads.len();
        let is_dense = size * size <= 4 * entries;
        let sums = is_dense.then(|| {
            for (position, thread) in (0..).zip(&threads) {
                self.position[*thread as usize] = position;
            }
            if self.dense.len() < size * size {
                self.dense.resize(size * size, Cell::default());
            }
            let dense = &mut self.dense[..size * size];
            for cell in cells {
                let row = self.position[cell.writer as usize] as usize;
                let sum = &mut dense[row * size + self.position[cell.reader as usize] as usize];
                (sum.writer, sum.reader) = cell.key();
                sum.add(&cell);
            }
            let has_events = |c: &Cell| c.raw > 0 || c.rar > 0;
            let mut sums = Vec::with_capacity(dense.iter().filter(|c| has_events(c)).count());
            sums.extend(dense.iter_mut().map(std::mem::take).filter(has_events));
            sums
        });
        threads.iter().for_each(|t| self.position[*t as usize] = u32::MAX);
        sums
    }
}

/// One matrix for each count of a cell.
#[derive(Clone)]
pub struct Matrices {
    pub raw: Matrix<u64>,
    pub rar: Matrix<u64>,
    pub sync_raw: Matrix<u64>,
    pub sync_rar: Matrix<u64>,
    pub serial_raw: Matrix<u64>,
    pub serial_rar: Matrix<u64>,
}

impl Matrices {
    /// The matrices over some threads: ascending indices that include all that occur.
    pub fn of(cells: &[Cell], threads: &[u32]) -> Self {
        let locate = locator(threads);
        // Most cells have events of both kinds, few have others than plain ones.
        let [mut raw, mut rar] = [(); 2].map(|()| Vec::with_capacity(cells.len()));
        let [mut sync_raw, mut sync_rar, mut serial_raw, mut serial_rar] = [(); 4].map(|()| Vec::new());
        for c in cells {
            let (writer, reader) = (locate(c.writer), locate(c.reader));
            let add = |entries: &mut Vec<Entry<u64>>, value: u64| {
                if value > 0 {
                    entries.push(Entry { writer, reader, value });
                }
            };
            add(&mut raw, c.raw);
            add(&mut rar, c.rar);
            add(&mut sync_raw, c.sync_raw);
            add(&mut sync_rar, c.sync_rar);
            add(&mut serial_raw, c.serial_raw);
            add(&mut serial_rar, c.serial_rar);
        }
        let matrix = |entries| Matrix::new(threads.len(), entries);
        Self {
            raw: matrix(raw),
            rar: matrix(rar),
            sync_raw: matrix(sync_raw),
            sync_rar: matrix(sync_rar),
            serial_raw: matrix(serial_raw),
            serial_rar: matrix(serial_rar),
        }
    }
}

/// Where in an ascending list of threads each is.
pub fn locator(threads: &[u32]) -> impl Fn(u32) -> u32 + '_ {
    // Most often the list is 0, 1, 2...
    move |thread| match threads.get(thread as usize) {
        Some(same) if *same == thread => thread,
        _ => threads.partition_point(|t| *t < thread) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(writer: u32, reader: u32, raw: u64, rar: u64) -> Cell {
        Cell { writer, reader, raw, rar, ..Cell::default() }
    }

    #[test]
    fn dense_and_sparse_addition_agree() {
        let a = [cell(0, 1, 1, 2), cell(0, 5, 3, 0), cell(5, 0, 1, 1)];
        let b = [cell(0, 5, 4, 1), cell(1, 0, 7, 7), cell(5, 0, u64::MAX, 0)];
        let mut scratch = Scratch::new(6);
        let expected = [cell(0, 1, 1, 2), cell(0, 5, 7, 1), cell(1, 0, 7, 7), cell(5, 0, u64::MAX, 1)];
        let mut sparse = [a, b].concat();
        assert_eq!(scratch.sum_dense(sparse.iter().copied(), 6).unwrap(), expected);
        fold(&mut sparse);
        assert_eq!(sparse, expected);
        // Three threads with a single cell are not worth a dense matrix; the scratch memory is clean again.
        assert!(scratch.sum_dense([cell(0, 1, 1, 1), cell(2, 3, 1, 1)].into_iter(), 2).is_none());
        assert!(scratch.position.iter().all(|p| *p == u32::MAX));
    }

    #[test]
    fn a_matrix_is_over_the_threads_of_its_region() {
        let m = Matrices::of(&[cell(3, 7, 5, 0), cell(7, 3, 0, 2)], &[3, 4, 7]);
        assert_eq!(m.rar.dense(), [[0, 0, 0], [0, 0, 0], [2, 0, 0]]);
        assert!(m.sync_raw.is_zero());
        assert_eq!(m.raw.dense(), [[0, 0, 5], [0, 0, 0], [0, 0, 0]]);
    }
}
