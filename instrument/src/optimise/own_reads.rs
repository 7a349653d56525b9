//! Drops reads of what the same segment wrote before.
//!
//! After the write the element's state is "written by this thread, read by nobody else". Until something synchronises
//! no other thread may touch it, and what this thread reads of its own is no event. So the read changes nothing and
//! counts nothing.

use super::places::{Place, Stretch};
use super::segment::{Segments, plain};
use crate::access::{Action, Direction, Event};
use inkwell::module::Module;
use std::collections::HashMap;

/// Drops them; returns how many they were.
pub fn run(module: &Module<'_>, events: &mut Vec<Event<'_>>) -> usize {
    let before = events.len();
    let segments = Segments::find(events);
    // Bytes written in the present segment.
    let mut written: HashMap<Stretch, u64> = HashMap::new();
    let mut present = None;
    events.retain(|event| {
        let segment = segments.of(event);
        if segment != present || matches!(event.action, Action::Dies(..) | Action::DiesWhole(..)) {
            written.clear();
            present = segment;
        }
        let Some((direction, access)) = plain(event) else { return true };
        let mut stretches = Place::of(module, access).stretches();
        match direction {
            Direction::Write => {
                stretches.for_each(|(stretch, bytes)| *written.entry(stretch).or_default() |= bytes);
                true
            }
            Direction::Read => {
                !stretches.all(|(stretch, bytes)| written.get(&stretch).is_some_and(|known| known & bytes == bytes))
            }
        }
    });
    before - events.len()
}
