//! Everything that was counted in a run, event by event.

use super::trace::Region;
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// A directed pair of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Who wrote.
    pub writer: u32,
    /// Who read.
    pub reader: u32,
}

/// True communication, or the reuse of what was communicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The reader's innermost region.
    pub region: Region,
    /// Who communicated.
    pub pair: Pair,
    /// What was read.
    pub element: u64,
    /// RaR; otherwise RaW.
    pub reuse: bool,
    /// The read was atomic.
    pub sync: bool,
}

/// Counts of events by pair of threads; pairs without events are absent.
pub type Matrix = BTreeMap<Pair, u64>;

/// All events of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// In the order of the trace.
    pub events: Vec<Event>,
    /// The threads that accessed memory in a region.
    pub participants: BTreeMap<Region, BTreeSet<u32>>,
}

impl Record {
    /// Counts the events that `choose` picks.
    pub fn matrix(&self, choose: impl Fn(&Event) -> bool) -> Matrix {
        let mut matrix = Matrix::new();
        for event in self.events.iter().filter(|event| choose(event)) {
            *matrix.entry(event.pair).or_default() += 1;
        }
        matrix
    }

    /// True communication in a region alone, its children not included.
    pub fn raw(&self, region: Region) -> Matrix {
        self.matrix(|event| event.region == region && !event.reuse)
    }

    /// Reuse in a region alone.
    pub fn rar(&self, region: Region) -> Matrix {
        self.matrix(|event| event.region == region && event.reuse)
    }

    /// The regions in which something happened.
    pub fn regions(&self) -> BTreeSet<Region> {
        self.events.iter().map(|event| event.region).collect()
    }

    /// The usages of a directed pair in a region: element, and whether it was reuse.
    pub fn usages(&self, region: Region, pair: Pair) -> Vec<(u64, bool)> {
        let of_pair = self.events.iter().filter(|event| event.region == region && event.pair == pair);
        of_pair.map(|event| (event.element, event.reuse)).collect()
    }
}
