//! Drops reads of what the same segment wrote before.
//!
//! After the write the element's state is "written by this thread, read by nobody else". Until something synchronises
//! no other thread may touch it, and what this thread reads of its own is no event. So the read changes nothing and
//! counts nothing.

use super::segment::{Segments, plain};
use crate::access::{Access, Action, Direction, Plan};
use std::collections::HashMap;

/// Drops them from the plan.
pub fn run(plan: &mut Plan<'_>) {
    let segments = Segments::find(&plan.events);
    // Bytes written at a pointer, in the present segment.
    let mut written: HashMap<_, u64> = HashMap::new();
    let mut present = None;
    plan.events.retain(|event| {
        let segment = segments.of(event);
        if segment != present || matches!(event.action, Action::Dies(..) | Action::DiesWhole(..)) {
            written.clear();
            present = segment;
        }
        match plain(event) {
            Some((Direction::Write, access)) => {
                let bytes = written.entry(access.pointer).or_default();
                *bytes = access.bytes.max(*bytes);
                true
            }
            Some((Direction::Read, Access { pointer, bytes, .. })) => {
                written.get(pointer).is_none_or(|known| known < bytes)
            }
            None => true,
        }
    });
}
