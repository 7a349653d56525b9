//! Regions together with all that is inside them.
//!
//! The sum of a region's matrices with those inside is as large as all of them: with a thousand regions in nests of
//! five, sums kept for all regions took four times the memory of the events. So regions are visited innermost first,
//! and what only the region around needs is given back as soon as that one has it.

use crate::distance::Traces;
use crate::matrices::cells::{Cells, Scratch};
use crate::participants::{self, ByThread};
use crate::recorded::Recorded;
use crate::regions::{PROGRAM, Tree};
use crate::threads::Threads;

/// What is known of a region, or of a region and all inside it.
#[derive(Default)]
pub struct Part {
    /// Events by (writer, reader).
    pub cells: Cells,
    /// Private bytes by thread.
    pub private: ByThread,
    /// Reuse distances.
    pub traces: Option<Traces>,
    /// Threads that touched memory, ascending.
    pub participants: Vec<u32>,
}

/// A region itself, and with what is inside it.
pub struct Family<'a> {
    /// Entries into it by thread.
    pub visits: &'a ByThread,
    /// The region itself.
    pub own: &'a Part,
    /// With what is inside; none if that adds nothing.
    pub total: Option<&'a Part>,
}

impl Family<'_> {
    /// The region with what is inside, if there is anything.
    pub fn all(&self) -> &Part {
        self.total.unwrap_or(self.own)
    }
}

/// Shows each region to `see`, that with the largest number first, so that a region comes after those inside it. Takes
/// the distances out of `recorded`. Gives back the program with all that is inside it.
pub fn each(recorded: &mut Recorded, tree: &Tree, threads: &Threads, mut see: impl FnMut(usize, &Family<'_>)) -> Part {
    let children = tree.children();
    let mut is_inside = vec![false; tree.nodes.len()];
    children.iter().flatten().for_each(|id| is_inside[*id as usize] = true);
    let mut waiting: Vec<Option<Part>> = tree.nodes.iter().map(|_| None).collect();
    let mut scratch = Scratch::new(threads.len());
    for id in (0..tree.nodes.len()).rev() {
        let own = Part::own(recorded, id, tree.nodes[id].has_accesses, threads, &mut scratch);
        let inside: Vec<Part> = children[id].iter().filter_map(|child| waiting[*child as usize].take()).collect();
        let total = (!inside.is_empty()).then(|| Part::sum(&own, &inside, &mut scratch));
        see(id, &Family { visits: &recorded.visits[id], own: &own, total: total.as_ref() });
        inside.into_iter().for_each(|part| scratch.give_back(part.cells));
        let all = match total {
            Some(total) => {
                scratch.give_back(own.cells);
                total
            }
            None => own,
        };
        if id == PROGRAM as usize || is_inside[id] && !all.participants.is_empty() {
            waiting[id] = Some(all);
        } else {
            scratch.give_back(all.cells);
        }
    }
    waiting.swap_remove(PROGRAM as usize).unwrap_or_default()
}

impl Part {
    fn own(recorded: &mut Recorded, id: usize, has_accesses: bool, threads: &Threads, scratch: &mut Scratch) -> Self {
        let events = &recorded.events[id];
        let private = std::mem::take(&mut recorded.private[id]);
        let of_events = events.iter().flat_map(|e| [threads.index(e.writer), threads.index(e.reader)]);
        let participants = participants::own(of_events, &recorded.visits[id], &private, has_accesses, threads.len());
        let cells = Cells::own(events, |thread| threads.index(thread), &participants, scratch);
        Self { cells, private, traces: recorded.traces[id].take(), participants }
    }

    fn sum(own: &Self, inside: &[Self], scratch: &mut Scratch) -> Self {
        let family = || std::iter::once(own).chain(inside);
        let cells: Vec<&Cells> = family().map(|d| &d.cells).collect();
        let mut traces: Option<Traces> = None;
        for part in family().filter_map(|d| d.traces.as_ref()) {
            traces.get_or_insert_default().add(part);
        }
        let participants = participants::sorted(family().flat_map(|d| &d.participants).copied().collect());
        Self {
            cells: Cells::sum(&cells, &participants, scratch),
            private: participants::fold(family().flat_map(|d| &d.private).copied().collect()),
            traces,
            participants,
        }
    }
}
