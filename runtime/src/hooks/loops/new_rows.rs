//! The usual loop through values that others have written since: its rows are read one after the other.
//!
//! [`super::settle`] would come to the same ([`super::row_by_row`]), but looks at each cell, and at what the accesses
//! are to each other, before it begins: of rows of 24 elements that took three times as long as reading them.

use super::{Span, overlapping};
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::loops::Access;
use threadtalk_profile::layout::CrdMode;

/// Reads the rows of a loop that writes nothing. `false`: they are not all rows, or share elements otherwise than
/// [in step](overlapping), or are to be read in exactly the loop's order, and nothing was counted.
#[inline(never)]
pub fn read(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    if p.plan.mode == CrdMode::Exact && accesses.len() > 1 {
        return false;
    }
    let mut rest = accesses;
    let mut overlap = false;
    while let [one, others @ ..] = rest {
        let Some(span) = Span::of(one, iterations).filter(|_| overlapping::is_row(one, iterations)) else {
            return false;
        };
        for other in others {
            if Span::of(other, iterations).is_none_or(|other| other.meets(span)) {
                if !overlapping::are_in_step(one, other) {
                    return false;
                }
                overlap = true;
            }
        }
        rest = others;
    }
    t.questions.meets_news();
    match overlap {
        true => overlapping::read(t, p, accesses.iter(), iterations),
        false => accesses.iter().for_each(|access| overlapping::read_row(t, p, access, iterations)),
    }
    true
}
