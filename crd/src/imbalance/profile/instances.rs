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

/// Instances of a section, and what their threads run where others run something else at the same place.
pub struct Group<'a> {
    pub identity: Identity,
    pub runs: &'a [u32],
    pub instances: Vec<&'a Instance<'a>>,
}

impl<'a> Group<'a> {
    /// Of instances at one place, by what their threads run. Where one does not tell, it may be what any of the others
    /// do.
    fn of_place(identity: Identity, by_role: BTreeMap<&'a [u32], Vec<&'a Instance<'a>>>) -> Vec<Group<'a>> {
        if by_role.len() == 1 || by_role.contains_key(&[][..]) {
            let instances = by_role.into_values().flatten().collect();
            return vec![Group { identity, runs: &[], instances }];
        }
        let group = |(runs, instances)| Group { identity: identity.clone(), runs, instances };
        by_role.into_iter().map(group).collect()
    }
}

/// Instances by section.
pub fn groups<'a>(instances: &'a [Instance<'a>]) -> Vec<Group<'a>> {
    let mut places: BTreeMap<Identity, BTreeMap<&[u32], Vec<&Instance>>> = BTreeMap::new();
    for instance in instances {
        places.entry(identity(&instance.parts)).or_default().entry(&instance.runs).or_default().push(instance);
    }
    places.into_iter().flat_map(|(identity, by_role)| Group::of_place(identity, by_role)).collect()
}
