//! Whole loops: all accesses counted before the loop runs, as if it had run.
//!
//! Own values are no events, whatever their order, and most loops read little else. [`reads`] finds the events that a
//! loop makes in the state that the cells are in before it. There are three ways to count them ([`findings`]):
//!
//! * As sums for each counter: reuse that the thread knows already, as long as none of it is to be sampled. Where order
//!   matters (a trace that is followed exactly, a watched element) states are not known in this sense.
//! * Else, if they are few, one by one in the order of the loop, as its instrumented copy would: first reads, exact
//!   traces and watched elements included. So the rim of a row costs what it costs, and not the row.
//!
//! * If the accesses that make events read granule after granule in one direction, and none of them what another one
//!   reads: row by row, each in order ([`row_by_row`]). Accesses that take turns in the same granules are one row,
//!   which may be read downwards ([`period`]), and rows of which one follows another one are read in blocks
//!   ([`overlapping`]). What is read in each iteration is summed up beside them ([`fixed`]).
//!   Where all traces are to be exact, only one row, upwards.
//!
//! Else, or if the loop overwrites what makes the events, its instrumented copy runs. Whether a loop is settled here is
//! decided before anything is counted.
//! A loop with an event that is to be sampled is left to its instrumented copy, and so is one with an element that a
//! distance waits for, whose cell is marked: samples start there, and end.

mod columns;
mod findings;
mod fixed;
mod halves;
mod ids;
mod known;
mod mixed;
mod new_rows;
mod overlapping;
mod overwritten;
mod period;
mod pieces;
mod reads;
pub mod row;
mod row_by_row;
pub mod scattered;
mod sheaf;
mod span;
mod stream;
mod structures;
pub mod writes;

use super::access::read_cells;
use crate::process::Process;
use crate::thread::Thread;
use core::slice;
use core::sync::atomic::AtomicU32;
use findings::{Findings, Found};
pub use ids::write;
use overwritten::is_overwritten;
use reads::Reader;
pub use reads::granules_each;
use row_by_row::{are_rows, row_by_row};
use sheaf::Shape;
use span::Span;
pub use stream::read as stream;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{Access, MOST_ACCESSES, WRITE};
use threadtalk_profile::layout::CrdMode;

/// Accesses of a loop that are looked at for whether they are rows before any is too much.
const MOST_FEW_ROWS: usize = 4;

/// Events of a short loop that are read as rows, if they are half of what it reads or more: one by one each takes 80
/// ns, in rows 10.
const LEAST_IN_ROWS: u64 = 12;

/// What kind of loop it is.
#[derive(Clone, Copy)]
pub struct Kind {
    /// [`IN_NEST`](threadtalk_abi::loops::IN_NEST).
    pub in_nest: bool,
    /// [`STRAYS`](threadtalk_abi::loops::STRAYS).
    pub strays: bool,
}

impl Kind {
    /// A loop of a nest, without strays.
    pub const IN_NEST: Kind = Kind { in_nest: true, strays: false };
}

/// See [`threadtalk_abi::hooks::LOOP`]: the accesses that made events, bit i for access i; `None`: nothing was counted.
/// Not made part of the hook: rows that are settled at once would pay for its frame.
#[inline(never)]
pub fn settle(t: &mut Thread, p: &Process, accesses: &[Access], kind: Kind, iterations: u64) -> Option<u64> {
    // 0 iterations: 2^64 of them, in the pass's arithmetic.
    if p.is_paused() || accesses.len() > MOST_ACCESSES || iterations == 0 {
        return None;
    }
    if !writes::can_be_ordered(accesses, iterations) {
        return None;
    }
    let unknown = known::unknown(t, p, accesses, iterations)?;
    if unknown == 0 {
        t.header.ranges = if kind.in_nest { t.header.ranges } else { 0 };
        writes::store(t, p, accesses, iterations);
        return Some(0);
    }
    let mut found = Findings::new();
    let ranges = if kind.in_nest { t.header.ranges } else { 0 };
    let looked = look(t, p, (accesses, unknown), iterations, ranges, &mut found);
    t.header.ranges = if kind.in_nest { looked.unwrap_or(0) } else { 0 };
    looked?;
    // Events of the strays would come after all others.
    if kind.strays && found.eventful != 0 && p.plan.mode == CrdMode::Exact {
        return None;
    }
    let eventful = found.eventful;
    // Another thread's value that the loop overwrites is an event before and none after: order matters.
    let overwritten = || {
        let mut with_events = accesses.iter().zip(0..).filter(|(_, number)| eventful >> number & 1 == 1);
        with_events
            .any(|(a, _)| Span::of(a, iterations).is_some_and(|span| is_overwritten(a, span, accesses, iterations)))
    };
    let settled = if found.is_few() {
        // Of reuse that is known, order matters only to the next sample.
        let is_row = found.events() >= LEAST_IN_ROWS && found.events() >= iterations / 2;
        found.counts().is_some_and(|counts| !overwritten() && count(t, counts))
            || is_row && !overwritten() && row_by_row(t, p, accesses, eventful, iterations)
            || {
                let few = found.few(|found, stretch| reads::list(found, accesses, iterations, stretch));
                few.is_some_and(|few| one_by_one(t, p, few, accesses, iterations))
            }
    } else {
        !overwritten()
            && (found.counts().is_some_and(|counts| count(t, counts))
                || row_by_row(t, p, accesses, eventful, iterations))
    };
    if !settled {
        return None;
    }
    writes::store(t, p, accesses, iterations);
    Some(eventful)
}

