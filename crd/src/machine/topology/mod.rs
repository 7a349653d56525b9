//! How the processors of a machine lie in each other: packages, memory nodes, shared caches, cores, hardware threads.
//!
//! A topology is a tree. Each level splits every group of the level before it; the innermost has one processor in each
//! group. How far two processors are apart is a matter of the outermost level that separates them, so distances
//! are ultrametric: `distance(a, c) <= max(distance(a, b), distance(b, c))`.

mod described;
mod sysfs;

use serde::Serialize;
use std::fmt;

pub use described::{TopologyError, parse_topology};
pub use sysfs::{SYSFS_NODE, read_topology};

/// What the groups of a level are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelKind {
    /// What is plugged into a socket.
    Package,
    /// Processors with the same memory nearest.
    Node,
    /// A part of a package.
    Die,
    /// Processors that share a data cache of this level.
    Cache(u8),
    /// A core.
    Core,
    /// A hardware thread of a core that has several.
    Thread,
}

impl LevelKind {
    /// The kind of this name, as [`fmt::Display`] writes it.
    pub fn of_name(name: &str) -> Option<Self> {
        let digit = |text: &str| text.parse().ok().filter(|level| (1..=9).contains(level));
        match name {
            "package" => Some(Self::Package),
            "node" => Some(Self::Node),
            "die" => Some(Self::Die),
            "core" => Some(Self::Core),
            "thread" => Some(Self::Thread),
            other => other.strip_prefix(['L', 'l']).and_then(digit).map(Self::Cache),
        }
    }
}

impl fmt::Display for LevelKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package => out.write_str("package"),
            Self::Node => out.write_str("node"),
            Self::Die => out.write_str("die"),
            Self::Cache(level) => write!(out, "L{level}"),
            Self::Core => out.write_str("core"),
            Self::Thread => out.write_str("thread"),
        }
    }
}

impl Serialize for LevelKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A level of a [`Topology`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// What its groups are.
    pub kind: LevelKind,
    /// Cost of an event between two of its groups that lie in one group of the level before. Never smaller than that of
    /// the level after it.
    pub distance: u32,
    /// Group of each processor, numbered from 0 in the order of the processors over the whole machine.
    pub groups: Vec<u32>,
}

impl Level {
    /// Number of its groups.
    pub fn len(&self) -> usize {
        self.groups.last().map_or(0, |last| *last as usize + 1)
    }

    /// Never: a machine has a processor.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// The processors of a machine, in the order of the tree: those near each other are beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<u32>,
    levels: Vec<Level>,
}

impl Topology {
    /// From processors and, outermost level first, what each processor's group is in each level (any labels: a group is
    /// what has equal labels inside a group of the level before). Levels that split nothing are left out, and the last
    /// one is completed by `innermost` if it has groups of several processors. `distance` gives a level's cost by the
    /// number of levels inside it.
    fn new(
        cpus: Vec<u32>,
        labels: Vec<(LevelKind, Vec<u32>)>,
        innermost: LevelKind,
        distance: impl Fn(usize, LevelKind) -> u32,
    ) -> Self {
        // Order of the tree: by the labels of all levels, then by number.
        let mut order: Vec<usize> = (0..cpus.len()).collect();
        order.sort_by_cached_key(|p| (labels.iter().map(|(_, of)| of[*p]).collect::<Vec<_>>(), *p));
        let mut levels: Vec<Level> = Vec::new();
        let own = (innermost, (0..).take(cpus.len()).collect());
        let mut before = vec![0; cpus.len()];
        for (kind, of) in labels.into_iter().chain([own]) {
            let mut groups = Vec::with_capacity(cpus.len());
            for (at, p) in order.iter().enumerate() {
                let starts = at > 0 && (before[at] != before[at - 1] || of[*p] != of[order[at - 1]]);
                groups.push(groups.last().map_or(0, |last| last + u32::from(starts)));
            }
            if groups != before {
                before.clone_from(&groups);
                levels.push(Level { kind, distance: 0, groups });
            }
        }
        let depth = levels.len();
        for (at, level) in levels.iter_mut().enumerate() {
            level.distance = distance(depth - 1 - at, level.kind);
        }
        Self { cpus: order.into_iter().map(|p| cpus[p]).collect(), levels }
    }

    /// The operating system's numbers of the processors, in the order of the tree.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// The levels that split anything, outermost first. None for a single processor.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The outermost level that separates two processors (indices into [`Topology::cpus`]); none for one and the same.
    pub fn separation(&self, a: usize, b: usize) -> Option<usize> {
        self.levels.iter().position(|level| level.groups[a] != level.groups[b])
    }

    /// Cost of an event between two processors; 0 for one and the same.
    pub fn distance(&self, a: usize, b: usize) -> u32 {
        self.separation(a, b).map_or(0, |level| self.levels[level].distance)
    }

    /// The core of each processor. Processors share one if nothing but [`LevelKind::Thread`] separates them.
    pub fn cores(&self) -> Vec<u32> {
        match self.levels.as_slice() {
            [] => vec![0],
            [only] if only.kind == LevelKind::Thread => vec![0; self.cpus.len()],
            [.., outer, last] if last.kind == LevelKind::Thread => outer.groups.clone(),
            [.., last] => last.groups.clone(),
        }
    }
}

/// Cost of the innermost level; each level outwards costs twice as much. An assumption about latencies, which roughly
/// double from a shared core over a shared cache to another package; a described topology states its own.
fn doubling(inside: usize, _: LevelKind) -> u32 {
    1 << inside.min(20)
}
