//! Loops whose events are read row by row, each row in the loop's order.

use super::period::{self, Period, Turns};
use super::pieces::{is_in_pieces, pieces};
use super::{Span, dense, fixed, sheaf, stream};
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

impl Row<'_> {
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

/// Whether the accesses that make events read granule after granule, and no two rows the same ones. Then what each row
/// finds does not depend on the others, and distances between uses in two loops are what they are in the
/// loops' order, but for what an access is behind another one in one loop and not in the other.
pub fn are_rows(p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> bool {
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

/// Reads the rows of the accesses that make events. `false`: some are none, and nothing was counted.
pub fn row_by_row(t: &mut Thread, p: &Process, accesses: &[Access], eventful: u64, iterations: u64) -> bool {
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
