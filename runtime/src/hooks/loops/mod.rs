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
//!   reads: row by row, each in order ([`stream`]). Accesses that take turns in the same granules are one row, which
//!   may be read downwards ([`period`]). What is read in each iteration is summed up beside them ([`fixed`]). Where all
//!   traces are to be exact, only one row, upwards.
//!
//! Else, or if the loop overwrites what makes the events, its instrumented copy runs. Whether a loop is settled here is
//! decided before anything is counted.
//! A loop with an event that is to be sampled is left to its instrumented copy, and so is one with an element that a
//! distance waits for, whose cell is marked: samples start there, and end.

mod columns;
mod findings;
mod fixed;
mod known;
mod overwritten;
mod period;
mod reads;
pub mod row;
mod sheaf;
mod stream;
mod structures;
pub mod writes;

use super::access::{fresh_id, read_cells};
use super::range::fill;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::quiet::{Pattern, part_end};
use core::num::NonZeroU64;
use core::ops::Range;
use core::slice;
use core::sync::atomic::AtomicU32;
use findings::{Findings, Found};
use overwritten::is_overwritten;
use period::{Period, Turns};
use reads::Reader;
use sheaf::Shape;
pub use stream::read as stream;
use threadtalk_abi::loops::{Access, MOST_ACCESSES};
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};
use threadtalk_profile::layout::CrdMode;
use threadtalk_sigmem::claims::LINE;

/// An access as a range: `first ..= last` byte over all iterations.
#[derive(Clone, Copy)]
struct Span {
    first: u64,
    last: u64,
}

impl Span {
    /// `None` if the addresses wrap around or leave the address space.
    fn of(access: &Access, iterations: u64) -> Option<Span> {
        Span::with(access, u64::from(access.bytes), iterations)
    }

    /// The same of an access of so many bytes.
    fn with(access: &Access, bytes: u64, iterations: u64) -> Option<Span> {
        let reach = access.stride.checked_mul(i64::try_from(iterations - 1).ok()?)?;
        let first = access.address.checked_add_signed(reach.min(0))?;
        let last = access.address.checked_add_signed(reach.max(0))?.checked_add(bytes)?.checked_sub(1)?;
        (last >> threadtalk_abi::ADDRESS_BITS == 0 && bytes > 0).then_some(Span { first, last })
    }

