//! Cache lines that threads share without sharing an element, by the region of the writing line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::layout::shared_line_flags;
use threadtalk_profile::{Profile, WrittenSite};

use crate::executions::Executions;
use crate::lines::Positions;
use crate::model::{FalseSharing, Position};
use crate::objects;
use crate::regions::{RegionId, Tree};
use crate::sites;

/// What the writes of each site left in memory, each site once.
pub fn written(records: impl Iterator<Item = WrittenSite>) -> BTreeMap<u32, WrittenSite> {
    let mut sites: BTreeMap<u32, WrittenSite> = BTreeMap::new();
    for found in records {
        let sum = sites.entry(found.site).or_insert(WrittenSite { site: found.site, ..WrittenSite::default() });
        sum.lines = sum.lines.saturating_add(found.lines);
        sum.elements = sum.elements.saturating_add(found.elements);
        sum.read = sum.read.saturating_add(found.read);
        sum.readers = sum.readers.saturating_add(found.readers);
    }
    sites
}

/// The findings of each region: those with the most writes onto shared lines first, where executions were counted,
/// then those with the most lines.
pub fn by_region(
    profile: &Profile,
    tree: &Tree,
    positions: &Positions,
    written: &BTreeMap<u32, WrittenSite>,
) -> BTreeMap<RegionId, Vec<FalseSharing>> {
    let mut regions: BTreeMap<RegionId, Vec<FalseSharing>> = BTreeMap::new();
    let passed = passed(profile, positions);
    // Only where there is something to count: all blocks of the program take their time.
    let executions = profile.shared_lines().next().and_then(|_| Executions::of(profile));
    for found in profile.shared_lines() {
        let Some(region) = region_of(profile, tree, found.site) else { continue };
        let named = [found.site, found.other_site].map(|site| objects::name_at(profile, site));
        let allocated = objects::name_at(profile, found.allocation_site);
        let object =
            named.into_iter().chain([allocated]).find(|name| objects::is_telling(name)).unwrap_or_else(|| "".into());
        regions.entry(region).or_default().push(FalseSharing {
            writes: executions.as_ref().and_then(|e| e.at(region, &positions.at(found.site))),
            writer: positions.at(found.site),
            other: positions.at(found.other_site),
            other_reads: found.flags & shared_line_flags::OTHER_READS != 0,
            threads: [found.thread, found.other_thread],
            threads_seen: found.threads.count_ones(),
            lines: found.lines,
            of_lines: written.get(&found.site).map_or(found.lines, |w| w.lines.max(found.lines)),
            address: found.address,
            object,
            passed: passed_between(&passed, [found.site, found.other_site].map(|site| positions.at(site))),
            at_once: may_meet(profile, tree, [found.site, found.other_site]),
        });
    }
    for list in regions.values_mut() {
        list.sort_by(|a, b| {
            let order = |f: &FalseSharing| {
                let weight = std::cmp::Reverse((f.writes_shared(), f.lines));
                (weight, f.writer.clone(), f.other.clone(), Arc::clone(&f.object))
            };
            order(a).cmp(&order(b))
        });
    }
    regions
}

/// True communication by the lines that wrote and read, of those in whose lines false sharing was found.
fn passed(profile: &Profile, positions: &Positions) -> BTreeMap<(Position, Position), u64> {
    let sites = profile.shared_lines().flat_map(|found| [found.site, found.other_site]);
    let lines: BTreeSet<Position> = sites.map(|site| positions.at(site)).collect();
    let mut passed = BTreeMap::new();
    if lines.is_empty() {
        return passed;
    }
    for sum in sites::sums(profile.events().filter(|e| !e.is_serial())) {
        let at = (positions.at(sum.writer), positions.at(sum.reader));
        if lines.contains(&at.0) && lines.contains(&at.1) {
            let sum_of: &mut u64 = passed.entry(at).or_default();
            *sum_of = sum_of.saturating_add(sum.raw);
        }
    }
    passed
}

fn passed_between(passed: &BTreeMap<(Position, Position), u64>, [a, b]: [Position; 2]) -> u64 {
    let directions = BTreeSet::from([(a.clone(), a.clone()), (a.clone(), b.clone()), (b.clone(), a), (b.clone(), b)]);
    directions.iter().filter_map(|at| passed.get(at)).fold(0, |sum, n| sum.saturating_add(*n))
}

/// Whether threads may be at both sites at once. Two constructs of OpenMP have a barrier between them: what was written
/// in one and then in the other did not take lines away from anybody.
fn may_meet(profile: &Profile, tree: &Tree, sites: [u32; 2]) -> bool {
    let around = |from: Option<RegionId>| std::iter::successors(from, |id| tree.nodes[*id as usize].parent);
    let construct = |site| {
        let mut up = around(region_of(profile, tree, site));
        up.find(|id| is_construct(tree.nodes[*id as usize].kind))
    };
    let inside = |inner, outer| around(Some(inner)).any(|id| id == outer);
    match sites.map(construct) {
        [Some(a), Some(b)] => inside(a, b) || inside(b, a),
        _ => true,
    }
}

fn is_construct(kind: RegionKind) -> bool {
    use RegionKind::*;
    matches!(kind, OmpParallel | OmpFor | OmpSections | OmpSingle | OmpTaskloop | OmpDistribute)
}

/// The region of a site.
pub fn region_of(profile: &Profile, tree: &Tree, site: u32) -> Option<RegionId> {
    let module = profile.modules().iter().rev().find(|m| m.bases.site_base <= site)?;
    let own = module.sites.get((site - module.bases.site_base) as usize)?;
    Some(tree.node(module.bases.region_base + own.region))
}
