//! CrayPat's metrics of every region of the source and of every node of the call tree (DeRose et al., section 3).

use std::collections::{BTreeMap, BTreeSet};

use super::super::craypat::{self, Node as Own};
use super::model::{CallNode, Figures, Metrics, Region};
use super::observed::{EventKind, Node, Observed};

/// Values of one metric: region, thread, value.
type Values = BTreeMap<u32, BTreeMap<u32, f64>>;

/// Names of the metrics, the most telling first; `time` and `cpu` are in seconds, `work` in instructions.
pub const METRICS: [&str; 7] = ["cpu", "time", "work", "calls", "accesses", "misses", "communication"];

/// All metrics of the regions themselves.
pub fn own(observed: &Observed) -> BTreeMap<&'static str, Values> {
    let executions = || {
        let by_thread = observed.threads.iter().zip(&observed.by_thread);
        by_thread.flat_map(|(&thread, executions)| executions.iter().map(move |&(block, count)| (thread, block, count)))
    };
    let work = executions().map(|(thread, block, count)| {
        let region = observed.blocks[block as usize].region;
        (region, thread, count as f64 * observed.instructions(block) as f64)
    });
    let accesses = executions().map(|(thread, block, count)| {
        let b = &observed.blocks[block as usize];
        let accesses = u64::from(b.contents.loads) + u64::from(b.contents.stores);
        (b.region, thread, count as f64 * accesses as f64)
    });
    // A miss of the last level is one of the first level, too.
    let misses = observed.events.iter().filter(|(_, event)| event.kind == EventKind::FirstLevelMiss);
    let misses = misses.map(|(t, event)| (observed.sites[event.site as usize].region, *t, event.count as f64));
    let counts = |list: &[(u32, u32, u64)]| sum(list.iter().map(|&(thread, region, n)| (region, thread, n as f64)));
    let exclusive = exclusive(&observed.nodes);
    let seconds = |of: fn(&(f64, f64)) -> f64| {
        sum(observed.nodes.iter().zip(&exclusive).map(|(node, both)| (node.region, node.thread, of(both))))
    };
    let all = [
        ("work", sum(work)),
        ("accesses", sum(accesses)),
        ("misses", sum(misses)),
        ("calls", counts(&observed.visits)),
        ("communication", counts(&observed.communication)),
        ("time", seconds(|(wall, _)| *wall)),
        ("cpu", seconds(|(_, cpu)| *cpu)),
    ];
    all.into_iter().filter(|(_, values)| !values.is_empty()).collect()
}

/// Sums by region and thread of what is not zero.
fn sum(measured: impl Iterator<Item = (u32, u32, f64)>) -> Values {
    let mut values = Values::new();
    for (region, thread, value) in measured.filter(|(_, _, value)| *value != 0.0) {
        *values.entry(region).or_default().entry(thread).or_default() += value;
    }
    values
}

/// Seconds and CPU seconds of each node without those that it calls. Clocks are read one after the other, so a sum of
/// callees may be above its caller by some nanoseconds: then nothing is left.
fn exclusive(nodes: &[Node]) -> Vec<(f64, f64)> {
    let mut inside: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for node in nodes.iter().filter(|n| n.parent != 0) {
        let sum = inside.entry((node.thread, node.parent)).or_default();
        *sum = (sum.0.saturating_add(node.wall_ns), sum.1.saturating_add(node.cpu_ns));
    }
    let left = |node: &Node| {
        let (wall, cpu) = inside.get(&(node.thread, node.id)).copied().unwrap_or_default();
        let seconds = |all: u64, part: u64| all.saturating_sub(part) as f64 * 1e-9;
        (seconds(node.wall_ns, wall), seconds(node.cpu_ns, cpu))
    };
    nodes.iter().map(left).collect()
}

/// Regions in which something was measured. `team`: threads of parallel sections, which count everywhere that one of
/// them is.
pub fn regions(observed: &Observed, team: &BTreeSet<u32>) -> Vec<Region> {
    let own = own(observed);
    let with_inside: BTreeMap<&'static str, Values> =
        own.iter().map(|(&metric, values)| (metric, inside(observed, values))).collect();
    let describe = |(id, region): (u32, &super::observed::RegionOf)| {
        let seen = with_inside.values().filter_map(|v| v.get(&id)).flat_map(|v| v.keys().copied());
        let team = team_of(seen.collect(), team);
        let metrics = |all: &BTreeMap<&'static str, Values>| metrics_of(all, id, &team);
        let inclusive = metrics(&with_inside);
        (!inclusive.is_empty()).then(|| Region {
            id,
            kind: region.kind.name(),
            name: region.name.clone(),
            file: region.at.file.clone(),
            line: region.at.line,
            parent: region.parent,
            exclusive: metrics(&own),
            inclusive,
            team: team.clone(),
        })
    };
    (0u32..).zip(&observed.regions).filter_map(describe).collect()
}

