//! The machine that threads are placed on: this one, or one described in a file.

use crate::error::{Error, Result};
use std::path::Path;
use threadtalk_crd::machine::{self, Topology};

/// Where Linux says which processors this process may use.
const STATUS: &str = "/proc/self/status";

/// A topology and what it is of.
pub struct Machine {
    /// Its processors.
    pub topology: Topology,
    /// For the reader: "this machine", or the file that describes it.
    pub name: String,
}

/// The topology that `file` describes; without one that of this machine, as far as this process may use it.
pub fn topology(file: Option<&Path>) -> Result<Machine> {
    let Some(file) = file else {
        let (cpus, nodes) = (Path::new(machine::SYSFS_CPU), Path::new(machine::SYSFS_NODE));
        let topology = machine::read_topology(cpus, nodes, allowed_cpus().as_deref())
            .map_err(|error| Error::Topology { what: error.to_string() })?;
        return Ok(Machine { topology, name: "this machine".to_string() });
    };
    let text = std::fs::read_to_string(file).map_err(|e| Error::file("read the topology", file, &e))?;
    let topology = machine::parse_topology(&text)
        .map_err(|error| Error::Topology { what: format!("{}: {error}", file.display()) })?;
    Ok(Machine { topology, name: file.display().to_string() })
}

/// Processors that this process may use, ascending; none where Linux does not say.
pub fn allowed_cpus() -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(STATUS).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    machine::parse_cpus(list)
}
