//! Finds reads of what a segment has read before, which LLVM has to load again because something in between may have
//! written it: elements of small matrices that one function multiplies, members behind a pointer.
//!
//! If the thread's first read of some bytes finds its own value, so does each later one in the segment: nobody else may
//! write there, and what the thread writes itself is its own. So later reads need no look at the cells if all first
//! ones found own values. Only the program knows that when it runs: first reads that find anything else set a *mark*,
//! and later ones look at it. There is a mark for each of a few base pointers; several may share one, which costs time
//! and nothing else.

use super::Optimised;
use super::places::{Place, Stretch};
use super::segment::{Segments, plain};
use crate::access::{Action, Direction, Plan, Worth};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// Marks of a function.
pub const MARKS: u32 = 8;

/// What a read has to do with a mark, of which the number is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Sets it if what it reads is not own.
    First(u32),
    /// Need not look while it is not set.
    Again(u32),
}

/// The repeated reads of a function.
#[derive(Debug, Default)]
pub struct Repeats {
    /// By event.
    pub of: HashMap<usize, Repeat>,
    /// Events before which no mark is set: the first of each segment with repeats.
    pub begins: HashSet<usize>,
}

/// Finds them in a plan to which nothing is changed any more.
pub fn find(module: &Module<'_>, plan: &Plan<'_>, found: &Optimised<'_>) -> Repeats {
    let segments = Segments::find(&plan.events);
    let settled = found.in_nests();
    let mut repeats = Repeats::default();
    let mut segment = Segment::default();
    let mut present = None;
    for (number, event) in plan.events.iter().enumerate() {
        let here = segments.of(event);
        if here != present || matches!(event.action, Action::Dies(..) | Action::DiesWhole(..)) {
            segment = Segment::default();
            present = here;
        }
        let Some((direction, access)) = plain(event).filter(|_| !settled.contains(&number)) else { continue };
        let place = Place::of(module, access);
        match direction {
            Direction::Write => segment.know(place),
            Direction::Read if event.worth > Worth::Call && access.is_inlined() => {
                segment.read(number, place, &mut repeats)
            }
            Direction::Read => {}
        }
    }
    repeats
}

/// What is known of a segment, as far as it has been looked at.
#[derive(Default)]
struct Segment {
    /// Bytes that were written, or read by a first read.
    known: HashMap<Stretch, u64>,
    /// First reads of each base, and its mark if there is a repeat.
    bases: HashMap<LLVMValueRef, (Vec<usize>, Option<u32>)>,
    /// The first read of all, and how many bases have repeats.
    first: Option<usize>,
    marked: u32,
}

impl Segment {
    fn know(&mut self, place: Place) {
        place.stretches().for_each(|(stretch, bytes)| *self.known.entry(stretch).or_default() |= bytes);
    }

    fn read(&mut self, number: usize, place: Place, repeats: &mut Repeats) {
        let knows = |(stretch, bytes)| self.known.get(&stretch).is_some_and(|known| known & bytes == bytes);
        let is_repeat = place.stretches().all(knows);
        let first = *self.first.get_or_insert(number);
        let (firsts, mark) = self.bases.entry(place.base).or_default();
        if is_repeat && (mark.is_some() || !firsts.is_empty()) {
            let mark = *mark.get_or_insert_with(|| {
                self.marked += 1;
                (self.marked - 1) % MARKS
            });
            repeats.of.extend(firsts.drain(..).map(|first| (first, Repeat::First(mark))));
            repeats.of.insert(number, Repeat::Again(mark));
            repeats.begins.insert(first);
            return;
        }
        match mark {
            Some(mark) => drop(repeats.of.insert(number, Repeat::First(*mark))),
            None => firsts.push(number),
        }
        self.know(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads and writes of (base, first byte, bytes) in one segment: F0 is a first read of mark 0, A0 a repeat.
    fn repeats(list: &[(Direction, usize, i64, u64)]) -> String {
        let (mut segment, mut repeats) = (Segment::default(), Repeats::default());
        for (number, &(direction, base, first, bytes)) in list.iter().enumerate() {
            let place = Place { base: std::ptr::without_provenance_mut(base), first, bytes };
            match direction {
                Direction::Write => segment.know(place),
                Direction::Read => segment.read(number, place, &mut repeats),
            }
        }
        let name = |number| match repeats.of.get(&number) {
            Some(Repeat::First(mark)) => format!("F{mark}"),
            Some(Repeat::Again(mark)) => format!("A{mark}"),
            None => "-".into(),
        };
        (0..list.len()).map(name).collect::<Vec<_>>().join(" ")
    }

    use Direction::{Read, Write};

    #[test]
    fn what_was_read_is_read_again() {
        assert_eq!(repeats(&[(Read, 1, 0, 8), (Write, 2, 0, 8), (Read, 1, 0, 8), (Read, 1, 0, 4)]), "F0 - A0 A0");
    }

    #[test]
    fn bytes_may_come_from_several_accesses() {
        assert_eq!(repeats(&[(Read, 1, 0, 8), (Write, 1, 8, 8), (Read, 1, 4, 8)]), "F0 - A0");
        assert_eq!(repeats(&[(Read, 1, 60, 8), (Read, 1, 56, 8), (Read, 1, 56, 8)]), "F0 F0 A0");
    }

    #[test]
    fn what_is_new_in_part_is_read_for_the_first_time() {
        assert_eq!(repeats(&[(Read, 1, 0, 8), (Read, 1, 4, 8), (Read, 1, 8, 4)]), "F0 F0 A0");
        assert_eq!(repeats(&[(Read, 1, 0, 8), (Read, 1, 8, 8)]), "- -");
    }

    #[test]
    fn each_base_has_a_mark_and_none_without_repeats() {
        let reads = [1, 2, 3, 2, 1].map(|base| (Read, base, 0, 8));
        assert_eq!(repeats(&reads), "F1 F0 - A0 A1");
    }
}
