//! Open values: their readers keep to themselves that they have read them.
//!
//! A state for each set of readers costs each reader an exchange of the cell. That is cheap where sets come again and
//! the readers of a line are done with it one after the other. Where many threads read at random, each exchange finds
//! its line changed by somebody else, and hardly any set is met twice. Of an *open* value the cell only says who wrote
//! it; each reader sets a bit in memory of its own, which nobody else writes. Who reads it once more is *listed* in the
//! name, if there is a bit for it, so that further reads are settled by the name alone as ever.
//!
//! Values are opened by lines of cells. Each opening gives the line a new number, and a thread's bits are those of one
//! number. So nobody needs to take bits back: what is open now was opened by the last opening, as a line with an open
//! value is not opened again; and who writes puts a plain name there.

use crate::composed::{self, FIRST_OPEN};
use crate::fresh::FreshId;
use crate::marks::mark;
use crate::neighbours;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use crate::states::{State, States};
use threadtalk_abi::cell::{NONE, SHARED};

/// Cells of a line.
pub const LINE: usize = if cfg!(loom) { 2 } else { 16 };
const CELL: usize = size_of::<AtomicU32>();

/// Whether a name, marked or not, is of an open value.
#[inline(always)]
pub fn is_open(name: u32) -> bool {
    name & SHARED != 0 && composed::number(name) >= FIRST_OPEN
}

/// The name of an open value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenName(u32);

impl OpenName {
    /// `None`: the name, marked or not, is of no open value.
    #[inline(always)]
    pub fn of(name: u32) -> Option<Self> {
        is_open(name).then_some(Self(name))
    }

    /// The value's name that lists nobody.
    #[inline(always)]
    pub fn value(self) -> u32 {
        composed::name(composed::number(self.0), 0)
    }

    /// Bits of those who are listed.
    #[inline(always)]
    pub fn listed(self) -> u32 {
        composed::readers(self.0)
    }

    /// The name that lists these as well, not marked.
    #[inline(always)]
    pub fn listing(self, bits: u32) -> u32 {
        composed::name(composed::number(self.0), self.listed() | bits)
    }
}

/// The lines of cells whose values may be opened.
#[derive(Clone, Copy)]
pub struct Lines {
    first: *const AtomicU32,
    lines: usize,
    numbers: *const AtomicU32,
}

// SAFETY: cells and numbers are atomics that live as long as the lines (contract of `new`).
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

impl Lines {
    /// No lines: nothing is opened.
    pub const NONE: Self = Self { first: core::ptr::null(), lines: 0, numbers: core::ptr::null() };

    /// # Safety
    /// `first` points to `lines` times [`LINE`] cells, `numbers` to a zeroed number for each line and one more, which
    /// nobody else writes. All live as long as the lines and their users.
    pub unsafe fn new(first: *const AtomicU32, lines: usize, numbers: *const AtomicU32) -> Self {
        Self { first, lines, numbers }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.lines
    }

    /// See [`Lines::NONE`].
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// Line and place in it of a cell.
    #[inline(always)]
    fn place(&self, cell: *const AtomicU32) -> Option<(usize, usize)> {
        let at = cell.addr().wrapping_sub(self.first.addr()) / CELL;
        (at / LINE < self.lines).then_some((at / LINE, at % LINE))
    }

    /// How often a line was opened, twice; odd while somebody does it.
    #[inline(always)]
    fn number(&self, line: usize) -> &AtomicU32 {
        debug_assert!(line <= self.lines);
        // SAFETY: lines come from `place`; behind the last one there is one more.
        unsafe { &*self.numbers.add(line) }
    }

    /// Behind the numbers: not 0 if anything was ever opened.
    fn used(&self) -> &AtomicU32 {
        self.number(self.lines)
    }

    /// Whether anything was ever opened.
    pub fn are_used(&self) -> bool {
        !self.is_empty() && self.used().load(Ordering::Relaxed) != 0
    }

    fn cells(&self, line: usize) -> &[AtomicU32; LINE] {
        debug_assert!(line < self.lines);
        // SAFETY: below the number of lines.
        unsafe { &*self.first.add(line * LINE).cast() }
    }