/// The events of all reads, in the state before the loop, and the number of ranges that are known to have none. `None`:
/// too many events, and not of accesses that read rows.
fn look(
    t: &mut Thread,
    p: &Process,
    (accesses, mut unknown): (&[Access], u64),
    iterations: u64,
    mut ranges: u64,
    found: &mut Findings,
) -> Option<u64> {
    let (mut number, mut is_asked) = (0, false);
    let mut are_rows_all = None;
    // Once, when what was found is too much to be anything else: rows are asked about again before they are read.
    let mut may_go_on = |found: &Findings| {
        let is_new = found.is_given_up() && !is_asked;
        is_asked |= is_new;
        !is_new || are_rows(p, accesses, found.eventful, iterations)
    };
    for sheaf in sheaf::all(accesses, iterations) {
        if unknown == 0 {
            break;
        }
        let (first, is_unknown) = (number, unknown & 1 == 1);
        number += sheaf.accesses.len() as u32;
        unknown >>= 1;
        let Some(access) = sheaf.accesses.first().filter(|_| is_unknown) else { continue };
        if let Some(access) = sheaf.pieces() {
            ranges = pieces::look(t, p, (access, first), iterations, ranges, found);
            if !may_go_on(found) {
                return None;
            }
            continue;
        }
        let mut from = None;
        if sheaf.shape != Shape::One {
            let (span, pattern) = sheaf.hull(iterations)?;
            let mut reader = Reader::new((t, p), (access, first), (span, iterations), ranges);
            from = reader.first_event(pattern);
            ranges = reader.ranges;
            if from.is_none() {
                continue;
            }
        }
        for (access, number) in sheaf.accesses.iter().zip(first..) {
            let span = Span::of(access, iterations)?;
            let mut reader = Reader::new((t, p), (access, number), (span, iterations), ranges);
            if *are_rows_all.get_or_insert_with(|| are_few_rows(p, accesses, iterations)) {
                reader.is_one_of_rows();
            }
            let all = reader.look(from, found).is_ok();
            ranges = reader.ranges;
            if !all {
                found.give_up();
            }
            if !may_go_on(found) {
                return None;
            }
        }
    }
    Some(ranges)
}

/// Whether all reads of a loop are rows that can be read one after the other, and there are not many.
fn are_few_rows(p: &Process, accesses: &[Access], iterations: u64) -> bool {
    let reads = accesses.iter().zip(0..).filter(|(access, _)| access.flags & WRITE == 0);
    accesses.len() <= MOST_FEW_ROWS
        && are_rows(p, accesses, reads.fold(0, |reads, (_, number)| reads | 1 << number), iterations)
}

fn one_by_one(t: &mut Thread, p: &Process, few: &mut [Found], accesses: &[Access], iterations: u64) -> bool {
    let overwritten = |event: &Found| {
        let span = Span { first: event.granule, last: event.granule };
        let access = accesses.get(event.access as usize);
        access.is_none_or(|access| is_overwritten(access, span, accesses, iterations))
    };
    if !findings::sort(few, accesses, p.plan.mode == CrdMode::Exact) || few.iter().any(overwritten) {
        return false;
    }
    for event in few {
        let Some(access) = accesses.get(event.access as usize) else { continue };
        if let Some(cell) = p.signature.cell(event.granule, &mut t.chunks) {
            read_cells(t, p, slice::from_ref(cell), event.granule, access.site);
        }
    }
    true
}

/// Counts reuse that is known, unless some of it is to be sampled.
fn count(t: &mut Thread, counts: &[row::Reuse]) -> bool {
    counts.is_empty() || row::count(t, counts)
}

/// Whether the access covers its span without gaps.
fn dense(access: &Access) -> bool {
    access.stride == 0
        || access.stride.unsigned_abs() == u64::from(access.bytes)
            && u64::from(access.bytes).is_multiple_of(GRANULE)
            && access.address.is_multiple_of(GRANULE)
}

/// The cells as plain numbers: relaxed loads that may be joined into vector loads.
pub(super) fn plain(cells: &[AtomicU32]) -> &[u32] {
    // SAFETY: same layout. In a race-free program no other thread changes these cells during the loop, except readers
    // of the same values, whose exchange of one state for another this thread sees either way; a torn view is not
    // possible for aligned words.
    unsafe { slice::from_raw_parts(cells.as_ptr().cast::<u32>(), cells.len()) }
}
