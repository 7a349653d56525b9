//! The caches that cutoffs are computed for: those of this machine ([`read`]) or described ones ([`parse`]).

mod described;
mod sysfs;

use serde::Serialize;

pub use described::{DescriptionError, parse};
pub use sysfs::{SYSFS_CPU, SysfsError, read};

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
