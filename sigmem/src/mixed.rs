//! Neighbours in several states, in no order that repeats: elements that many threads have written in turns.
//!
//! Read one by one, each run of one or two cells is looked up, exchanged and counted by itself. Here each state is
//! looked up once, four cells are exchanged at a time, and the caller counts once for each state.

use crate::neighbours;
use crate::primitive::AtomicU32;
use crate::primitive::Ordering::Acquire;
use crate::states::States;
use crate::view::{Member, View};
use threadtalk_abi::cell::NONE;

/// Cells that are read at once, at most.
pub const MOST_MIXED: usize = 256;
/// States that they are in, at most. Of sixteen writers, own values among them, a reader meets sixteen if each has
/// written at one line and nobody else has read.
pub const MOST_STATES: usize = 32;
/// log2 of the places for numbers of states.
const GUESSES_LOG2: u32 = 6;
/// Cells in one state after which the rest had better be read as neighbours that are alike.
const MOST_ALIKE: usize = 32;

/// What reads of neighbouring cells were.
pub struct Mixed {
    members: [Member; MOST_STATES],
    used: usize,
    /// The number of each cell's member.
    numbers: [u8; MOST_MIXED],
    /// How many cells are in each state.
    counts: [u64; MOST_STATES],
    /// The number of the member that was met last among those whose state has this hash, if there is one.
    guesses: [u8; 1 << GUESSES_LOG2],
}

impl Mixed {
    /// None.
    pub const fn new() -> Self {
        Self {
            members: [Member::NONE; MOST_STATES],
            used: 0,
            numbers: [0; MOST_MIXED],
            counts: [0; MOST_STATES],
            guesses: [0; 1 << GUESSES_LOG2],
        }
    }

    /// What reads of cells in each of the states were.
    pub fn members(&self) -> &[Member] {
        self.members.get(..self.used).unwrap_or(&[])
    }

    /// For each cell that was read, in this order, which of the members it was in.
    pub fn numbers(&self) -> &[u8] {
        &self.numbers
    }

    /// How many cells each of the members was.
    pub fn counts(&self) -> &[u64; MOST_STATES] {
        &self.counts
    }

    #[inline]
    fn state(&self, number: u8) -> u32 {
        self.members.get(usize::from(number)).map_or(NONE, |member| member.state)
    }

    /// Cells from the given one on were read.
    #[inline]
    fn add<const CELLS: usize>(&mut self, cell: usize, numbers: [u8; CELLS]) {
        if let Some(places) = self.numbers.get_mut(cell..).and_then(|places| places.first_chunk_mut()) {
            *places = numbers;
        }
        for number in numbers {
            if let Some(count) = self.counts.get_mut(usize::from(number)) {
                *count += 1;
            }
        }
    }

    /// The number of the member of a state. `None`: it is marked, does not tell or has no successor, or there are too
    /// many.
    #[inline]
    fn number(&mut self, view: &mut View, states: &States, found: u32) -> Option<u8> {
        let guess = self.guesses.get_mut((found.wrapping_mul(0x9E37_79B1) >> (32 - GUESSES_LOG2)) as usize)?;
        let members = self.members.get(..self.used)?;
        if members.get(usize::from(*guess)).is_some_and(|member| member.from == found) {
            return Some(*guess);
        }
        let number = match members.iter().position(|member| member.from == found) {
            Some(number) => number,
            None => {
                *self.members.get_mut(self.used)? = view.member(states, found)?;
                self.used += 1;
                self.used - 1
            }
        };
        *guess = number as u8;
        Some(*guess)
    }
}

impl Default for Mixed {
    fn default() -> Self {
        Self::new()
    }
}

impl View {
    /// The thread reads the elements of these cells, as far as none is marked and their states tell what the reads are,
    /// and not those behind many that are alike. Returns how many were read.
    pub fn read_mixed(&mut self, states: &States, cells: &[AtomicU32], mixed: &mut Mixed) -> usize {
        let cells = cells.get(..cells.len().min(MOST_MIXED)).unwrap_or(&[]);
        let (mut read, mut alike, mut last) = (0, 0, 0);
        while let Some(rest @ [_, ..]) = cells.get(read..) {
            let four = rest.first_chunk::<4>().filter(|four| four.as_ptr().addr().is_multiple_of(16));
            let numbers = four.and_then(|four| self.read_four(states, four, mixed));
            let Some(numbers) = numbers else {
                // At either end of the row, or where another thread came between.
                let Some(number) = rest.first().and_then(|first| self.read_one(states, first, mixed)) else { break };
                mixed.add(read, [number]);
                read += 1;
                continue;
            };
            mixed.add(read, numbers);
            read += 4;
            alike = if numbers == [last; 4] { alike + 4 } else { 0 };
            last = numbers[3];
            if alike >= MOST_ALIKE {
                break;
            }
        }
        read
    }

    /// The numbers of the members that four cells were; `None`: they were not read.
    #[inline(always)]
    fn read_four(&mut self, states: &States, cells: &[AtomicU32; 4], mixed: &mut Mixed) -> Option<[u8; 4]> {
        // Acquire: as in `View::read`. One by one, as they may just have been stored.
        let [a, b, c, d] = cells.each_ref().map(|cell| cell.load(Acquire));
        let first = mixed.number(self, states, a)?;
        let second = if b == a { first } else { mixed.number(self, states, b)? };
        let third = if c == b { second } else { mixed.number(self, states, c)? };
        let fourth = if d == c { third } else { mixed.number(self, states, d)? };
        let to = [first, second, third, fourth].map(|number| mixed.state(number));
        let is_read = neighbours::exchange_mixed(cells, [a, b, c, d], to, states.is_pair());
        is_read.then_some([first, second, third, fourth])
    }

    fn read_one(&mut self, states: &States, cell: &AtomicU32, mixed: &mut Mixed) -> Option<u8> {
        let found = cell.load(Acquire);
        let number = mixed.number(self, states, found)?;
        let to = mixed.state(number);
        let is_read = to == found || neighbours::exchange_all(core::array::from_ref(cell), found, to, states.is_pair());
        is_read.then_some(number)
    }
}
