//! Dynamic instances of sections: the parts of their threads, and what section an instance is of.

use std::collections::{BTreeMap, BTreeSet};

use super::observed::{Observed, Part, Sparse, Spot};

/// All parts of one dynamic instance, by thread.
pub struct Instance<'a> {
    pub parts: Vec<&'a Part>,
    /// What each thread executed of each block.
    pub executions: Vec<Sparse>,
}

/// Kind, begin, end.
pub type Identity = (&'static str, Spot, Spot);

/// All instances with these parts.
pub fn instances<'a>(observed: &'a Observed, all: &'a [Part]) -> Vec<Instance<'a>> {
    // Kind, whether it begins at a last barrier, which instance.
    type Key<'k> = (&'k str, bool, (u64, u64));
    let mut parts: BTreeMap<Key, Vec<&Part>> = BTreeMap::new();
    for part in all {
        parts.entry((part.kind, part.last, part.instance)).or_default().push(part);
    }
    let instance = |mut parts: Vec<&'a Part>| {
        parts.sort_by_key(|p| p.thread);
        let executions = parts.iter().map(|p| observed.executions(&p.edges)).collect();
        without_bystander(Instance { parts, executions }, observed)
    };
    parts.into_values().flat_map(teams).map(instance).collect()
}

/// What a thread created until it joined one of them, by where it did so: a pool that sleeps while other threads are
/// made and joined is a team of its own. Single threads that are created in lines of their own are one team.
fn teams(parts: Vec<&Part>) -> Vec<Vec<&Part>> {
    let mut by_place: BTreeMap<&Spot, Vec<&Part>> = BTreeMap::new();
    for part in &parts {
        by_place.entry(&part.begin).or_default().push(part);
    }
    let is_team = |parts: &Vec<&Part>| parts.iter().filter(|part| !part.creator).count() > 1;
    let created = parts.iter().all(|part| part.kind == "join" && !part.last);
    if created && by_place.values().all(is_team) { by_place.into_values().collect() } else { vec![parts] }
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

/// A thread that only creates and joins the others is no part of the team: beside them it would be the one that does
/// nothing. One that does at least half of its work in functions that all others run, as `main` does in many programs,
/// is.
fn without_bystander<'a>(mut instance: Instance<'a>, observed: &Observed) -> Instance<'a> {
    let Some(creator) = instance.parts.iter().position(|p| p.creator && p.kind == "join") else { return instance };
    if instance.parts.len() < 2 {
        return instance;
    }
    let function = |block: u32| observed.blocks[block as usize].function;
    let functions =
        |executions: &Sparse| executions.iter().map(|&(block, _)| function(block)).collect::<BTreeSet<u32>>();
    let others = instance.executions.iter().enumerate().filter(|(i, _)| *i != creator);
    let shared = others.map(|(_, e)| functions(e)).reduce(|a, b| &a & &b).unwrap_or_default();
    let own = &instance.executions[creator];
    let alike: Sparse = own.iter().copied().filter(|&(block, _)| shared.contains(&function(block))).collect();
    if observed.work(&alike) * 2.0 <= observed.work(own) {
        instance.parts.remove(creator);
        instance.executions.remove(creator);
    }
    instance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of threads that were created in these lines until the first join; the first one creates.
    fn teams_of(lines: &[u32]) -> Vec<Vec<u32>> {
        let part = |(thread, line): (u32, &u32)| Part {
            thread,
            kind: "join",
            begin: Spot { line: *line, ..Spot::default() },
            creator: thread == 0,
            ..Part::default()
        };
        let parts: Vec<Part> = (0..).zip(lines).map(part).collect();
        let teams = teams(parts.iter().collect());
        teams.into_iter().map(|team| team.iter().map(|part| part.thread).collect()).collect()
    }

    #[test]
    fn threads_that_were_created_in_two_loops_are_two_teams() {
        assert_eq!(teams_of(&[7, 7, 7, 7, 9, 9, 9]), [vec![0, 1, 2, 3], vec![4, 5, 6]]);
    }

    #[test]
    fn threads_that_were_created_one_by_one_are_one_team() {
        assert_eq!(teams_of(&[7, 7, 8, 9]), [[0, 1, 2, 3]]);
        assert_eq!(teams_of(&[7, 7, 9, 9, 9]), [[0, 1, 2, 3, 4]], "the first of them alone");
    }
}
