//! Loops of nests whose answers are kept in windows: see [`threadtalk_abi::window`].
//!
//! The accesses of such a loop fall into groups that move in step. A group is a *row* if its stride is a small
//! constant: its range over all iterations is looked up as a whole. Other reads are *strided*, each by itself: columns
//! of a matrix, and members of the structures of an array, between which lies what others may have written.
//!
//! What a nest knows of memory must not become wrong by its own writes. So all of them must be plain ones, which look
//! at the cells that they overwrite, or are told by their loop's range.

use super::segment::plain;
use super::whole_loops::{Offer, OfferedAccess, Strand};
use crate::access::{Action, Direction, Event, Worth};
use crate::llvm;
use crate::llvm::loops::Loops;
use crate::tables::SiteId;
use inkwell::values::{AsValueRef, InstructionValue, IntValue, PointerValue};
use std::collections::HashSet;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::LEAST_READ;

/// Longest stride of a row. Its gaps are looked at, too.
pub const LONGEST_ROW_STRIDE: u64 = 512;
/// Longest stride of a row that nobody writes: with a line between them, accesses cost less by themselves, unless
/// together they read enough of it ([`LEAST_READ`]).
const LONGEST_READ_STRIDE: u64 = 64;
/// Longest reach of one iteration of a row.
const LONGEST_REACH: u64 = 1024;
/// Longest strided access: a line of the cache, what a window of these is wide.
const LONGEST_STRIDED: u64 = 64;

/// Pairs of groups that are compared before a loop: more of them take longer than a short row.
const MOST_COMPARED: usize = 3;

/// Accesses of a loop that move by the same stride at fixed distances.
pub struct Group<'ctx> {
    /// Address in the first iteration, but for `first`.
    pub address: PointerValue<'ctx>,
    /// Distance of the first byte.
    pub first: i64,
    /// Distance of the end.
    pub end: i64,
    /// Bytes between iterations.
    pub stride: IntValue<'ctx>,
    /// Not a row.
    pub strided: bool,
    /// Some accesses are of parts of granules, or begin inside of one.
    pub parts: bool,
    /// Granules read in each iteration, but for those that `astride` says.
    pub granules: u64,
    /// Distances of the reads that may begin inside a granule, and then read one more.
    pub astride: Vec<i64>,
    /// The site of its first access, and what that does.
    pub site: (SiteId, Direction),
    /// Its writes.
    pub writes: Vec<Write>,
}

/// A write of a group.
#[derive(Clone, Copy)]
pub struct Write {
    /// Distance from the address.
    pub first: i64,
    /// Bytes.
    pub bytes: u64,
    /// Where in the source.
    pub site: SiteId,
    /// It consists of whole granules.
    pub whole: bool,
}

/// What the nests of a function do with windows.
#[derive(Default)]
pub struct Windows<'ctx> {
    /// Questions of loops that look into their windows first.
    pub questions: Vec<InstructionValue<'ctx>>,
    /// Writes, by event, that could make a window wrong.
    pub guarded: HashSet<usize>,
    /// Questions of loops that look into windows while a nest runs that calls their function.
    pub called: Vec<InstructionValue<'ctx>>,
    /// Those of `questions` and `called` that share a nest with other functions' loops.
    pub keyed: HashSet<InstructionValue<'ctx>>,
    /// Nests described as a whole, by number, that may be asked about: what is known of memory beyond one loop does not
    /// become wrong unseen.
    pub nests: HashSet<usize>,
}

/// The groups of a loop's accesses. `None`: windows cannot hold one of them.
pub fn groups<'ctx>(accesses: &[OfferedAccess<'ctx>]) -> Option<Vec<Group<'ctx>>> {
    let groups: Vec<_> = in_groups(accesses).map(group).collect::<Option<_>>()?;
    let pairs = to_be_compared(&groups).collect::<Vec<_>>();
    // Ranges that lie side by side may share a granule if they are of parts.
    let are_rows = pairs.iter().all(|(one, other)| [one, other].iter().all(|group| !group.strided && !group.parts));
    (pairs.len() <= MOST_COMPARED && are_rows && are_writes_apart(accesses)).then_some(groups)
}

