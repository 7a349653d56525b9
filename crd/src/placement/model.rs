//! The result of a mapping. Serialised by `serde_json` it has the shape `threadtalk.map/1`.

use serde::Serialize;

use super::{Launch, Weights};
use crate::machine::{LevelKind, Topology};
use crate::model::Report;

/// Value of [`Mapping::schema`].
pub const SCHEMA: &str = "threadtalk.map/1";

/// Where each thread should run, and what that saves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mapping {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// File name of the executable.
    pub program: String,
    /// What the topology is of, for the reader.
    pub topology: String,
    /// Levels of the topology, outermost first.
    pub levels: Vec<TopologyLevel>,
    /// The operating system's numbers of all processors, in the order of the tree.
    pub processors: Vec<u32>,
    /// Threads at the same time; those that live one after the other share a processor if there are more threads than
    /// processors.
    pub concurrent: usize,
    /// True if there are more of them than processors.
    pub oversubscribed: bool,
    /// All threads, by id.
    pub threads: Vec<PlacedThread>,
    /// Sum over the pairs of threads of their events x the distance of their processors. Limited to 2^64 - 1.
    pub cost: Strategies<u64>,
    /// Events by distance, those on one processor first, then from the innermost level outwards.
    pub events: Vec<Events>,
    /// The operating system's number of each logical thread's processor, from thread 0 on.
    pub bind: Vec<u32>,
    /// Lines that put it into effect.
    pub launch: Launch,
}

/// One value for each way to place threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Strategies<T> {
    /// In the order of the threads and of the tree; see [`super::in_order`].
    pub in_order: T,
    /// Spread; see [`super::spread`].
    pub scatter: T,
    /// As computed.
    pub mapped: T,
}

impl<T> Strategies<T> {
    fn map<U>(&self, f: impl Fn(&T) -> U) -> Strategies<U> {
        Strategies { in_order: f(&self.in_order), scatter: f(&self.scatter), mapped: f(&self.mapped) }
    }
}

/// A level of the topology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopologyLevel {
    /// What its groups are.
    pub kind: LevelKind,
    /// How many there are in the machine.
    pub groups: usize,
    /// Cost of an event between two of them that lie in one group of the level before.
    pub distance: u32,
}

/// A thread and its processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlacedThread {
    /// Logical id.
    pub id: u32,
    /// Name; empty if it has none.
    pub name: String,
    /// The operating system's number of its processor.
    pub cpu: u32,
    /// Events with all other threads.
    pub events: u64,
}

/// Events between threads at a certain distance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Events {
    /// The outermost level that separates their processors; none on one and the same.
    pub between: Option<LevelKind>,
    /// Its distance.
    pub distance: u32,
    /// How many.
    #[serde(flatten)]
    pub count: Strategies<u64>,
}

/// Puts the result together. `weights` are those of all threads and of lanes, `placements` those of lanes.
pub fn describe(
    report: &Report,
    topology: &Topology,
    source: &str,
    (threads, lanes): (&Weights, &Weights),
    lane_of: &[usize],
    placements: Strategies<Vec<usize>>,
) -> Mapping {
    let cpu = |thread: usize| topology.cpus()[placements.mapped[lane_of[thread]]];
    let cost = |placement: &Vec<usize>| {
        let cost = lanes.cost(|i, j| topology.distance(placement[i], placement[j]));
        u64::try_from(cost).unwrap_or(u64::MAX)
    };
    let places = topology.levels().iter().enumerate().rev().map(|(at, level)| (Some(at), Some(level)));
    let events = [(None, None)].into_iter().chain(places).map(|(at, level)| Events {
        between: level.map(|level| level.kind),
        distance: level.map_or(0, |level| level.distance),
        count: placements.map(|placement| {
            let here = |i: usize, j: usize| u32::from(topology.separation(placement[i], placement[j]) == at);
            u64::try_from(lanes.cost(here)).unwrap_or(u64::MAX)
        }),
    });
    let bind = bind(report, cpu);
    Mapping {
        schema: SCHEMA,
        program: report.program.name.clone(),
        topology: source.to_owned(),
        levels: topology
            .levels()
            .iter()
            .map(|level| TopologyLevel { kind: level.kind, groups: level.len(), distance: level.distance })
            .collect(),
        processors: topology.cpus().to_vec(),
        concurrent: lanes.size(),
        oversubscribed: lanes.size() > topology.cpus().len(),
        threads: report
            .threads
            .iter()
            .enumerate()
            .map(|(at, thread)| PlacedThread {
                id: thread.id,
                name: thread.name.clone(),
                cpu: cpu(at),
                events: threads.total(at),
            })
            .collect(),
        cost: placements.map(cost),
        events: events.collect(),
        launch: Launch::new(&bind),
        bind,
    }
}

/// Processors by logical id. An id without a thread (its record had no room) has that of the thread before.
fn bind(report: &Report, cpu: impl Fn(usize) -> u32) -> Vec<u32> {
    // The thread that stands for all beyond the ids has a number far from the others.
    let last = report.threads.iter().filter(|thread| !thread.overflow).map(|thread| thread.id).max();
    let Some(last) = last.filter(|last| (*last as usize) < report.threads.len() * 2 + 64) else { return Vec::new() };
    let mut bind = Vec::with_capacity(last as usize + 1);
    for (at, thread) in report.threads.iter().enumerate().filter(|(_, thread)| thread.id <= last) {
        bind.resize(thread.id as usize, bind.last().copied().unwrap_or_else(|| cpu(at)));
        bind.push(cpu(at));
    }
    bind
}
