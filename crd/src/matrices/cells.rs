//! Sparse matrices of events: own ones of a region from its events, and those with all regions inside by addition.

use threadtalk_profile::Event;

use crate::model::{Entry, Matrix, is_carried_in, ratio};

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
}

/// The cells of a region. Few events are others than plain ones: a cell with counters for all kinds would be 56 bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// All events, by (writer, reader).
    pub all: Vec<Cell>,
    /// Those whose read is atomic.
    pub sync: Vec<Cell>,
    /// Those of data written while one thread existed.
    pub serial: Vec<Cell>,
}

impl Cell {
    fn key(&self) -> (u32, u32) {
        (self.writer, self.reader)
    }

    /// Counters of a damaged file may be anything: sums end at the largest number.
    fn add(&mut self, other: &Self) {
        self.raw = self.raw.saturating_add(other.raw);
        self.rar = self.rar.saturating_add(other.rar);
    }
}

impl Cells {
    /// The cells of a region's own events; all `threads` that occur, as indices, ascending.
    pub fn own(events: &[Event], index: impl Fn(u32) -> u32, threads: &[u32], scratch: &mut Scratch) -> Self {
        let cell = |e: &Event| Cell { writer: index(e.writer), reader: index(e.reader), raw: e.raw, rar: e.rar };
        // Seen on the way: most regions have neither, and a million events are 48 MB to go through.
        let (mut has_sync, mut has_serial) = (false, false);
        let seen = events.iter().map(|e| {
            has_sync |= e.is_sync();
            has_serial |= e.is_serial();
            cell(e)
        });
        let all = scratch.sum(seen, events.len(), threads);
        let mut of = |is_any: bool, wanted: fn(&Event) -> bool| {
            if !is_any {
                return Vec::new();
            }
            let chosen: Vec<Cell> = events.iter().filter(|e| wanted(e)).map(cell).collect();
            scratch.sum(chosen.iter().copied(), chosen.len(), threads)
        };
        Self { all, sync: of(has_sync, Event::is_sync), serial: of(has_serial, Event::is_serial) }
    }

    /// The sum of several; all `threads` that occur, ascending.
    pub fn sum(parts: &[&Self], threads: &[u32], scratch: &mut Scratch) -> Self {
        let mut of = |kind: fn(&Self) -> &Vec<Cell>| {
            let lists = || parts.iter().flat_map(|part| kind(part)).copied();
            match parts.iter().map(|part| kind(part).len()).sum() {
                0 => Vec::new(),
                number => scratch.sum(lists(), number, threads),
            }
        };
        Self { all: of(|c| &c.all), sync: of(|c| &c.sync), serial: of(|c| &c.serial) }
    }

    /// What [`crate::model::Ratios::entries`] finds for matrices over `threads`. Here both counts lie side by side,
    /// there they are looked for in two lists.
    pub fn ratios<'a>(&'a self, threads: &'a [u32]) -> impl Iterator<Item = Entry<f64>> + 'a {
        let locate = locator(threads);
        let entry =
            move |c: &Cell| Entry { writer: locate(c.writer), reader: locate(c.reader), value: ratio(c.raw, c.rar) };
        self.all.iter().filter(|c| c.rar > 0).map(entry)
    }

    /// Pairs (writer, reader) of thread indices that reuse in this region what they received in another.
    pub fn carried_in(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.all.iter().filter(|c| is_carried_in(c.raw, c.rar)).map(Cell::key)
    }
}

/// Places of a dense matrix for each entry, up to which it is cheaper than sorting: to look at a place takes 10
/// instructions, and an entry of a thousand 250 to be sorted.
const DENSE: usize = 16;

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
    /// Position of each thread of the present addition among them.
    position: Vec<u32>,
    /// A dense matrix; all zero between additions.
    dense: Vec<Cell>,
    /// Lists that nobody needs any more. Sums of a thousand regions in new memory each were two fifths of all pages
    /// that a report touched.
    free: Vec<Vec<Cell>>,
}

impl Scratch {
    /// For threads with indices below `threads`.
    pub fn new(threads: usize) -> Self {
        Self { position: vec![0; threads], dense: Vec::new(), free: Vec::new() }
    }

    /// Takes cells whose memory later additions may use.
    pub fn give_back(&mut self, cells: Cells) {
        self.free.extend([cells.all, cells.sync, cells.serial].into_iter().filter(|list| list.capacity() > 0));
    }

    /// Adds up what has the same place, of so many `entries` in any order between `threads`. Where threads are many
    /// and each talks to a few, as thousands may, sorting is cheaper than a dense matrix.
    fn sum(&mut self, cells: impl Iterator<Item = Cell>, entries: usize, threads: &[u32]) -> Vec<Cell> {
        if threads.len() * threads.len() <= DENSE * entries {
            return self.sum_dense(cells, threads);
        }
        let mut all = self.empty(entries);
        all.extend(cells);
        fold(&mut all);
        all
    }

