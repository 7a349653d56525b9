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
        return vec![without_coordinator(without_bystander(instance, observed), roles, observed)];
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

/// Work of a thread that is next to nothing, as a part of what each of the others has.
const NEXT_TO_NOTHING: f64 = 0.01;

/// Nor is a thread of the team that runs something else and does next to nothing between the barriers of those that run
/// the same: it starts and ends their turns. One that works while they wait is: they wait for it.
fn without_coordinator<'a>(
    mut instance: Instance<'a>,
    roles: &BTreeMap<u32, u32>,
    observed: &Observed,
) -> Instance<'a> {
    if instance.parts.iter().any(|part| part.kind != "barrier") {
        return instance;
    }
    let role_of = |index: usize| roles.get(&instance.parts[index].thread).copied();
    let mut by_role: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for index in 0..instance.parts.len() {
        role_of(index).into_iter().for_each(|role| by_role.entry(role).or_default().push(index));
    }
    let Some((role, members)) = by_role.into_iter().max_by_key(|(_, members)| members.len()) else { return instance };
    let work = |index: usize| observed.work(&instance.executions[index]);
    let least = members.iter().map(|&index| work(index)).fold(f64::INFINITY, f64::min);
    let least_cpu = members.iter().map(|&index| instance.parts[index].cpu_ns).min().unwrap_or(0);
    let team = [(vec![role], members)];
    let is_coordinator = |index: usize| {
        role_of(index).is_some_and(|own| own != role)
            && work(index) < NEXT_TO_NOTHING * least
            && instance.parts[index].cpu_ns < least_cpu
            && !is_member(observed, &instance, index, own_work(observed, &instance, index, &team, 0))
    };
    let kept: Vec<usize> = (0..instance.parts.len()).filter(|&index| !is_coordinator(index)).collect();
    if team[0].1.len() > 1 && kept.len() < instance.parts.len() {
        instance.parts = kept.iter().map(|&index| instance.parts[index]).collect();
        instance.executions = kept.iter().map(|&index| std::mem::take(&mut instance.executions[index])).collect();
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
    use super::super::super::pbv::{Category, Contents};
    use super::super::observed::{Block, RegionOf};
    use super::*;
    use crate::model::Position;
    use threadtalk_abi::module::RegionKind;

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

    /// Of threads that executed the first function's block, the start function of the first of them, and the second's,
    /// that of the others, so often between two barriers: whom the team is made of.
    fn team_of(executed: &[[u64; 2]]) -> Vec<u32> {
        let contents = Contents { instructions: BTreeMap::from([(Category::Integer, 1)]), ..Contents::default() };
        let block = |function| Block {
            function,
            region: function,
            file: None,
            line: 0,
            end_line: 0,
            contents: contents.clone(),
        };
        let region = || RegionOf {
            kind: RegionKind::Function,
            name: String::new(),
            at: Position { file: None, line: None },
            parent: None,
        };
        let observed =
            Observed { regions: vec![region(), region()], blocks: vec![block(0), block(1)], ..Observed::default() };
        let cpu = |counts: &[u64; 2]| counts.iter().sum();
        let part = |(thread, counts)| Part { thread, kind: "barrier", cpu_ns: cpu(counts), ..Part::default() };
        let parts: Vec<Part> = (0..).zip(executed).map(part).collect();
        let counts = |of: &[u64; 2]| (0..).zip(*of).filter(|(_, count)| *count > 0).collect();
        let executions = executed.iter().map(counts).collect();
        let instance = Instance { parts: parts.iter().collect(), executions, runs: Vec::new() };
        let roles = (0..executed.len() as u32).map(|thread| (thread, u32::from(thread > 0))).collect();
        without_coordinator(instance, &roles, &observed).parts.iter().map(|part| part.thread).collect()
    }

    #[test]
    fn who_only_starts_and_ends_the_turns_of_others_is_not_of_their_team() {
        assert_eq!(team_of(&[[3, 0], [0, 1000], [0, 900]]), [1, 2]);
        assert_eq!(team_of(&[[0, 0], [0, 1000], [0, 900]]), [1, 2]);
    }

    #[test]
    fn who_works_while_others_wait_or_beside_them_is() {
        assert_eq!(team_of(&[[1000, 0], [0, 3], [0, 3]]), [0, 1, 2], "they wait");
        assert_eq!(team_of(&[[500, 0], [0, 1000], [0, 900]]), [0, 1, 2], "something else");
        assert_eq!(team_of(&[[1, 3], [0, 1000], [0, 900]]), [0, 1, 2], "too little of the same");
        assert_eq!(team_of(&[[3, 0], [0, 1000]]), [0, 1], "of two");
    }
}
