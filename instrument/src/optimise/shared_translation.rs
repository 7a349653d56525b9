//! Finds accesses near each other that can share one look into the directory.
//!
//! `x->a`, `x->b` and `x->c` lie at constant distances; unless the stretch from the first byte to the last crosses the
//! border of a chunk, what must be added to get to their cells is the same. The first access of such a group looks it
//! up and tests for the border; where the test fails, each access of the group takes the slow path, which is right
//! whatever the reason. That is one in `16384 / stretch` objects.

use super::segment::{Segments, plain};
use crate::access::{Direction, Event, Plan, Worth};
use crate::emit::translate::{WINDOW, may_straddle};
use crate::llvm::analysis::Analysis;

/// Accesses that follow one, at least, where it has to be tested for the border: the test takes five or six
/// instructions and a register more, a look by itself four.
const LEAST_FOLLOWERS: usize = 2;

/// How an access gets its translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// For itself.
    Alone,
    /// For all accesses between these byte distances from its address.
    Leads(i64, i64),
    /// From this event.
    Follows(usize),
}

/// The sharing of each event.
pub fn run(plan: &Plan<'_>, analysis: &mut Analysis) -> Vec<Sharing> {
    let mut sharing = vec![Sharing::Alone; plan.events.len()];
    let segments = Segments::find(&plan.events);
    // Reads and writes look into directories of their own.
    for direction in [Direction::Read, Direction::Write] {
        share(plan, &segments, direction, analysis, &mut sharing);
    }
    sharing
}

/// That of the events of one direction.
fn share(
    plan: &Plan<'_>,
    segments: &Segments<'_>,
    direction: Direction,
    analysis: &mut Analysis,
    sharing: &mut [Sharing],
) {
    let shareable = |event: &Event<'_>| {
        event.worth > Worth::Call && plain(event).is_some_and(|(own, access)| own == direction && access.is_inlined())
    };
    let (events, pointers): (Vec<usize>, Vec<_>) = (0..plan.events.len())
        .filter(|&i| shareable(&plan.events[i]))
        .filter_map(|i| Some((i, (plain(&plan.events[i])?.1.pointer, segments.of(&plan.events[i])? as u32))))
        .unzip();
    let mut followers = vec![0; events.len()];
    for (k, (leader, distance)) in analysis.distances(&pointers).into_iter().enumerate() {
        let bytes = plain(&plan.events[events[k]]).map_or(0, |(_, access)| access.bytes as i64);
        let (low, high) = match sharing[events[leader]] {
            _ if leader == k => (0, bytes),
            Sharing::Leads(low, high) => (low.min(distance), high.max(distance + bytes)),
            _ => continue,
        };
        if high - low <= WINDOW {
            sharing[events[leader]] = Sharing::Leads(low, high);
            if leader != k {
                sharing[events[k]] = Sharing::Follows(events[leader]);
                followers[leader] += 1;
            }
        }
    }
    // Leaders come before those who follow them.
    for (&event, followers) in events.iter().zip(followers) {
        let align = plain(&plan.events[event]).map_or(1, |(_, access)| access.align);
        sharing[event] = match sharing[event] {
            Sharing::Leads(low, high) if followers < LEAST_FOLLOWERS && may_straddle(low, high, align) => {
                Sharing::Alone
            }
            Sharing::Follows(leader) if sharing[leader] == Sharing::Alone => Sharing::Alone,
            other => other,
        };
    }
}
