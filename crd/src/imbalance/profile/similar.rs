//! Similarity of the threads of the program's parallel sections (Liu et al.), from their CPU time in the call tree;
//! where no times were taken or the threads ran too shortly for them, from their work in the regions of the source.

use std::collections::{BTreeMap, BTreeSet};

use super::super::craypat;
use super::super::similarity::ccr::{self, CriticalRegion, Regions};
use super::super::similarity::kinds::{TAU, members};
use super::super::similarity::{DecisionTable, MAX_ATTRIBUTES, Metric, discernibility, reducts, severity};
use super::super::vector::{deviation, mean};
use super::model::Similarity;
use super::observed::Observed;
use super::regions::{METRICS, Merged, own};

/// Threads with less CPU time than this, in seconds, are compared by their work: 10 ms is a scheduler's tick at 100 Hz,
/// and kinds differ by a tenth of it, which a preemption and the cache that it leaves behind cost.
const TOO_SHORT: f64 = 0.01;

/// So many threads are compared, those with most CPU time or else work: each with each, over sets of regions. 2 000
/// threads and 250 regions took 21 s, and who creates more has many that live for next to no time.
pub const MOST_THREADS: usize = 256;

/// A region, or a node of the call tree, of the vectors.
struct Place {
    region: u32,
    parent: Option<usize>,
    own: Vec<f64>,
}

/// Kinds of the threads of `team`; none if there are fewer than two or nothing tells of them.
pub fn similarity(observed: &Observed, merged: &[Merged], team: &BTreeSet<u32>) -> Option<Similarity> {
    if team.len() < 2 {
        return None;
    }
    let by_region = own(observed);
    let all = team.len();
    let team = those_that_did_most(team, merged, by_region.get("work"));
    let cpu = |n: &Merged| team.iter().map(|t| n.own.get(t).map_or(0.0, |own| own[2])).collect();
    let mut by = "cpu";
    let mut places: Vec<Place> =
        merged.iter().map(|n| Place { region: n.region, parent: n.parent, own: cpu(n) }).collect();
    let mut sums: Vec<f64> = (0..team.len()).map(|t| places.iter().map(|p| p.own[t]).sum()).collect();
    sums.sort_by(f64::total_cmp);
    let median = sums[sums.len() / 2];
    let work = by_region.get("work");
    if median == 0.0 || median < TOO_SHORT && work.is_some() {
        by = "work";
        let work = work?;
        let of = |region: u32| team.iter().map(|t| value(work, region, *t)).collect();
        let parents = observed.regions.iter().map(|r| r.parent.map(|p| p as usize));
        places = (0u32..).zip(parents).map(|(region, parent)| Place { region, parent, own: of(region) }).collect();
        // The program is around everything: the regions right inside it are the outermost.
        places.iter_mut().for_each(|p| p.parent = p.parent.filter(|&above| above != 0));
    }
    let nodes: Vec<craypat::Node> =
        places.iter().map(|p| craypat::Node { parent: p.parent, own: p.own.clone() }).collect();
    let sums = craypat::inclusive(&nodes);
    if sums.iter().flatten().all(|&v| v == 0.0) {
        return None;
    }
    let times = (0..team.len()).map(|t| sums.iter().map(|s| s[t]).collect()).collect();
    let regions = Regions { parents: places.iter().map(|p| p.parent).collect(), times };
    let labels = regions.kinds(TAU);
    let critical = ccr::search(&regions, TAU);
    let metrics: Vec<Metric> = critical
        .cccr
        .iter()
        .flat_map(|&place| attributes(observed, &by_region, &places, &sums, place, critical.cccr.len() > 1, &team))
        .collect();
    let (kept, left_out) = choose(metrics);
    let kept: Vec<&Metric> = kept.iter().collect();
    let decision_table = DecisionTable::of_metrics(&kept, &labels, TAU).expect("as many as can be reduced were chosen");
    let reducts = reducts(&discernibility(&decision_table), decision_table.attributes.len())
        .expect("as many as can be reduced were chosen");
    let severity = severity(&regions.outermost_times());
    let region = |place: usize| places[place].region as usize;
    Some(Similarity {
        by,
        severity: severity.is_finite().then_some(severity),
        kinds: members(&labels).into_iter().map(|kind| kind.into_iter().map(|t| team[t]).collect()).collect(),
        ccr: critical.ccr.iter().map(|c| CriticalRegion { region: region(c.region), ..*c }).collect(),
        groups: critical.groups.iter().map(|group| group.iter().map(|&place| region(place)).collect()).collect(),
        cccr: critical.cccr.iter().map(|&place| region(place)).collect(),
        decision_table,
        left_out,
        not_compared: all - team.len(),
        reducts,
    })
}