/// Whether no two lines write the same elements, but for groups that are [compared](to_be_compared): who finds a window
/// stores what they write one access after the other.
fn are_writes_apart(accesses: &[OfferedAccess<'_>]) -> bool {
    let writes = || accesses.iter().filter(|a| a.strand.direction == Direction::Write);
    let apart = |one: &OfferedAccess<'_>, other: &OfferedAccess<'_>| {
        let (a, b) = (&one.strand, &other.strand);
        let Some(stride) = row_stride(one).map(|stride| stride as i64).filter(|stride| *stride > 0) else {
            return false;
        };
        let behind = (b.first - a.first).rem_euclid(stride);
        a.whole && b.whole && behind >= a.bytes as i64 && behind + b.bytes as i64 <= stride
    };
    writes().enumerate().all(|(number, one)| {
        writes().take(number).all(|other| {
            let in_step = other.strand.leader == one.strand.leader;
            other.strand.site == one.strand.site || !in_step || apart(one, other)
        })
    })
}

/// Groups in which different lines write, so that it is to be asked before the loop whether they are apart.
pub fn to_be_compared<'g, 'ctx>(groups: &'g [Group<'ctx>]) -> impl Iterator<Item = (&'g Group<'ctx>, &'g Group<'ctx>)> {
    let one_line = |one: &Group<'_>, other: &Group<'_>| {
        let mut sites = one.writes.iter().chain(&other.writes).map(|write| write.site);
        sites.next().is_none_or(|first| sites.all(|site| site == first))
    };
    let writing = || groups.iter().filter(|group| !group.writes.is_empty());
    writing().enumerate().flat_map(move |(number, one)| {
        writing().take(number).filter(move |other| !one_line(one, other)).map(move |other| (one, other))
    })
}

/// The accesses by their groups.
pub fn in_groups<'o, 'ctx>(accesses: &'o [OfferedAccess<'ctx>]) -> impl Iterator<Item = &'o [OfferedAccess<'ctx>]> {
    let in_step = accesses.chunk_by(|a, b| a.strand.leader == b.strand.leader);
    in_step.flat_map(|group| {
        let (is_row, mut rest) = (is_row(group), group);
        // Two rows of one array may be in step, and as far apart as they like.
        std::iter::from_fn(move || {
            let head = &rest.first()?.strand;
            let (mut first, mut end) = (head.first, head.first);
            let is_near = |access: &&OfferedAccess<'_>| {
                first = first.min(access.strand.first);
                end = end.max(access.strand.first + access.strand.bytes as i64);
                is_row && (end - first) as u64 <= LONGEST_REACH
            };
            let (group, others) = rest.split_at(rest.iter().take_while(is_near).count().max(1));
            rest = others;
            Some(group)
        })
    })
}

/// The stride of a row.
fn row_stride(access: &OfferedAccess<'_>) -> Option<u64> {
    let stride = llvm::constant(access.stride.as_value_ref())?;
    ((stride as i64) >= 0 && stride <= LONGEST_ROW_STRIDE).then_some(stride)
}

