//! Lines whose cells are alike are looked at once. Neighbours mostly are: whole arrays are in one state, and arrays of
//! structures repeat after a few lines.

use super::ELEMENTS;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::cell::NONE;

/// Lines with equal cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Names of the states of their elements.
    pub states: [u32; ELEMENTS],
    /// Address of the first one.
    pub first: u64,
    /// How many.
    pub times: u64,
}

/// The kinds of lines that were met last, `N` at most.
pub struct Alike<const N: usize> {
    slots: [Lines; N],
    /// Slot of the line before.
    last: usize,
}

impl<const N: usize> Alike<N> {
    /// None.
    pub const fn new() -> Self {
        Alike { slots: [Lines { states: [NONE; ELEMENTS], first: 0, times: 0 }; N], last: 0 }
    }

    /// Counts a line. Gives the lines that have to leave for it.
    pub fn add(&mut self, line: &[AtomicU32], address: u64) -> Option<Lines> {
        // Most lines are like the one before.
        if let Some(before) = self.slots.get_mut(self.last).filter(|before| before.times > 0) {
            let cells = before.states.iter().zip(line);
            if cells.fold(0, |bits, (state, cell)| bits | state ^ cell.load(Ordering::Relaxed)) == 0 {
                before.times += 1;
                return None;
            }
        }
        let mut states = [NONE; ELEMENTS];
        let (mut hash, mut any) = (0u32, NONE);
        for (state, cell) in states.iter_mut().zip(line) {
            // Acquire: the partner is the exchange that put a reader's name there; the state behind it is read later.
            *state = cell.load(Ordering::Acquire);
            hash = hash.rotate_left(5) ^ *state;
            any |= *state;
        }
        if any == NONE {
            return None;
        }
        // Multiplied, so that the top bits depend on all of them.
        self.last = (hash.wrapping_mul(0x9E37_79B9) >> 16) as usize % N;
        let slot = self.slots.get_mut(self.last)?;
        let differs = slot.states.iter().zip(&states).fold(0, |bits, (a, b)| bits | a ^ b);
        if differs == 0 {
            slot.times += 1;
            return None;
        }
        let before = core::mem::replace(slot, Lines { states, first: address, times: 1 });
        (before.times > 0).then_some(before)
    }

    /// What has not left.
    pub fn all(&self) -> impl Iterator<Item = &Lines> {
        self.slots.iter().filter(|lines| lines.times > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    /// Every line is counted once, with lines of its own kind, whatever leaves in between.
    fn check<const N: usize>(kinds: &[[u32; ELEMENTS]]) {
        let mut alike = Alike::<N>::new();
        let mut found: Vec<Lines> = Vec::new();
        for (number, kind) in kinds.iter().enumerate() {
            found.extend(alike.add(&kind.map(AtomicU32::new), 64 * number as u64));
        }
        found.extend(alike.all());
        let (mut got, mut want) = (BTreeMap::<_, u64>::new(), BTreeMap::<_, u64>::new());
        for lines in found {
            assert_eq!(lines.states, kinds[(lines.first / 64) as usize], "the first of them is one of them");
            *got.entry(lines.states).or_default() += lines.times;
        }
        kinds.iter().filter(|kind| **kind != [NONE; ELEMENTS]).for_each(|kind| *want.entry(*kind).or_default() += 1);
        assert_eq!(got, want);
    }

    #[test]
    fn every_line_is_counted_with_its_like() {
        // Structures of 40 bytes with two writing lines: five kinds in turn, then one array in one state, a hole, and
        // more kinds than there are slots.
        let structure = |line: usize| core::array::from_fn(|i| 1 + u32::from((line * ELEMENTS + i) % 10 < 3));
        let mut kinds: Vec<[u32; ELEMENTS]> = (0..50).map(structure).collect();
        kinds.extend([[7; ELEMENTS]; 20]);
        kinds.extend([[NONE; ELEMENTS]; 3]);
        kinds.extend((0..200).map(|n| core::array::from_fn(|i| (n % 40) * 100 + i as u32)));
        check::<1>(&kinds);
        check::<4>(&kinds);
        check::<16>(&kinds);
    }
}
