//! Drops writes between others of the same bytes in a segment.
//!
//! A write leaves two things in the cells: that this thread wrote the value, and at which site. The first of several
//! writes says whose the value is. Nobody else may look before something synchronises, so of the sites only that of the
//! last one is ever seen. What is between the two changes nothing, whatever else they may overlap with: the first has
//! come before, and the last comes after it.
//!
//! The first one can say the last one's site itself, and the last one goes as well, if no write in between may touch
//! the same bytes: such a write's site would stay. Nor may one touch another byte of a granule of which these are a
//! part, as the granule keeps one site.

use super::places::{Place, Stretch};
use super::segment::{Segments, plain};
use crate::access::{Action, Direction, Event};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};
use threadtalk_abi::GRANULE;

/// Drops them; returns how many they were.
pub fn run(module: &Module<'_>, events: &mut Vec<Event<'_>>) -> usize {
    let segments = Segments::find(events);
    let mut gone = HashSet::new();
    let mut sites = Vec::new();
    let mut writes = Writes::default();
    let mut present = None;
    for (number, event) in events.iter().enumerate() {
        let segment = segments.of(event);
        if segment != present || matches!(event.action, Action::Dies(..) | Action::DiesWhole(..)) {
            sites.extend(std::mem::take(&mut writes).moved());
            present = segment;
        }
        match plain(event) {
            Some((Direction::Write, access)) => gone.extend(writes.write(number, Place::of(module, access))),
            Some((Direction::Read, _)) => {}
            None => writes.write_somewhere(),
        }
    }
    sites.extend(writes.moved());
    for (first, last) in sites {
        events[first].site = events[last].site;
        gone.insert(last);
    }
    let mut number = 0;
    events.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
    gone.len()
}

/// The writes of a segment, as far as it has been looked at.
#[derive(Default)]
struct Writes {
    of: HashMap<Place, Of>,
    /// The places of each stretch.
    places: HashMap<Stretch, Vec<(Place, u64)>>,
    /// The base of the write before, and how often that has changed.
    base: Option<LLVMValueRef>,
    turn: usize,
}

/// All that may be in the granules of a place: where these begin is not known if it is a part of one.
fn granules_of(place: Place) -> Place {
    let around = GRANULE as i64 - 1;
    let is_whole = place.bytes.is_multiple_of(GRANULE) && place.first % GRANULE as i64 == 0;
    if is_whole {
        place
    } else {
        Place { first: place.first - around, bytes: place.bytes + 2 * around as u64, ..place }
    }
}

/// The writes of one place.
struct Of {
    first: usize,
    last: usize,
    /// The turns that they were in.
    turns: (usize, usize),
    /// Whether a write of other bytes at the same base touches them.
    overlaps: bool,
}

impl Writes {
    /// Takes a write; returns the number of one that changes nothing any more.
    fn write(&mut self, number: usize, place: Place) -> Option<usize> {
        if self.base != Some(place.base) {
            self.base = Some(place.base);
            self.turn += 1;
        }
        if let Some(of) = self.of.get_mut(&place) {
            let middle = (of.first != of.last).then_some(of.last);
            (of.last, of.turns.1) = (number, self.turn);
            return middle;
        }
        let mut overlaps = false;
        for (stretch, bytes) in granules_of(place).stretches() {
            let there = self.places.get(&stretch).map_or(&[][..], Vec::as_slice);
            for (other, _) in there.iter().filter(|(_, others)| others & bytes != 0) {
                overlaps = true;
                self.of.entry(*other).and_modify(|of| of.overlaps = true);
            }
        }
        for (stretch, bytes) in place.stretches() {
            self.places.entry(stretch).or_default().push((place, bytes));
        }
        self.of.insert(place, Of { first: number, last: number, turns: (self.turn, self.turn), overlaps });
        None
    }

    /// Something that may write anywhere.
    fn write_somewhere(&mut self) {
        self.base = None;
        self.turn += 1;
    }

    /// First writes that can say the sites of last ones, with these.
    fn moved(self) -> impl Iterator<Item = (usize, usize)> {
        let moves = |of: &Of| of.first != of.last && of.turns.0 == of.turns.1 && !of.overlaps;
        self.of.into_values().filter(moves).map(|of| (of.first, of.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes of places (base, first byte, bytes); the numbers of those that go, and which take over the site of which.
    /// Base 0: anywhere.
    fn writes(list: &[(usize, i64, u64)]) -> (Vec<usize>, Vec<(usize, usize)>) {
        let mut writes = Writes::default();
        let mut gone = Vec::new();
        for (number, &(base, first, bytes)) in list.iter().enumerate() {
            match base {
                0 => writes.write_somewhere(),
                _ => gone
                    .extend(writes.write(number, Place { base: std::ptr::without_provenance_mut(base), first, bytes })),
            }
        }
        let mut moved: Vec<_> = writes.moved().collect();
        moved.sort();
        (gone, moved)
    }

    #[test]
    fn of_several_writes_the_first_says_the_site_of_the_last() {
        assert_eq!(writes(&[(1, 0, 8), (1, 8, 8), (1, 0, 8), (1, 0, 8)]), (vec![2], vec![(0, 3)]));
    }

    #[test]
    fn bytes_of_one_granule_keep_their_order() {
        assert_eq!(writes(&[(1, 4, 1), (1, 7, 1), (1, 4, 1)]), (vec![], vec![]));
        assert_eq!(writes(&[(1, 4, 1), (1, 8, 1), (1, 4, 1)]), (vec![], vec![(0, 2)]));
    }

    #[test]
    fn where_others_may_write_the_same_the_last_one_stays() {
        assert_eq!(writes(&[(1, 0, 8), (1, 0, 8), (2, 0, 8), (1, 0, 8)]), (vec![1], vec![]));
        assert_eq!(writes(&[(1, 0, 8), (0, 0, 0), (1, 0, 8)]), (vec![], vec![]));
    }

    #[test]
    fn what_overlaps_in_part_stays() {
        assert_eq!(writes(&[(1, 0, 8), (1, 4, 8), (1, 0, 8)]), (vec![], vec![]));
        assert_eq!(writes(&[(1, 60, 8), (1, 64, 16), (1, 60, 8), (1, 64, 16)]), (vec![], vec![]));
        assert_eq!(writes(&[(1, 0, 8), (1, 8, 8), (1, 0, 8)]), (vec![], vec![(0, 2)]));
    }
}
