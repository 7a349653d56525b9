//! Who of the threads that one creates is a team: by where they are created, by what they run, and whether the creator
//! is of it.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use super::instances::Instance;
use super::observed::{Observed, Part, Sparse, Spot};

/// What a thread created until it joined one of them, by where it did so: a pool that sleeps while other threads are
/// made and joined is a team of its own. Single threads that are created in lines of their own are one team.
pub fn by_place(parts: Vec<&Part>) -> Vec<Vec<&Part>> {
    let mut places: BTreeMap<&Spot, Vec<&Part>> = BTreeMap::new();
    for part in &parts {
        places.entry(&part.begin).or_default().push(part);
    }
    let is_team = |parts: &Vec<&Part>| parts.iter().filter(|part| !part.creator).count() > 1;
    if is_created(&parts) && places.values().all(is_team) { places.into_values().collect() } else { vec![parts] }
}

/// From the creation of threads to their join, without a barrier on the way.
fn is_created(parts: &[&Part]) -> bool {
    parts.iter().all(|part| part.kind == "join" && !part.last)
}

/// Threads that run the same are a team, and single ones of several kinds are one together, as those of a pipeline are.
/// The creator is of those whose work it does, too.
pub fn by_role<'a>(instance: Instance<'a>, roles: &BTreeMap<u32, u32>, observed: &Observed) -> Vec<Instance<'a>> {
    let created = instance.parts.iter().filter(|part| !part.creator);
    let known: Option<Vec<u32>> = created.map(|part| roles.get(&part.thread).copied()).collect();
    let Some(known) = known.filter(|_| is_created(&instance.parts)) else {
        return vec![without_bystander(instance, observed)];
    };
    let runs: Vec<u32> = BTreeSet::from_iter(known).into_iter().collect();
    let members = |role: u32| -> Vec<usize> {
        let runs = |part: &Part| !part.creator && roles.get(&part.thread) == Some(&role);
        (0..instance.parts.len()).filter(|&index| runs(instance.parts[index])).collect()
    };
    let mut teams: Vec<(Vec<u32>, Vec<usize>)> = runs.iter().map(|&role| (vec![role], members(role))).collect();
    if let Some(creator) = instance.parts.iter().position(|part| part.creator && teams.len() > 1) {
        let own = |at: usize| own_work(observed, &instance, creator, &teams, at);
        let most = (0..teams.len()).map(|at| (own(at), at)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((shared, at)) = most
            && is_member(observed, &instance, creator, shared)
        {
            teams[at].1.push(creator);
        }
    }
    let (single, mut several): (Vec<_>, Vec<_>) = teams.into_iter().partition(|(_, members)| members.len() < 2);
    if runs.len() < 2 || several.is_empty() {
        return vec![without_bystander(Instance { runs, ..instance }, observed)];
    }
    several.extend(single.into_iter().reduce(|(a, b), (role, member)| ([a, role].concat(), [b, member].concat())));
    let team = |(runs, mut members): (Vec<u32>, Vec<usize>)| {
        members.sort_unstable();
        let parts = members.iter().map(|&index| instance.parts[index]).collect();
        let executions = members.iter().map(|&index| instance.executions[index].clone()).collect();
        Instance { parts, executions, runs }
    };
    several.into_iter().map(team).collect()
}

/// A thread that only creates and joins the others is no part of the team: beside them it would be the one that does
/// nothing. One that does at least half of its work in functions that all others run, as `main` does in many programs,
/// is.
fn without_bystander<'a>(mut instance: Instance<'a>, observed: &Observed) -> Instance<'a> {
    let Some(creator) = instance.parts.iter().position(|p| p.creator && p.kind == "join") else { return instance };
    if instance.parts.len() < 2 {
        return instance;
    }
    let others: Vec<usize> = (0..instance.parts.len()).filter(|&index| index != creator).collect();
    let own = own_work(observed, &instance, creator, &[(instance.runs.clone(), others)], 0);
    if !is_member(observed, &instance, creator, own) {
        instance.parts.remove(creator);
        instance.executions.remove(creator);
    }
    instance
}

/// Whether a thread does most of its work where a team does its own.
fn is_member(observed: &Observed, instance: &Instance, thread: usize, own: f64) -> bool {
    own * 2.0 > observed.work(&instance.executions[thread])
}

/// What a thread executed of a team's own work: in functions that all of it run and no other team does, and in what it
/// runs where the compiler put that into the thread's function.
fn own_work(
    observed: &Observed,
    instance: &Instance,
    thread: usize,
    teams: &[(Vec<u32>, Vec<usize>)],
    team: usize,
) -> f64 {
    let function = |block: u32| observed.blocks[block as usize].function;
    let functions = |&member: &usize| {
        instance.executions[member].iter().map(|&(block, _)| function(block)).collect::<BTreeSet<u32>>()
    };
    let (runs, members) = &teams[team];
    let all = members.iter().map(functions).reduce(|a, b| &a & &b).unwrap_or_default();
    let others = (0..).zip(teams).filter(|(at, _)| *at != team).flat_map(|(_, (_, members))| members);
    let elsewhere: BTreeSet<u32> = others.flat_map(functions).collect();
    let is_inlined = |block: u32| {
        let region = Some(observed.blocks[block as usize].region);
        let mut around = successors(region, |&region| observed.regions[region as usize].parent);
        matches!(runs[..], [role] if around.any(|region| region == role))
    };
    let is_own =
        |block: u32| is_inlined(block) || all.contains(&function(block)) && !elsewhere.contains(&function(block));
    let own = instance.executions[thread].iter().copied().filter(|&(block, _)| is_own(block));
    observed.work(&own.collect::<Sparse>())
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
        let teams = by_place(parts.iter().collect());
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
