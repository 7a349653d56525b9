//! What a thread's bundles know: see [`threadtalk_abi::bundle`].

use crate::memory;
use core::ptr;
use core::sync::atomic::{Ordering, compiler_fence};
use threadtalk_abi::bundle::{Bundle, MOST_PIECES, PATTERNS, Pattern};
use threadtalk_abi::thread::EventCounter;

/// Cells of a pattern.
const MOST_CELLS: usize = 2 * MOST_PIECES;

/// The patterns of a thread. Places are numbers modulo [`PATTERNS`].
pub struct Patterns {
    table: *mut Pattern,
    counts: *mut Counts,
    /// A bit for each that is somebody's.
    used: u128,
}

const _: () = assert!(PATTERNS == 128, "a bit each");

/// Where a pattern counts.
#[repr(C)]
struct Counts {
    /// [`Pattern::left`] as it was when the counters were told last.
    counted: u64,
    /// How many cells it has.
    cells: usize,
    /// That of each cell. Never null.
    counters: [*mut EventCounter; MOST_CELLS],
}

/// What a pattern will be.
pub struct Known {
    pieces: [u64; MOST_PIECES],
    ended: usize,
    cells: usize,
    counters: [*mut EventCounter; MOST_CELLS],
    /// How many times it may be counted.
    pub granted: u64,
}

impl Known {
    /// Nothing yet.
    pub fn new(granted: u64) -> Self {
        Self { pieces: [0; MOST_PIECES], ended: 0, cells: 0, counters: [ptr::null_mut(); MOST_CELLS], granted }
    }

    /// One more cell, of the present piece, that counts there; in place `state`, the lower half or the upper one.
    pub fn add(&mut self, counter: *mut EventCounter, state: u64) {
        if let (Some(piece), Some(place)) = (self.pieces.get_mut(self.ended), self.counters.get_mut(self.cells)) {
            *piece |= state;
            *place = counter;
            self.cells += 1;
        }
    }

    /// What follows is of the next piece.
    pub fn end_piece(&mut self) {
        self.ended += 1;
    }
}

impl Patterns {
    /// An empty table; `None` without memory.
    pub fn new() -> Option<Self> {
        let table = memory::reserve(PATTERNS * size_of::<Pattern>())?.as_ptr().cast();
        let counts = memory::reserve(PATTERNS * size_of::<Counts>())?.as_ptr().cast();
        Some(Self { table, counts, used: 0 })
    }

    /// For inlined code.
    pub fn table(&self) -> *mut Pattern {
        self.table
    }

    fn at(&mut self, number: u32) -> (&mut Pattern, &mut Counts) {
        let number = number as usize % PATTERNS;
        // SAFETY: below the lengths of the tables, which are this block's and never unmapped.
        unsafe { (&mut *self.table.add(number), &mut *self.counts.add(number)) }
    }

    /// Tells counters what a pattern has counted.
    fn settle_one(&mut self, number: u32) {
        let (pattern, counts) = self.at(number);
        let count = counts.counted.wrapping_sub(pattern.left);
        counts.counted = pattern.left;
        for &counter in counts.counters.iter().take(counts.cells) {
            // SAFETY: counters come from this thread's event cache or are its idle one, mapped for the life of the
            // process.
            unsafe { (*counter).rar = (*counter).rar.wrapping_add(count) };
        }
    }

    /// Tells all counters what was counted.
    pub fn settle(&mut self) {
        let mut rest = self.used;
        while rest != 0 {
            self.settle_one(rest.trailing_zeros());
            rest &= rest - 1;
        }
    }

    /// The same, and no bundle knows anything any more.
    pub fn forget(&mut self) {
        while self.used != 0 {
            self.clear(self.used.trailing_zeros());
        }
    }

    /// Takes a place from whoever has it.
    pub fn clear(&mut self, number: u32) {
        if self.used & bit(number) != 0 {
            self.settle_one(number);
            self.at(number).0.bundle = ptr::null();
            self.used &= !bit(number);
        }
    }

    /// Gives a place, which is nobody's, to a bundle.
    pub fn set(&mut self, number: u32, bundle: &Bundle, known: &Known) {
        self.used |= bit(number);
        let (pattern, counts) = self.at(number);
        *counts = Counts { counted: known.granted, cells: known.cells, counters: known.counters };
        (pattern.cells, pattern.left) = (known.pieces, known.granted);
        // A signal handler that comes before here finds nobody's.
        compiler_fence(Ordering::SeqCst);
        pattern.bundle = bundle;
    }
}

/// The bit of a place.
fn bit(number: u32) -> u128 {
    1 << (number as usize % PATTERNS)
}

#[cfg(test)]
mod tests {
    use super::{Known, Patterns};
    use core::ptr;
    use threadtalk_abi::bundle::{Bundle, Piece};
    use threadtalk_abi::thread::EventCounter;

    #[test]
    fn what_inlined_code_took_counts_for_each_cell_and_once() {
        let mut counters = [10, 20, 30].map(|rar| EventCounter { rar, next: u64::MAX });
        let [x, y, z] = counters.each_mut().map(|counter| &raw mut *counter);
        let pieces = [Piece { site: 0, first: 0, granules: 2 }; 6];
        let bundle = Bundle { bases: ptr::null(), count: 2, salt: 0, pieces };
        let mut known = Known::new(100);
        known.add(x, 7);
        known.add(y, 8 << 32);
        known.end_piece();
        known.add(z, 9);
        known.end_piece();
        let mut patterns = Patterns::new().unwrap();
        patterns.set(130, &bundle, &known);
        // SAFETY: live counters.
        let rar = |counter: *mut EventCounter| unsafe { (*counter).rar };
        // SAFETY: the table of a live block; 130 is place 2.
        let pattern = unsafe { &mut *patterns.table().add(2) };
        assert_eq!((pattern.bundle, pattern.left), (&raw const bundle, 100));
        assert_eq!(pattern.cells[..3], [8 << 32 | 7, 9, 0]);
        pattern.left -= 5;
        patterns.settle();
        patterns.settle();
        assert_eq!([x, y, z].map(rar), [15, 25, 35]);
        pattern.left -= 1;
        // Another bundle takes the place: what was counted is kept.
        patterns.clear(2);
        assert_eq!([x, y, z].map(rar), [16, 26, 36]);
        assert!(pattern.bundle.is_null());
        patterns.settle();
        patterns.forget();
        assert_eq!([x, y, z].map(rar), [16, 26, 36]);
        patterns.set(2, &bundle, &known);
        pattern.left -= 4;
        patterns.forget();
        assert_eq!([x, y, z].map(rar), [20, 30, 40]);
        assert!(pattern.bundle.is_null());
    }
}