    /// Whether the two share a granule.
    fn meets(self, other: Span) -> bool {
        self.first & !(GRANULE - 1) <= other.last | (GRANULE - 1)
            && other.first & !(GRANULE - 1) <= self.last | (GRANULE - 1)
    }
}

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
        found.counts().is_some_and(|counts| !overwritten() && count(t, counts)) || {
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
            ranges = look_at_pieces(t, p, (access, first), iterations, ranges, found);
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

/// The events of an access whose [pieces](Row::Pieces) are far apart. Returns the number of ranges that are known to
/// have none.
fn look_at_pieces(
    t: &mut Thread,
    p: &Process,
    (access, number): (&Access, u32),
    iterations: u64,
    mut ranges: u64,
    found: &mut Findings,
) -> u64 {
    let granules = u64::from(access.bytes) / GRANULE;
    for address in pieces(access, iterations) {
        let piece = Access { address, stride: GRANULE as i64, bytes: GRANULE as u32, ..*access };
        let all = Span::of(&piece, granules).is_some_and(|span| {
            let mut reader = Reader::new((t, p), (&piece, number), (span, granules), ranges);
            let all = reader.look(None, found).is_ok();
            ranges = reader.ranges;
            all
        });
        if !all {
            found.give_up();
            break;
        }
    }
    ranges
}

/// Accesses that read their granules one after the other, upwards or, by turns, downwards.
enum Row<'a> {
    /// Each granule once.
    Once(&'a Access),
    /// Each granule once, and in each iteration those of a piece that lies apart from the others: a block's part of a
    /// row of a matrix, say.
    Pieces(&'a Access),
    /// Several that take turns, or one that reads a granule piece by piece.
    ByTurns(Turns<'a>),
    /// The same granules in each iteration: a factor, or a pointer that a store might change, for all that the compiler
    /// knows. Reuse that the thread knows ([`fixed`]).
    Fixed(&'a Access),
}

/// Rows of a loop, at most.
const MOST_ROWS: usize = 32;

/// Bytes of a piece, at least: one takes as long as an access with a hook.
const LEAST_PIECE: u32 = 32;

impl Row<'_> {
    fn span(&self, iterations: u64) -> Option<Span> {
        match self {
            Row::Once(access) | Row::Pieces(access) | Row::Fixed(access) => Span::of(access, iterations),
            Row::ByTurns(turns) => turns.span(),
        }
    }
}

/// Calls `each` with the rows of all accesses that make events, until it says no. `false`: it did, or some are none.
fn rows<'a>(accesses: &'a [Access], eventful: u64, iterations: u64, mut each: impl FnMut(Row<'a>) -> bool) -> bool {
    let mut number = 0u32;
    sheaf::all(accesses, iterations).all(|sheaf| {
        let first = number;
        number += sheaf.accesses.len() as u32;
        let mut with_events = sheaf.accesses.iter().zip(first..).filter(|(_, number)| eventful >> number & 1 == 1);
        if with_events.clone().all(|(access, _)| access.stride > 0 && dense(access)) {
            return with_events.all(|(access, _)| each(Row::Once(access)));
        }
        if with_events.clone().all(|(access, _)| access.stride == 0) {
            return with_events.all(|(access, _)| each(Row::Fixed(access)));
        }
        if with_events.clone().all(|(access, _)| is_in_pieces(access)) {
            return with_events.all(|(access, _)| each(Row::Pieces(access)));
        }
        Turns::of(sheaf.accesses, iterations).is_some_and(|turns| each(Row::ByTurns(turns)))
    })
}

/// Whether the accesses that make events read granule after granule, and no two rows the same ones. Then what each row
/// finds does not depend on the others, and distances between uses in two loops are what they are in the
/// loops' order, but for what an access is behind another one in one loop and not in the other.
fn are_rows(p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> bool {
    let is_exact = p.plan.mode == CrdMode::Exact;
    let mut before = [(Span { first: 0, last: 0 }, false); MOST_ROWS];
    let mut used = 0;
    rows(accesses, eventful, iterations, |row| {
        if is_exact && (used > 0 || matches!(&row, Row::ByTurns(turns) if !turns.is_in_order())) {
            return false;
        }
        let Some(span) = row.span(iterations) else { return false };
        // What is fixed is reuse, in whatever order.
        let is_fixed = matches!(row, Row::Fixed(_));
        let apart = |&(other, fixed): &(Span, bool)| is_fixed && fixed || !span.meets(other);
        let are_apart = before.get(..used).is_some_and(|others| others.iter().all(apart));
        let Some(place) = before.get_mut(used).filter(|_| are_apart) else { return false };
        *place = (span, is_fixed);
        used += 1;
        true
    })
}

fn row_by_row(t: &mut Thread, p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> bool {
    are_rows(p, accesses, eventful, iterations)
        && fixed::count(t, p, (accesses, eventful), iterations)
        && rows(accesses, eventful, iterations, |row| {
            match row {
                Row::Once(access) => {
                    if let Some(span) = Span::of(access, iterations) {
                        stream(t, p, (span.first, span.last + 1), access.site);
                    }
                }
                Row::Pieces(access) => {
                    for from in pieces(access, iterations) {
                        stream(t, p, (from, from + u64::from(access.bytes)), access.site);
                    }
                }
                Row::ByTurns(turns) => period::stream(t, p, &Period::of(turns)),
                Row::Fixed(_) => {}
            }
            true
        })
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

/// Where the access begins in each iteration.
fn pieces(access: &Access, iterations: u64) -> impl Iterator<Item = u64> {
    let Access { address, stride, .. } = *access;
    (0..iterations as i64).map(move |i| address.wrapping_add_signed(stride.wrapping_mul(i)))
}

/// Whether the access reads whole granules upwards, each once, and long enough pieces of them.
fn is_in_pieces(access: &Access) -> bool {
    let bytes = u64::from(access.bytes);
    let is_whole = [access.address, bytes, access.stride as u64].iter().all(|n| n.is_multiple_of(GRANULE));
    access.bytes >= LEAST_PIECE && access.stride > i64::from(access.bytes) && is_whole
}

/// Whether a write leaves its id in all cells of its span: it writes every byte, or some of every granule.
fn gapless(access: &Access) -> bool {
    access.stride == 0 || access.stride.unsigned_abs() <= u64::from(access.bytes).max(GRANULE)
}

/// The cells as plain numbers: relaxed loads that may be joined into vector loads.
pub(super) fn plain(cells: &[AtomicU32]) -> &[u32] {
    // SAFETY: same layout. In a race-free program no other thread changes these cells during the loop, except readers
    // of the same values, whose exchange of one state for another this thread sees either way; a torn view is not
    // possible for aligned words.
    unsafe { slice::from_raw_parts(cells.as_ptr().cast::<u32>(), cells.len()) }
}

/// Stores the ids that a loop's write leaves, but where the thread knows that they are there.
pub(super) fn write(t: &mut Thread, p: &Process, access: &Access, iterations: u64) {
    let fresh = fresh_id(t, p, access.site).0;
    let Some(span) = Span::of(access, iterations) else { return };
    let is_gapless = gapless(access);
    let pattern = if is_gapless { Pattern::ALL } else { Pattern::of(access, span.first) };
    let is_known = is_gapless || is_pair(access) && access.stride > 0 && pattern.is_exact();
    // Writes in windows are not seen.
    if !is_known || t.has_written_windows() || p.signature.pool.chunks_aliased() != 0 {
        return store(t, p, access, span, iterations, fresh);
    }
    let (mut at, end) = (span.first & !(GRANULE - 1), span.last + 1);
    let own = t.header.own_base;
    while at < end {
        let part = (at, part_end(at, end));
        at = part.1;
        let mut rest = part.0;
        while let Some((from, to)) = t.quiet.unfilled((&p.claims, &t.writable), own, (rest, part.1), (pattern, fresh)) {
            if is_gapless {
                fill(t, p, from, to - from, fresh);
            } else if let Some(stride) = NonZeroU64::new(access.stride.unsigned_abs()) {
                // The accesses that begin there; being whole words, they end there.
                let steps = |bytes: u64| bytes.saturating_add(stride.get() - 1) / stride;
                let first = span.first + steps(from - span.first) * stride.get();
                let count = steps(to.saturating_sub(first));
                if count > 0 {
                    let some = Access { address: first, ..*access };
                    store(t, p, &some, Span { first, last: to - 1 }, count, fresh);
                }
            }
            t.quiet.fill((&p.claims, &t.writable), own, (from, to), (pattern, fresh));
            rest = to;
        }
    }
}

/// Whether it accesses two granules at a time.
fn is_pair(access: &Access) -> bool {
    let whole = access.address.is_multiple_of(GRANULE) && access.stride % GRANULE as i64 == 0;
    u64::from(access.bytes) == 2 * GRANULE && whole
}

fn store(t: &mut Thread, p: &Process, access: &Access, span: Span, iterations: u64, fresh: u32) {
    if gapless(access) {
        fill(t, p, span.first, span.last - span.first + 1, fresh);
        return;
    }
    if columns::is_column(access) {
        return columns::store(t, p, access, iterations, fresh);
    }
    let (bytes, step) = (u64::from(access.bytes), access.stride);
    let is_whole = access.address.is_multiple_of(GRANULE) && step % GRANULE as i64 == 0;
    let (mut at, mut rest) = (access.address, iterations);
    while rest > 0 {
        // Also makes cells where there are none.
        fill(t, p, at, bytes, fresh);
        let many = in_chunk(access, at, rest);
        if let Some(offset) = p.signature.directory.offset(at).filter(|_| many > 1) {
            let nth = |i: i64| at.wrapping_add_signed(step * i);
            let last = nth(many as i64 - 1);
            let (from, to) = (at.min(last), at.max(last) + bytes);
            let pattern = Pattern::of(access, from);
            // Steps that are no longer than what a line of cells stands for store to all lines of the range, so that
            // nobody is spared any by knowing what lies between the accesses: it is forgotten with them, at once.
            if pattern.is_exact() || step.unsigned_abs() <= LINE {
                t.quiet.forget(t.header.own_base, (from, to), pattern);
            } else if t.quiet.is_filled(t.header.own_base, from) {
                for first in (1..many as i64).map(nth) {
                    t.quiet.forget(t.header.own_base, (first, first + bytes), Pattern::ALL);
                }
            }
            let cells = core::ptr::with_exposed_provenance_mut::<u8>(at.wrapping_add(offset) as usize);
            let many = 1..many as i64;
            match bytes.div_ceil(GRANULE) {
                // SAFETY: the accesses lie in one chunk, which has cells for all their granules.
                1 if is_whole => unsafe { scatter(cells, step, many, fresh) },
                // SAFETY: as above.
                2 if is_whole => unsafe { scatter(cells, step, many, [fresh; 2]) },
                // SAFETY: as above.
                4 if is_whole => unsafe { scatter(cells, step, many, [fresh; 4]) },
                // SAFETY: as above. Three doubles: places and forces.
                6 if is_whole => unsafe { scatter(cells, step, many, [fresh; 6]) },
                _ => {
                    for first in many.map(nth) {
                        let cells = (first & !(GRANULE - 1)).wrapping_add(offset);
                        let cells = core::ptr::with_exposed_provenance_mut::<u32>(cells as usize);
                        for granule in 0..((first + bytes - 1) / GRANULE - first / GRANULE + 1) as usize {
                            // SAFETY: as above.
                            unsafe { cells.add(granule).write(fresh) };
                        }
                    }
                }
            }
        }
        at = at.wrapping_add_signed(step.wrapping_mul(many as i64));
        rest -= many;
    }
}

/// Stores the ids of accesses of some whole granules.
///
/// # Safety
/// Those `many` places, `step` bytes from each other, are cells.
#[inline]
unsafe fn scatter<Ids: Copy>(cells: *mut u8, step: i64, many: Range<i64>, ids: Ids) {
    for i in many {
        // SAFETY: the caller's promise. Cells of two granules are aligned as one.
        unsafe { cells.wrapping_offset((step * i) as isize).cast::<Ids>().write(ids) };
    }
}

/// How many of the next `most` accesses, one at least, lie wholly in the chunk of the first one's first byte. (A first
/// one that does not is alone.)
fn in_chunk(access: &Access, at: u64, most: u64) -> u64 {
    let (bytes, stride) = (u64::from(access.bytes), access.stride.unsigned_abs());
    let within = at % CHUNK_BYTES;
    let room = if access.stride < 0 { Some(within) } else { (CHUNK_BYTES - within).checked_sub(bytes) };
    let inside = (at + bytes - 1) >> CHUNK_SHIFT == at >> CHUNK_SHIFT;
    let more = room.filter(|_| inside).and_then(|room| room.checked_div(stride)).unwrap_or(0);
    (more + 1).min(most)
}
