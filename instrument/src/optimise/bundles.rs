//! Finds reads of members of a structure, which a thread may settle together: see [`threadtalk_abi::bundle`].
//!
//! Reads at constant distances from one pointer, of whole granules, in a segment in which nothing is written between
//! them: then their cells are at the first one what they are at the others. Reads that memos serve ask less already,
//! and so do those that come again in their segment.
//!
//! What is not known of a bundle is asked read by read: at once, unless one of the reads would come before another one
//! at another line that way, which might be of the same value and the first of it. Then each is asked at its place.

use super::Optimised;
use super::places::Place;
use super::segment::{Segments, plain};
use super::shared_translation::Sharing;
use crate::access::{Access, Action, Direction, Event, Plan, Worth};
use crate::tables::{Line, SiteId, Tables};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use std::collections::HashMap;
use threadtalk_abi::GRANULE;
use threadtalk_abi::bundle::MOST_PIECES;

/// Fewer reads or pieces ask as fast by themselves: a pattern takes some 20 instructions, each piece three, and each
/// read two more; a read by itself 9 where the value is own, and 24 where it is another thread's.
const LEAST_READS: usize = 2;
/// See [`LEAST_READS`].
const LEAST_PIECES: usize = 3;
/// Marks of a function. Bundles whose reads take turns may need one each: so many are open at a time, those begun
/// last, which keeps the work linear.
pub const MARKS: u32 = 8;

/// A read of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct Read<'ctx> {
    /// Number of the event.
    pub event: usize,
    /// What is read.
    pub access: Access<'ctx>,
    /// Where in the source.
    pub site: SiteId,
    /// Bytes from the first read's address.
    pub first: i64,
}

/// Some reads that are settled together.
#[derive(Debug)]
pub struct Bundle<'ctx> {
    /// The reads, in order.
    pub reads: Vec<Read<'ctx>>,
    /// If they are asked at their places: the number of the mark that says whether they have to be.
    pub mark: Option<u32>,
}

/// The bundles of a function.
#[derive(Debug, Default)]
pub struct Bundles<'ctx> {
    /// All of them.
    pub all: Vec<Bundle<'ctx>>,
    /// By event: the number of its bundle.
    pub of: HashMap<usize, usize>,
}

impl<'ctx> Bundles<'ctx> {
    /// The bundle that a read is in, and whether it is the first one there.
    pub fn around(&self, event: usize) -> Option<(&Bundle<'ctx>, bool)> {
        let bundle = self.all.get(*self.of.get(&event)?)?;
        Some((bundle, bundle.reads.first().is_some_and(|first| first.event == event)))
    }
}

/// Finds them, when memos and repeats are known.
pub fn find<'ctx>(module: &Module<'ctx>, plan: &Plan<'ctx>, found: &Optimised<'ctx>, tables: &Tables) -> Bundles<'ctx> {
    let segments = Segments::find(&plan.events);
    let settled = found.in_nests();
    let asks_less = |number: &usize| {
        settled.contains(number) || found.memos.places.contains_key(number) || found.repeats.of.contains_key(number)
    };
    let mut bundles = Bundles::default();
    let mut open: Vec<Open> = Vec::new();
    let mut present = None;
    for (number, event) in plan.events.iter().enumerate() {
        let here = segments.of(event);
        if here != present || changes_cells(event) {
            open.drain(..).for_each(|group| bundles.add(group));
            present = here;
        }
        let Some((Direction::Read, access)) = plain(event) else { continue };
        let line = tables.line(event.site);
        let leader = match found.sharing.get(number) {
            Some(Sharing::Leads(..)) => Some(number),
            Some(Sharing::Follows(leader)) => Some(*leader),
            Some(Sharing::Alone) | None => None,
        };
        let Some(leader) = leader.filter(|_| can_be_in_one(event, access) && !asks_less(&number)) else {
            open.iter_mut().for_each(|group| group.pass(line));
            continue;
        };
        let place = Place::of(module, access);
        let read = Read { event: number, access: *access, site: event.site, first: place.first };
        let same = |group: &Open<'ctx>| (group.base, group.leader) == (place.base, leader);
        let known = open.iter().position(same);
        let others = open.iter_mut().enumerate().filter(|(at, _)| Some(*at) != known);
        others.for_each(|(_, group)| group.pass(line));
        match known {
            Some(known) if open[known].has_room_for(access) => open[known].add(read, line),
            full => {
                let goes = full.or((open.len() == MARKS as usize).then_some(0));
                if let Some(number) = goes {
                    bundles.add(open.remove(number));
                }
                // One is free: that of a bundle whose reads are all behind.
                let mark = (0..MARKS).find(|mark| open.iter().all(|group| group.mark != *mark)).unwrap_or(0);
                let mut group =
                    Open { base: place.base, leader, reads: Vec::new(), mark, passed: None, in_turns: false };
                group.add(read, line);
                open.push(group);
            }
        }
    }
    open.into_iter().for_each(|group| bundles.add(group));
    bundles
}

/// Whether the cells may be others behind an event than before it.
fn changes_cells(event: &Event<'_>) -> bool {
    !matches!(event.action, Action::Plain(Direction::Read, _))
}

fn can_be_in_one(event: &Event<'_>, access: &Access<'_>) -> bool {
    event.worth > Worth::Call
        && access.is_inlined()
        && access.bytes.is_multiple_of(GRANULE)
        && access.align >= GRANULE
        && pieces(access) < MOST_PIECES
}

fn pieces(access: &Access<'_>) -> usize {
    access.bytes.div_ceil(2 * GRANULE) as usize
}

/// Reads that have one base and one translation.
struct Open<'ctx> {
    base: LLVMValueRef,
    leader: usize,
    reads: Vec<Read<'ctx>>,
    mark: u32,
    /// The line of other reads since the first one, if all are at one.
    passed: Option<Passed>,
    /// Whether one of its reads comes behind another's at another line.
    in_turns: bool,
}

/// Where reads were that are not in the bundle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    At(Line),
    AtSeveral,
}

impl<'ctx> Open<'ctx> {
    /// Another read than its own.
    fn pass(&mut self, line: Line) {
        self.passed = match self.passed {
            None => Some(Passed::At(line)),
            Some(passed) if passed == Passed::At(line) => Some(passed),
            Some(_) => Some(Passed::AtSeveral),
        };
    }

    fn add(&mut self, read: Read<'ctx>, line: Line) {
        self.in_turns |= self.passed.is_some_and(|passed| passed != Passed::At(line));
        self.reads.push(read);
    }

    fn pieces(&self) -> usize {
        self.reads.iter().map(|read| pieces(&read.access)).sum()
    }

    fn has_room_for(&self, access: &Access<'ctx>) -> bool {
        self.pieces() + pieces(access) <= MOST_PIECES
    }
}

impl<'ctx> Bundles<'ctx> {
    fn add(&mut self, group: Open<'ctx>) {
        let Some(begin) = group.reads.first().map(|read| read.first) else { return };
        if group.reads.len() < LEAST_READS || group.pieces() < LEAST_PIECES {
            return;
        }
        let number = self.all.len();
        self.of.extend(group.reads.iter().map(|read| (read.event, number)));
        let reads = group.reads.into_iter().map(|read| Read { first: read.first - begin, ..read }).collect();
        self.all.push(Bundle { reads, mark: group.in_turns.then_some(group.mark) });
    }
}