/// [`MOST_THREADS`] of the threads, ascending.
fn those_that_did_most(
    team: &BTreeSet<u32>,
    merged: &[Merged],
    work: Option<&BTreeMap<u32, BTreeMap<u32, f64>>>,
) -> Vec<u32> {
    let did = |thread: u32| {
        let cpu: f64 = merged.iter().filter_map(|node| Some(node.own.get(&thread)?[2])).sum();
        let work: f64 = work.into_iter().flat_map(BTreeMap::values).filter_map(|threads| threads.get(&thread)).sum();
        (cpu, work)
    };
    if team.len() <= MOST_THREADS {
        return team.iter().copied().collect();
    }
    let mut by_work: Vec<((f64, f64), u32)> = team.iter().map(|&thread| (did(thread), thread)).collect();
    by_work.sort_by(|(a, _), (b, _)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let mut most: Vec<u32> = by_work.into_iter().take(MOST_THREADS).map(|(_, thread)| thread).collect();
    most.sort_unstable();
    most
}

fn value(values: &BTreeMap<u32, BTreeMap<u32, f64>>, region: u32, thread: u32) -> f64 {
    values.get(&region).and_then(|v| v.get(&thread)).copied().unwrap_or(0.0)
}

/// All metrics of one critical region: what the vectors hold with everything inside, the others of the region itself
/// and the regions inside it in the source.
fn attributes(
    observed: &Observed,
    by_region: &BTreeMap<&'static str, BTreeMap<u32, BTreeMap<u32, f64>>>,
    places: &[Place],
    sums: &[Vec<f64>],
    place: usize,
    several: bool,
    team: &[u32],
) -> Vec<Metric> {
    let region = places[place].region;
    let within = |mut at: u32| loop {
        if at == region {
            return true;
        }
        match observed.regions[at as usize].parent {
            Some(parent) => at = parent,
            None => return false,
        }
    };
    let inside: Vec<u32> = (0..observed.regions.len() as u32).filter(|&r| within(r)).collect();
    let name = |metric: &str| {
        if several {
            format!("{metric} in {} #{region}", observed.regions[region as usize].name)
        } else {
            metric.into()
        }
    };
    let of = |metric: &&'static str| {
        let values = match (*metric, by_region.get(metric)) {
            ("cpu", Some(_)) => sums[place].clone(),
            (_, Some(all)) => team.iter().map(|t| inside.iter().map(|&r| value(all, r, *t)).sum()).collect(),
            (_, None) => return None,
        };
        Some(Metric { region: region as usize, name: name(metric), values })
    };
    METRICS.iter().filter_map(of).collect()
}

/// At most [`MAX_ATTRIBUTES`] metrics, those that differ most between threads, relative to their mean; and the names of
/// the others.
fn choose(mut metrics: Vec<Metric>) -> (Vec<Metric>, Vec<String>) {
    let spread = |m: &Metric| {
        let mean = mean(&m.values);
        if mean > 0.0 { deviation(&m.values) / mean } else { 0.0 }
    };
    let mut order: Vec<usize> = (0..metrics.len()).collect();
    order.sort_by(|&a, &b| spread(&metrics[b]).total_cmp(&spread(&metrics[a])).then(a.cmp(&b)));
    let out: BTreeSet<usize> = order.into_iter().skip(MAX_ATTRIBUTES).collect();
    let left_out = out.iter().map(|&i| metrics[i].name.clone()).collect();
    let mut index = 0;
    metrics.retain(|_| {
        index += 1;
        !out.contains(&(index - 1))
    });
    (metrics, left_out)
}