    /// An empty list with room for so many.
    fn empty(&mut self, room: usize) -> Vec<Cell> {
        let mut list = self.free.pop().unwrap_or_default();
        list.clear();
        list.reserve_exact(room);
        list
    }

    /// Adds into a dense matrix over the threads.
    fn sum_dense(&mut self, cells: impl Iterator<Item = Cell>, threads: &[u32]) -> Vec<Cell> {
        let size = threads.len();
        for (position, thread) in (0..).zip(threads) {
            self.position[*thread as usize] = position;
        }
        if self.dense.len() < size * size {
            self.dense.resize(size * size, Cell::default());
        }
        let dense = &mut self.dense[..size * size];
        cells.for_each(|cell| {
            let row = self.position[cell.writer as usize] as usize;
            let sum = &mut dense[row * size + self.position[cell.reader as usize] as usize];
            (sum.writer, sum.reader) = cell.key();
            sum.add(&cell);
        });
        let has_events = |c: &Cell| c.raw > 0 || c.rar > 0;
        let occupied = dense.iter().filter(|c| has_events(c)).count();
        let mut sums = self.empty(occupied);
        sums.extend(self.dense[..size * size].iter_mut().map(std::mem::take).filter(has_events));
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
    pub fn of(cells: &Cells, threads: &[u32]) -> Self {
        let [raw, rar] = pair(&cells.all, threads);
        let [sync_raw, sync_rar] = pair(&cells.sync, threads);
        let [serial_raw, serial_rar] = pair(&cells.serial, threads);
        Self { raw, rar, sync_raw, sync_rar, serial_raw, serial_rar }
    }
}

/// True communication and reuse.
fn pair(cells: &[Cell], threads: &[u32]) -> [Matrix<u64>; 2] {
    let locate = locator(threads);
    // Most cells have events of both kinds.
    let [mut raw, mut rar] = [(); 2].map(|()| Vec::with_capacity(cells.len()));
    for c in cells {
        let (writer, reader) = (locate(c.writer), locate(c.reader));
        for (entries, value) in [(&mut raw, c.raw), (&mut rar, c.rar)] {
            if value > 0 {
                entries.push(Entry { writer, reader, value });
            }
        }
    }
    [raw, rar].map(|entries| Matrix::of_ordered(threads.len(), entries))
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
    use crate::model::Ratios;

    fn cell(writer: u32, reader: u32, raw: u64, rar: u64) -> Cell {
        Cell { writer, reader, raw, rar }
    }

    #[test]
    fn dense_and_sparse_addition_agree() {
        let a = [cell(0, 1, 1, 2), cell(0, 5, 3, 0), cell(5, 0, 1, 1)];
        let b = [cell(0, 5, 4, 1), cell(1, 0, 7, 7), cell(5, 0, u64::MAX, 0)];
        let mut scratch = Scratch::new(10);
        let expected = [cell(0, 1, 1, 2), cell(0, 5, 7, 1), cell(1, 0, 7, 7), cell(5, 0, u64::MAX, 1)];
        let mut sparse = [a, b].concat();
        assert_eq!(scratch.sum_dense(sparse.iter().copied(), &[0, 1, 5]), expected);
        fold(&mut sparse);
        assert_eq!(sparse, expected);
        // Ten threads that talk in pairs are not worth a dense matrix; the scratch memory is clean.
        let pairs = [8, 6, 4, 2, 0].map(|writer| cell(writer, writer + 1, 1, 1));
        let threads: Vec<u32> = (0..10).collect();
        let mut sorted = pairs;
        sorted.reverse();
        assert_eq!(scratch.sum(pairs.into_iter(), pairs.len(), &threads), sorted);
        assert_eq!(scratch.sum_dense(pairs.into_iter(), &threads), sorted);
    }

    #[test]
    fn ratios_are_those_of_the_matrices() {
        let all = vec![cell(3, 4, 5, 0), cell(3, 7, 5, 2), cell(7, 3, 0, 2), cell(7, 4, 3, 9)];
        let (cells, threads) = (Cells { all, ..Cells::default() }, [2, 3, 4, 7]);
        let m = Matrices::of(&cells, &threads);
        let expected: Vec<_> = Ratios::new(m.raw, m.rar).entries().collect();
        assert_eq!(cells.ratios(&threads).collect::<Vec<_>>(), expected);
        assert_eq!(expected.len(), 3);
    }

    #[test]
    fn a_matrix_is_over_the_threads_of_its_region() {
        let cells = Cells { all: vec![cell(3, 7, 5, 0), cell(7, 3, 0, 2)], ..Cells::default() };
        let m = Matrices::of(&cells, &[3, 4, 7]);
        assert_eq!(m.rar.dense(), [[0, 0, 0], [0, 0, 0], [2, 0, 0]]);
        assert!(m.sync_raw.is_zero());
        assert_eq!(m.raw.dense(), [[0, 0, 5], [0, 0, 0], [0, 0, 0]]);
    }
}
