//! The machine: caches that cutoffs are computed for, those of this machine ([`read`]) or described ones ([`parse`]),
//! and the topology that threads are placed on ([`read_topology`], [`parse_topology`]).

mod cpus;
mod described;
mod sysfs;
mod topology;

use serde::Serialize;

pub use cpus::{MAX_CPU, format_cpus, parse_cpus};
pub use described::{DescriptionError, parse};
pub use sysfs::{SYSFS_CPU, SysfsError, read};
pub use topology::{Level, LevelKind, SYSFS_NODE, Topology, TopologyError, parse_topology, read_topology};

/// A level of the data cache hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 1 = nearest to the core.
    pub level: u8,
    /// Capacity.
    pub bytes: u64,
    /// Hardware threads that share it.
    pub shared_by: u32,
}