/// Whether accesses that move in step are looked up together.
fn is_row(accesses: &[OfferedAccess<'_>]) -> bool {
    let Some(stride) = accesses.first().and_then(row_stride) else { return false };
    let short = |a: &OfferedAccess<'_>| a.strand.direction == Direction::Read && a.strand.bytes <= LONGEST_STRIDED;
    stride <= LONGEST_READ_STRIDE
        || !accesses.iter().all(short)
        || stride <= LEAST_READ * side_by_side(accesses, stride)
}

/// Bytes that an iteration reads within a stride, at most.
fn side_by_side(accesses: &[OfferedAccess<'_>], stride: u64) -> u64 {
    let within = |from: i64| {
        let near = accesses.iter().filter(move |a| (from..from + stride as i64).contains(&a.strand.first));
        near.map(|a| a.strand.bytes).sum()
    };
    accesses.iter().map(|a| within(a.strand.first)).max().unwrap_or(0)
}

fn group<'ctx>(accesses: &[OfferedAccess<'ctx>]) -> Option<Group<'ctx>> {
    let head = accesses.first()?;
    let first = accesses.iter().map(|a| a.strand.first).min()?;
    let end = accesses.iter().map(|a| a.strand.first + a.strand.bytes as i64).max()?;
    let row = row_stride(head).filter(|_| is_row(accesses));
    let (mut granules, mut astride, mut writes) = (0, Vec::new(), Vec::new());
    for Strand { direction, site, first, bytes, whole, aligned, piece, .. } in accesses.iter().map(|a| &a.strand) {
        let (first, bytes, whole) = (*first, *bytes, *whole);
        let in_one = bytes < GRANULE && *aligned;
        if !in_one && !bytes.is_multiple_of(GRANULE) {
            return None;
        }
        // Each iteration reads as many, if where it begins in a granule is the same.
        if !in_one && row.is_some_and(|stride| !stride.is_multiple_of(GRANULE)) {
            return None;
        }
        match direction {
            Direction::Write => writes.push(Write { first, bytes, site: *site, whole }),
            Direction::Read => {
                granules += bytes.div_ceil(GRANULE);
                let pieces = if in_one || whole { 0 } else { bytes / piece };
                astride.extend((0..pieces).map(|number| first + (number * piece) as i64));
            }
        }
    }
    let fits = match row {
        Some(_) => (end - first) as u64 <= LONGEST_REACH,
        None => granules > 0 && (end - first) as u64 <= LONGEST_STRIDED,
    };
    fits.then_some(Group {
        address: head.address,
        first,
        end,
        stride: head.stride,
        strided: row.is_none(),
        parts: accesses.iter().any(|a| !a.strand.whole),
        granules,
        astride,
        site: (head.strand.site, head.strand.direction),
        writes,
    })
}

/// Adds what a nest does: given the events in it, with their numbers, the loops that ask in it, and the nests of them
/// that are described as a whole, by number. `opens`: it calls functions that may have loops that ask.
pub fn add<'ctx>(
    windows: &mut Windows<'ctx>,
    events: &[(usize, &Event<'ctx>)],
    (offers, nests): (&[(InstructionValue<'ctx>, &Offer<'ctx>)], &[usize]),
    loops: &Loops<'ctx>,
    opens: bool,
) {
    let writes: Vec<_> = events.iter().filter(|(_, e)| writes(e)).collect();
    if !writes.iter().all(|(_, e)| tells(e)) {
        return;
    }
    let looking = || offers.iter().filter(|(_, offer)| offer.groups.is_some()).map(|(question, _)| *question);
    windows.questions.extend(looking());
    // What whole nests find has no key.
    if opens {
        windows.keyed.extend(looking());
    } else {
        windows.nests.extend(nests);
    }
    if opens || !nests.is_empty() || looking().next().is_some() {
        // Loops that ask know the range of their writes.
        let told = |event: &Event<'ctx>| {
            let around = event.inst.get_parent().and_then(|block| loops.innermost(block));
            let preheader = around.and_then(|l| loops.all[l].preheader);
            let hooked = |offer: &Offer<'ctx>| llvm::successors_of(offer.branch).get(1).copied();
            preheader.is_some() && offers.iter().any(|(_, o)| o.groups.is_some() && hooked(o) == preheader)
        };
        windows.guarded.extend(writes.iter().filter(|(_, event)| !told(event)).map(|(number, _)| *number));
    }
}

/// Whether windows can be kept right while an event runs: it does not write, or can look at the cells first.
pub fn tells(event: &Event<'_>) -> bool {
    !writes(event) || is_plain(event)
}

/// Whether an event changes cells.
fn writes(event: &Event<'_>) -> bool {
    match &event.action {
        Action::Plain(direction, _)
        | Action::Range(direction, ..)
        | Action::Masked(direction, ..)
        | Action::Packed(direction, ..)
        | Action::Scattered(direction, ..) => *direction == Direction::Write,
        Action::Allocation(_) | Action::Creation => false,
        Action::Update(_)
        | Action::CompareExchange(_)
        | Action::Copy(..)
        | Action::Library(_)
        | Action::Moves(_)
        | Action::Dies(..)
        | Action::DiesWhole(..) => true,
    }
}

fn is_plain(event: &Event<'_>) -> bool {
    event.worth > Worth::Call && plain(event).is_some_and(|(_, access)| access.is_inlined())
}
