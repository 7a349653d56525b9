//! Work that can be left out without changing a count. All of it is off with `opt=0`; tests compare both.
//!
//! * [`own_reads`]: reads of what the same block has just written are own reads: no event, no code.
//! * [`shared_translation`]: accesses near each other are translated by one look into the directory.
//! * [`whole_loops`]: loops whose accesses are known before they run get a copy without hooks.
//!
//! All rest on one thing: in a program without data races, no other thread can touch the address between two accesses of a block unless
//! something between them synchronises. Anything that could (calls, fences, atomic accesses) ends a [`segment`].

pub mod own_reads;
pub mod segment;
pub mod shared_translation;
pub mod whole_loops;

use crate::access::Plan;
use shared_translation::Sharing;

/// What the optimisations found for the events of a plan.
pub struct Optimised {
    /// Where each event's translation comes from.
    pub sharing: Vec<Sharing>,
    /// Number of reads that were left out.
    pub dropped: usize,
}

/// Runs them all, or none.
pub fn run(plan: &mut Plan<'_>, enabled: bool) -> Optimised {
    if !enabled {
        return Optimised { sharing: vec![Sharing::Alone; plan.events.len()], dropped: 0 };
    }
    let before = plan.events.len();
    own_reads::run(plan);
    let dropped = before - plan.events.len();
    Optimised { sharing: shared_translation::run(plan), dropped }
}
