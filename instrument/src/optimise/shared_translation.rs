//! Finds accesses to the address of the access before them.
//!
//! `x += 1` reads and writes one address. The second access takes over the first one's translation; should the first have found
//! the chunk without cells, the second goes the slow way too, which is right whatever the state.

use super::segment::{Segments, plain};
use crate::access::Plan;

/// For each event, whether it may use the translation of the event before it.
pub fn run(plan: &Plan<'_>) -> Vec<bool> {
    let segments = Segments::find(&plan.events);
    let mut shares = vec![false; plan.events.len()];
    for (i, pair) in plan.events.windows(2).enumerate() {
        let (Some((_, first)), Some((_, second))) = (plain(&pair[0]), plain(&pair[1])) else { continue };
        shares[i + 1] = first == second && segments.of(&pair[0]) == segments.of(&pair[1]);
    }
    shares
}
