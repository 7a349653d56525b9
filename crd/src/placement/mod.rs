//! Thread mapping: which processor each thread should run on, so that threads that communicate much are near each
//! other.
//!
//! | what | where |
//! |---|---|
//! | how much two threads communicate | [`Weights`] |
//! | threads that never run at the same time | `lanes` |
//! | places for threads, filled evenly | `slots` |
//! | a first placement, grown along the tree | `grow` |
//! | improvement by exchanges | `exchange` |
//! | lines that put threads where the plan says | [`Launch`] |
//!
//! The problem is the quadratic assignment problem: minimise the sum over all pairs of threads of what they communicate
//! times the [distance](crate::machine::Topology::distance) of their processors. It is NP-hard, and known good methods
//! for trees of processors work along the tree (Jeannot, Mercier, Tessier, "Process Placement in Multicore Clusters",
//! IEEE TPDS 25(4), 2014) and then exchange pairs. The tests hold the result for up to 8 threads against the exact
//! optimum: it is found in all of their 318 cases, on five machines.

mod exchange;
mod grow;
mod lanes;
mod launch;
mod model;
mod problem;
mod slots;
mod weights;

pub use launch::Launch;
pub use model::{Events, Mapping, PlacedThread, SCHEMA, Strategies, TopologyLevel};
pub use problem::{in_order, search, solve, spread};
pub use slots::Slots;
pub use weights::Weights;

use crate::machine::Topology;
use crate::model::Report;

/// Places the threads of a report on a machine. `source` names the topology for the reader.
pub fn map(report: &Report, topology: &Topology, source: &str) -> Mapping {
    let threads = weights::of_threads(report);
    let lanes = lanes::lanes(&report.threads, topology.cpus().len());
    let weights = threads.folded(&lanes.of_thread, lanes.count);
    let slots = Slots::new(topology, lanes.count);
    let strategies = Strategies {
        in_order: in_order(&slots),
        scatter: spread(topology, lanes.count),
        mapped: solve(&weights, topology, &slots),
    };
    model::describe(report, topology, source, (&threads, &weights), &lanes.of_thread, strategies)
}
