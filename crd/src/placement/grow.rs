//! A first placement: places are filled along the tree, each with the thread that communicates most with those already
//! near.

use super::{Slots, Weights};
use crate::machine::Topology;

/// A place for each thread. Takes time of threads x places x levels.
///
/// `first` is the thread that comes first; ties go to the smaller number.
pub fn grow(weights: &Weights, topology: &Topology, slots: &Slots, first: usize) -> Vec<usize> {
    let levels = topology.levels();
    // What it saves to be in one group of a level, beyond being in one of the level before.
    let inner = levels.iter().skip(1).map(|level| level.distance).chain([0]);
    let savings: Vec<u128> = levels.iter().zip(inner).map(|(level, inner)| (level.distance - inner).into()).collect();
    // Events of each thread with those in the open group of each level.
    let mut near = vec![vec![0u128; weights.size()]; levels.len()];
    let mut place_of = vec![usize::MAX; weights.size()];
    let mut free: Vec<usize> = (0..weights.size()).collect();
    let mut mandatory = slots.mandatory();
    let mut before: Option<usize> = None;
    for place in 0..slots.len() {
        let processor = slots.processor(place);
        if let Some(left) = before.and_then(|before| topology.separation(before, processor)) {
            near[left..].iter_mut().for_each(|events| events.fill(0));
        }
        before = Some(processor);
        mandatory -= usize::from(!slots.is_optional(place));
        // An empty place later would be one too many.
        if slots.is_optional(place) && free.len() <= mandatory {
            continue;
        }
        let score =
            |thread: usize| -> u128 { near.iter().zip(&savings).map(|(events, saving)| events[thread] * saving).sum() };
        let is_first = |thread: usize| free.len() == weights.size() && thread == first;
        let rank = |at: &usize| (is_first(free[*at]), score(free[*at]), std::cmp::Reverse(free[*at]));
        let best = (0..free.len()).max_by_key(rank);
        let Some(best) = best else { continue };
        let thread = free.swap_remove(best);
        place_of[thread] = place;
        for events in &mut near {
            for (sum, more) in events.iter_mut().zip(weights.row(thread)) {
                *sum += u128::from(*more);
            }
        }
    }
    place_of
}
