//! Finds reads of members of a structure, which a thread may settle together: see [`threadtalk_abi::bundle`].
//!
//! Reads at constant distances from one pointer, of whole granules, in a segment in which nothing is written between
//! them: then their cells are at the first one what they are at the others. Reads that memos serve ask less already,
//! and so do those that come again in their segment.

use super::Optimised;
use super::places::Place;
use super::segment::{Segments, plain};
use super::shared_translation::Sharing;
use crate::access::{Access, Action, Direction, Event, Plan, Worth};
use crate::tables::SiteId;
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
/// Marks of a function. Bundles whose reads take turns need one each: so many are open at a time, those begun last,
/// which keeps the work linear.
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
    /// The number of its mark: set if they have to be settled one by one.
    pub mark: u32,
}

/// The bundles of a function.
#[derive(Debug, Default)]
pub struct Bundles<'ctx> {
    /// All of them.
    pub all: Vec<Bundle<'ctx>>,
    /// By event: the number of its bundle.
    pub of: HashMap<usize, usize>,
}

/// Finds them, when memos and repeats are known.
pub fn find<'ctx>(module: &Module<'ctx>, plan: &Plan<'ctx>, found: &Optimised<'ctx>) -> Bundles<'ctx> {
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
        let Some((Direction::Read, access)) = plain(event).filter(|(_, access)| can_be_in_one(event, access)) else {
            continue;
        };
        let leader = match found.sharing.get(number) {
            Some(Sharing::Leads(..)) => number,
            Some(Sharing::Follows(leader)) => *leader,
            Some(Sharing::Alone) | None => continue,
        };
        if asks_less(&number) {
            continue;
        }
        let place = Place::of(module, access);
        let read = Read { event: number, access: *access, site: event.site, first: place.first };
        let same = |group: &Open<'ctx>| (group.base, group.leader) == (place.base, leader);
        match open.iter().position(same) {
            Some(known) if open[known].has_room_for(access) => open[known].reads.push(read),
            full => {
                let goes = full.or((open.len() == MARKS as usize).then_some(0));
                if let Some(number) = goes {
                    bundles.add(open.remove(number));
                }
                // One is free: that of a bundle whose reads are all behind.
                let mark = (0..MARKS).find(|mark| open.iter().all(|group| group.mark != *mark)).unwrap_or(0);
                open.push(Open { base: place.base, leader, reads: vec![read], mark });
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
}

impl<'ctx> Open<'ctx> {
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
        self.all.push(Bundle { reads, mark: group.mark });
    }
}
