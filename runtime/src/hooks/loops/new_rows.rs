//! The usual loop through values that others have written since: its rows are read one after the other.
//!
//! [`super::settle`] would come to the same ([`super::row_by_row`]), but looks at each cell, and at what the accesses
//! are to each other, before it begins: of rows of 24 elements that took three times as long as reading them.

use super::{Span, dense, stream};
use crate::process::Process;
use crate::thread::Thread;
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
        let Some(span) = Span::of(one, iterations).filter(|_| dense(one)) else { return false };
        if others.iter().any(|other| Span::of(other, iterations).is_none_or(|other| other.meets(span))) {
            return false;
        }
        rest = others;
    }
    t.questions.meets_news();
    for access in accesses {
        let Some(span) = Span::of(access, iterations) else { continue };
        stream(t, p, (span.first, span.last + 1), access.site);
    }
    true
}
