//! Loops whose events are read row by row, each row in the loop's order.

use super::period::{self, Period, Turns};
use super::pieces::{is_in_pieces, pieces};
use super::{Span, dense, fixed, overlapping, sheaf, stream};
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::loops::Access;
use threadtalk_profile::layout::CrdMode;

/// Accesses that read their granules one after the other, upwards or, by turns, downwards.
pub enum Row<'a> {
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

impl<'a> Row<'a> {
    /// The access, if it is a row that may overlap with others.
    fn in_step(&self, iterations: u64) -> Option<&'a Access> {
        let access = match self {
            Row::Once(access) => Some(*access),
            Row::ByTurns(turns) => turns.accesses.first().filter(|_| turns.accesses.len() == 1),
            Row::Pieces(_) | Row::Fixed(_) => None,
        };
        access.filter(|access| overlapping::is_row(access, iterations))
    }

    fn span(&self, iterations: u64) -> Option<Span> {
        match self {
            Row::Once(access) | Row::Pieces(access) | Row::Fixed(access) => Span::of(access, iterations),
            Row::ByTurns(turns) => turns.span(),
        }
    }
}

/// Calls `each` with the rows of all accesses that make events, until it says no. `false`: it did, or some are none.
pub fn rows<'a>(accesses: &'a [Access], eventful: u64, iterations: u64, mut each: impl FnMut(Row<'a>) -> bool) -> bool {
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

/// Whether the accesses that make events read granule after granule, and no two rows the same ones, unless they are
/// [in step](overlapping). Then what each row finds does not depend on the others, and distances between uses in two
/// loops are what they are in the loops' order, but for what an access is behind another one in one loop and not in the
/// other.
pub fn are_rows(p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> bool {
    overlap(p, accesses, eventful, iterations).is_some()
}

/// Whether some of the rows share granules. `None`: they are none, see [`are_rows`].
fn overlap(p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> Option<bool> {
    let is_exact = p.plan.mode == CrdMode::Exact;
    let mut before = [(Span { first: 0, last: 0 }, false, None); MOST_ROWS];
    let (mut used, mut overlap, mut others) = (0, false, false);
    let are_rows = rows(accesses, eventful, iterations, |row| {
        if is_exact && (used > 0 || matches!(&row, Row::ByTurns(turns) if !turns.is_in_order())) {
            return false;
        }
        let Some(span) = row.span(iterations) else { return false };
        // What is fixed is reuse, in whatever order.
        let is_fixed = matches!(row, Row::Fixed(_));
        let in_step = row.in_step(iterations);
        others |= !is_fixed && in_step.is_none();
        for &(other, fixed, access) in before.get(..used).unwrap_or(&[]) {
            if is_fixed && fixed || !span.meets(other) {
                continue;
            }
            if !in_step.zip(access).is_some_and(|(one, other)| overlapping::are_in_step(one, other)) {
                return false;
            }
            overlap = true;
        }
        let Some(place) = before.get_mut(used) else { return false };
        *place = (span, is_fixed, in_step);
        used += 1;
        true
    });
    // Those that overlap are read in blocks, which others have none of.
    (are_rows && !(overlap && others)).then_some(overlap)
}

/// Reads the rows of the accesses that make events. `false`: some are none, and nothing was counted.
pub fn row_by_row(t: &mut Thread, p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> bool {
    let Some(overlap) = overlap(p, accesses, eventful, iterations) else { return false };
    if !fixed::count(t, p, (accesses, eventful), iterations) {
        return false;
    }
    if overlap {
        let is_moving = |(access, number): &(&Access, u32)| eventful >> number & 1 == 1 && access.stride != 0;
        let moving = accesses.iter().zip(0..).filter(is_moving).map(|(access, _)| access);
        overlapping::read(t, p, moving, iterations);
        return true;
    }
    rows(accesses, eventful, iterations, |row| {
        match row {
            Row::Once(access) => overlapping::read_row(t, p, access, iterations),
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
