//! Dynamic instances of sections: the parts of their threads, and what section an instance is of.

use std::collections::BTreeMap;

use super::observed::{Observed, Part, Sparse, Spot};
use super::roles::roles;
use super::teams::{by_place, by_role};

/// All parts of one dynamic instance, by thread.
pub struct Instance<'a> {
    pub parts: Vec<&'a Part>,
    /// What each thread executed of each block.
    pub executions: Vec<Sparse>,
    /// What the threads that were created for it run, ascending; empty if that is not known.
    pub runs: Vec<u32>,
}

/// Kind, begin, end.
pub type Identity = (&'static str, Spot, Spot);

/// Equal for all parts of an instance: kind, whether it begins at a last barrier, which instance.
pub type Key = (&'static str, bool, (u64, u64));

/// The instance that a part is of.
pub fn key(part: &Part) -> Key {
    (part.kind, part.last, part.instance)
}

/// All instances with these parts.
pub fn instances<'a>(observed: &'a Observed, all: &'a [Part]) -> Vec<Instance<'a>> {
    let mut parts: BTreeMap<Key, Vec<&Part>> = BTreeMap::new();
    for part in all {
        parts.entry(key(part)).or_default().push(part);
    }
    let roles = roles(observed);
    let instance = |mut parts: Vec<&'a Part>| {
        parts.sort_by_key(|p| p.thread);
        let executions = parts.iter().map(|p| observed.executions(&p.edges)).collect();
        Instance { parts, executions, runs: Vec::new() }
    };
    let teams = parts.into_values().flat_map(by_place).map(instance);
    teams.flat_map(|team| by_role(team, &roles, observed)).collect()
}

/// The begin and end that most parts have; of equals the first in the order of files and lines.
pub fn identity(parts: &[&Part]) -> Identity {
    let mut votes: BTreeMap<(&Spot, &Spot), usize> = BTreeMap::new();
    parts.iter().for_each(|p| *votes.entry((&p.begin, &p.end)).or_default() += 1);
    let (mut begin, mut end, mut most) = (Spot::default(), Spot::default(), 0);
    for ((b, e), count) in votes {
        if count > most {
            (begin, end, most) = (b.clone(), e.clone(), count);
        }
    }
    (parts[0].kind, begin, end)
}