    /// Opens all values in the line of a cell that can be, on behalf of a thread that reads one of them. `false`: some
    /// are open already, or somebody else is at it.
    pub fn open(&self, states: &States, cell: &AtomicU32, thread: u32) -> bool {
        let Some((line, _)) = self.place(cell) else { return false };
        let (cells, number) = (self.cells(line), self.number(line));
        let are_closed = || cells.iter().all(|cell| !is_open(cell.load(Ordering::Relaxed)));
        // Acquire: partner is the store below, of who opened it before: all that is still open is seen.
        let before = number.load(Ordering::Acquire);
        // The last numbers are never given, so that none comes again.
        if !before.is_multiple_of(2) || before >= u32::MAX - 3 || !are_closed() {
            return false;
        }
        // Relaxed: who finds a cell exchanged below, which is a Release, finds this number or a later one.
        if number.compare_exchange(before, before + 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        self.used().store(1, Ordering::Relaxed);
        let mut at = 0;
        while let Some(rest @ [first, ..]) = cells.get(at..) {
            // Acquire: as in `View::read`.
            let from = first.load(Ordering::Acquire);
            let to = opened(states, from, thread);
            at += to.map_or(0, |to| neighbours::exchange(rest, from, to, false)).max(1);
        }
        // Release: partner is the load above.
        number.store(before + 2, Ordering::Release);
        true
    }
}

/// The name of an open value for one that is closed, marked as it is. `None`: there is none.
fn opened(states: &States, from: u32, thread: u32) -> Option<u32> {
    if from == NONE {
        return None;
    }
    let mark = mark(from);
    if from & SHARED == 0 {
        return states.open(FreshId(from), thread);
    }
    let State { writer, readers } = states.decode(from & !mark)?;
    let name = states.open(writer, thread)?;
    // Who has read it and could not be listed would read it for the first time once more.
    let mut bits = states.sets.members(readers).map(|reader| states.listing_bit(name, reader));
    let listed = bits.try_fold(0, |listed, bit| bit.map(|bit| listed | bit))?;
    Some(OpenName(name).listing(listed) | mark)
}

/// What one thread has read of open values: for each line the number that this is about, and a bit for each cell.
#[derive(Clone, Copy)]
pub struct Known {
    lines: Lines,
    known: *const AtomicU64,
}

impl Known {
    /// Of no lines.
    pub const NONE: Self = Self { lines: Lines::NONE, known: core::ptr::null() };

    /// # Safety
    /// `known` points to a zeroed word for each line, which live as long as the lines and which nobody else writes.
    pub unsafe fn new(lines: Lines, known: *const AtomicU64) -> Self {
        Self { lines, known }
    }

    /// The lines that it is about.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Another thread takes over, which has read nothing. `zero` is given the address and length of memory that is to
    /// be all zeros again.
    pub fn forget(&self, zero: impl FnOnce(*mut u8, usize)) {
        if self.lines.are_used() {
            zero(self.known.cast_mut().cast(), self.lines.len() * size_of::<AtomicU64>());
        }
    }

    /// What is known of some cells of one line, of open values.
    #[inline(always)]
    pub fn of(&self, cells: &[AtomicU32]) -> Option<Bits<'_>> {
        let (line, place) = self.lines.place(cells.as_ptr())?;
        // SAFETY: below the number of lines.
        let word = unsafe { &*self.known.add(line) };
        // Relaxed: who finds an open value has acquired the exchange that put it there, and with it this number.
        let number = self.lines.number(line).load(Ordering::Relaxed).wrapping_add(1) & !1;
        // Relaxed: the thread's own.
        let held = word.load(Ordering::Relaxed);
        let known = if (held >> 32) as u32 == number { held } else { u64::from(number) << 32 };
        Some(Bits { word, known, bits: ((1 << cells.len()) - 1) << place })
    }

    /// Which cells of the line of this one hold open values that the thread has read: a bit for each. Any thread may
    /// ask.
    pub fn of_line(&self, cell: &AtomicU32) -> u32 {
        let line = self.lines.place(cell).map(|(line, _)| self.lines.cells(line));
        line.and_then(|cells| self.of(cells)).map_or(0, |all| all.known as u32)
    }
}

/// Which of some cells a thread has read.
pub struct Bits<'a> {
    word: &'a AtomicU64,
    known: u64,
    bits: u64,
}

impl Bits<'_> {
    /// None of them.
    #[inline(always)]
    pub fn are_unread(&self) -> bool {
        self.known & self.bits == 0
    }

    /// All of them.
    #[inline(always)]
    pub fn are_read(&self) -> bool {
        self.known & self.bits == self.bits
    }

    /// The thread reads them.
    #[inline(always)]
    pub fn read(&self) {
        // Relaxed: others only look when the element dies.
        self.word.store(self.known | self.bits, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn bits_are_of_the_cells_and_of_the_last_opening() {
        let cells: Vec<AtomicU32> = (0..3 * LINE).map(|_| AtomicU32::new(NONE)).collect();
        let numbers: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
        let words: Vec<AtomicU64> = (0..3).map(|_| AtomicU64::new(0)).collect();
        // SAFETY: three lines, a number more, alive.
        let lines = unsafe { Lines::new(cells.as_ptr(), 3, numbers.as_ptr()) };
        // SAFETY: a word for each line, alive.
        let known = unsafe { Known::new(lines, words.as_ptr()) };
        let of = |range: core::ops::Range<usize>| known.of(&cells[range]).expect("one of the lines");
        of(17..19).read();
        of(19..20).read();
        assert!(of(17..20).are_read() && of(16..17).are_unread() && of(0..16).are_unread() && of(32..33).are_unread());
        let both = of(16..18);
        assert!(!both.are_read() && !both.are_unread());
        assert_eq!(known.of_line(&cells[31]), 0b1110);
        // Opened again: while somebody does it, and afterwards.
        for number in [1, 2] {
            numbers[1].store(number, Ordering::Relaxed);
            assert!(of(17..20).are_unread(), "{number}");
        }
        of(31..32).read();
        assert_eq!(known.of_line(&cells[16]), 1 << 15);
        let other = AtomicU32::new(NONE);
        assert!(known.of(core::slice::from_ref(&other)).is_none() && known.of_line(&other) == 0);
        assert!(Known::NONE.of(&cells[..1]).is_none());
        known.forget(|_, _| panic!("nothing was opened"));
    }
}
