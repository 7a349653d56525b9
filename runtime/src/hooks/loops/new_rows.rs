//! The usual loop through values that others have written since: its rows are read one after the other.
//!
//! [`super::settle`] would come to the same ([`super::row_by_row`]), but looks at each cell, and at what the accesses
//! are to each other, before it begins: of rows of 24 elements that took three times as long as reading them.

use super::period::{self, Period, Turns};
use super::row::in_parts;
use super::{Span, dense, stream};
use crate::process::Process;
use crate::thread::Thread;
use core::slice;
use threadtalk_abi::loops::Access;
use threadtalk_profile::layout::CrdMode;

/// Reads the rows of a loop that writes nothing. `false`: they are not all rows, or share elements, or are to be read
/// in exactly the loop's order, and nothing was counted.
#[inline(never)]
pub fn read(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    if p.plan.mode == CrdMode::Exact && accesses.len() > 1 {
        return false;
    }
    let mut rest = accesses;
    while let [one, others @ ..] = rest {
        let is_row = dense(one) || in_parts(one).is_some() && of_parts(one, iterations).is_some();
        let Some(span) = Span::of(one, iterations).filter(|_| is_row) else { return false };
        if others.iter().any(|other| Span::of(other, iterations).is_none_or(|other| other.meets(span))) {
            return false;
        }
        rest = others;
    }
    t.questions.meets_news();
    for access in accesses {
        if dense(access) {
            let Some(span) = Span::of(access, iterations) else { continue };
            stream(t, p, (span.first, span.last + 1), access.site);
        } else if let Some(turns) = of_parts(access, iterations) {
            period::stream(t, p, &Period::of(turns));
        }
    }
    true
}

/// A row in which granules are read piece by piece.
fn of_parts(access: &Access, iterations: u64) -> Option<Turns<'_>> {
    Turns::of(slice::from_ref(access), iterations)
}