/// The threads that count where `seen` were: if one of the team was there, all of it.
fn team_of(mut seen: BTreeSet<u32>, team: &BTreeSet<u32>) -> Vec<u32> {
    if !seen.is_disjoint(team) {
        seen.extend(team);
    }
    seen.into_iter().collect()
}

fn metrics_of(all: &BTreeMap<&'static str, Values>, id: u32, team: &[u32]) -> Metrics {
    let figures = |(&metric, values): (&&'static str, &Values)| {
        let values = values.get(&id)?;
        let by_thread = team.iter().map(|t| values.get(t).copied().unwrap_or(0.0)).collect();
        Some((metric, Figures::new(by_thread, team)?))
    };
    all.iter().filter_map(figures).collect()
}

/// Values with those of the regions inside.
fn inside(observed: &Observed, values: &Values) -> Values {
    let mut sums = values.clone();
    // Parents come before children.
    for id in (0..observed.regions.len() as u32).rev() {
        let region = &observed.regions[id as usize];
        let Some(parent) = region.parent else { continue };
        // Regions that the program names lie across those of the source.
        if region.kind == threadtalk_abi::module::RegionKind::User {
            continue;
        }
        let Some(own) = sums.get(&id).cloned() else { continue };
        let sum = sums.entry(parent).or_default();
        own.into_iter().for_each(|(thread, value)| *sum.entry(thread).or_default() += value);
    }
    sums
}

/// A node of the call trees of all threads as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// Index of the caller.
    pub parent: Option<usize>,
    /// Region.
    pub region: u32,
    /// Visits, seconds and CPU seconds of each thread in the node itself.
    pub own: BTreeMap<u32, [f64; 3]>,
}

/// The call trees of all threads: nodes with the same regions on the way to them are one. Callers before callees.
pub fn merged(observed: &Observed) -> Vec<Merged> {
    let mut merged: Vec<Merged> = Vec::new();
    let mut known: BTreeMap<(Option<usize>, u32), usize> = BTreeMap::new();
    let mut place: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let exclusive = exclusive(&observed.nodes);
    // The profile has callers before callees.
    for (node, (wall, cpu)) in observed.nodes.iter().zip(exclusive) {
        let parent = place.get(&(node.thread, node.parent)).copied();
        let at = *known.entry((parent, node.region)).or_insert_with(|| {
            merged.push(Merged { parent, region: node.region, own: BTreeMap::new() });
            merged.len() - 1
        });
        place.insert((node.thread, node.id), at);
        let own = merged[at].own.entry(node.thread).or_default();
        *own = [own[0] + node.visits as f64, own[1] + wall, own[2] + cpu];
    }
    merged
}

/// Metrics of the call tree's nodes.
pub fn calls(merged: &[Merged], team: &BTreeSet<u32>) -> Vec<CallNode> {
    let threads: Vec<u32> =
        merged.iter().flat_map(|n| n.own.keys().copied()).collect::<BTreeSet<_>>().into_iter().collect();
    let column = |what: usize| -> Vec<Own> {
        let own = |n: &Merged| threads.iter().map(|t| n.own.get(t).map_or(0.0, |v| v[what])).collect();
        merged.iter().map(|n| Own { parent: n.parent, own: own(n) }).collect()
    };
    let columns = [("calls", column(0)), ("time", column(1)), ("cpu", column(2))];
    let sums: Vec<Vec<Vec<f64>>> = columns.iter().map(|(_, nodes)| craypat::inclusive(nodes)).collect();
    let describe = |(index, node): (usize, &Merged)| {
        let seen = threads.iter().enumerate().filter(|(t, _)| sums.iter().any(|s| s[index][*t] > 0.0));
        let team = team_of(seen.map(|(_, &id)| id).collect(), team);
        let figures = |values: &[f64]| {
            let of = |t: &u32| threads.binary_search(t).map_or(0.0, |at| values[at]);
            Figures::new(team.iter().map(of).collect(), &team).filter(|f| f.spread.max > 0.0)
        };
        let exclusive = columns.iter().filter_map(|(name, nodes)| Some((*name, figures(&nodes[index].own)?)));
        let inclusive = columns.iter().zip(&sums).skip(1);
        let inclusive = inclusive.filter_map(|((name, _), sums)| Some((*name, figures(&sums[index])?)));
        CallNode {
            parent: node.parent,
            region: node.region,
            exclusive: exclusive.collect(),
            inclusive: inclusive.collect(),
            team: team.clone(),
        }
    };
    merged.iter().enumerate().map(describe).collect()
}
