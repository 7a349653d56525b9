//! Loops of which all reads are known to have no events, before any cell is looked at: most rows of most stencils.

use super::Span;
use super::sheaf::{self, Shape, Sheaf};
use crate::hooks::scan::prefetch;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::quiet::{Pattern, part_end};
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{Access, WRITE};

/// The sheaves of which it is not known that they have no events, a bit for each, lowest first. Their cells are asked
/// for, all at once: each is the start of a row, which no hardware has foreseen. `None`: they had better not be looked
/// at, or one of them leaves the address space.
pub fn unknown(t: &Thread, p: &Process, accesses: &[Access], iterations: u64) -> Option<u64> {
    let (mut unknown, mut bit, mut rest) = (0, 1u64, accesses);
    // One access at a time, in registers: what has several takes a call. (As pairs and options of what is found, their
    // parts were stored one by one and loaded at once, which took 40 % of the question.)
    while let [head, ..] = rest {
        let (length, shape) = sheaf::first(rest, iterations);
        let (accesses, others) = rest.split_at_checked(length)?;
        rest = others;
        let writes = head.flags & WRITE != 0;
        let known = match shape {
            Shape::One => {
                let span = Span::of(head, iterations)?;
                writes || is_known(t, p, span, Pattern::of(head, span.first))
            }
            _ => is_sheaf_known(t, p, &Sheaf { accesses, shape }, iterations)?,
        };
        if !known && (Sheaf { accesses, shape }).is_loose() {
            return None;
        }
        if (writes || !known)
            && let Some(cell) = p.signature.directory.translate(head.address)
        {
            prefetch(cell.cast());
        }
        unknown |= if known { 0 } else { bit };
        bit <<= 1;
    }
    Some(unknown)
}

#[inline(never)]
fn is_sheaf_known(t: &Thread, p: &Process, sheaf: &Sheaf, iterations: u64) -> Option<bool> {
    let (span, pattern) = sheaf.hull(iterations)?;
    Some(is_known(t, p, span, pattern))
}

/// Whether nothing of a span has to be looked at: the thread has claimed its chunks, and knows that what a pattern
/// reads has no events.
#[inline]
fn is_known(t: &Thread, p: &Process, span: Span, pattern: Pattern) -> bool {
    let (mut at, end) = (span.first & !(GRANULE - 1), span.last + 1);
    while at < end {
        let to = part_end(at, end);
        if !holds(t, p, at) || t.quiet.reach(t.header.own_base, (at, to), pattern) != to {
            return false;
        }
        at = to;
    }
    true
}

/// Whether the thread has claimed the chunk of an address: what has no events there is not looked at again.
#[inline]
pub fn holds(t: &Thread, p: &Process, address: u64) -> bool {
    p.claims.holds(&t.writable, address) && p.signature.pool.chunks_aliased() == 0
}
