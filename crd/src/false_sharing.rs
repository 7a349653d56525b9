//! Cache lines that threads share without sharing an element, by the region of the writing line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use threadtalk_profile::layout::shared_line_flags;
use threadtalk_profile::{Profile, WrittenSite};

use crate::constructs::Constructs;
use crate::executions::{Executions, Most};
use crate::lines::Positions;
use crate::model::{FalseSharing, Position};
use crate::objects;
use crate::regions::{RegionId, Tree};
use crate::sites;
use crate::threads::lived_together;

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
    // Only where there is something to find: all blocks and nodes of the program take their time.
    if profile.shared_lines().next().is_none() {
        return regions;
    }
    let passed = passed(profile, tree, positions);
    let (executions, constructs) = (Executions::of(profile), Constructs::of(profile, tree));
    let most = Most::of(profile, tree, executions.as_ref());
    for found in profile.shared_lines() {
        let Some(region) = region_of(profile, tree, found.site) else { continue };
        let other_region = region_of(profile, tree, found.other_site);
        let sites = [found.site, found.other_site];
        let at = sites.map(|site| positions.at(site));
        // What is inlined runs where the loop does that it was inlined into.
        let running_in = |site, region| profile.caller_loop(site).map_or(region, |caller| tree.node(caller));
        let may_meet = |other| constructs.may_meet([running_in(sites[0], region), running_in(sites[1], other)]);
        let lived_together = lived_together(profile, found.thread, found.other_thread);
        let named = sites.map(|site| objects::name_at(profile, site));
        let allocated = objects::name_at(profile, found.allocation_site);
        let object =
            named.into_iter().chain([allocated]).find(|name| objects::is_telling(name)).unwrap_or_else(|| "".into());
        let other_reads = found.flags & shared_line_flags::OTHER_READS != 0;
        let of_lines = written.get(&found.site).map_or(found.lines, |w| w.lines.max(found.lines));
        let own = most.at(found.site, region, &at[0]).map(|writes| FalseSharing::onto(found.lines, of_lines, writes));
        // Where the other thread only reads, nothing tells how often.
        let others = other_region.filter(|_| !other_reads).and_then(|other| most.at(found.other_site, other, &at[1]));
        regions.entry(region).or_default().push(FalseSharing {
            moves: own.into_iter().chain(others).min(),
            writes: executions.as_ref().and_then(|e| e.at(region, &at[0])),
            passed: passed_between(&passed, &at, [Some(region), other_region]),
            regions: [region, other_region.unwrap_or(region)],
            writer: at[0].clone(),
            other: at[1].clone(),
            other_reads,
            threads: [found.thread, found.other_thread],
            threads_seen: found.threads.count_ones(),
            lines: found.lines,
            of_lines,
            address: found.address,
            object,
            at_once: lived_together && other_region.is_none_or(may_meet),
        });
    }
    pass_in_lines(regions.values_mut().flatten());
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

/// True communication by the line that wrote and the region that read it, of lines that false sharing was found of.
type Passed = BTreeMap<(Position, RegionId), u64>;

fn passed(profile: &Profile, tree: &Tree, positions: &Positions) -> Passed {
    let sites = profile.shared_lines().flat_map(|found| [found.site, found.other_site]);
    let lines: BTreeSet<Position> = sites.map(|site| positions.at(site)).collect();
    let mut passed = Passed::new();
    for sum in sites::sums(profile.events().filter(|e| !e.is_serial())) {
        let writer = positions.at(sum.writer);
        if lines.contains(&writer)
            && let Some(reader) = region_of(profile, tree, sum.reader)
        {
            let sum_of: &mut u64 = passed.entry((writer, reader)).or_default();
            *sum_of = sum_of.saturating_add(sum.raw);
        }
    }
    passed
}

/// Values that one of the lines wrote and the region of the other one, or its own, read: wherever in it that was, the
/// cache line came for them.
fn passed_between(passed: &Passed, lines: &[Position; 2], regions: [Option<RegionId>; 2]) -> u64 {
    let (lines, regions) = (BTreeSet::from_iter(lines), BTreeSet::from_iter(regions.into_iter().flatten()));
    let pairs = lines.into_iter().flat_map(|line| regions.iter().map(move |region| (line.clone(), *region)));
    pairs.filter_map(|pair| passed.get(&pair)).fold(0, |sum, n| sum.saturating_add(*n))
}

/// What passes through a cache line moves it for all that the two regions write there. Findings are of one line if the
/// first ones found are.
fn pass_in_lines<'f>(findings: impl Iterator<Item = &'f mut FalseSharing>) {
    let of_line = |f: &FalseSharing| (f.address, BTreeSet::from(f.regions));
    let mut findings: Vec<_> = findings.collect();
    let mut most: BTreeMap<_, u64> = BTreeMap::new();
    for finding in &findings {
        let passed = most.entry(of_line(finding)).or_default();
        *passed = finding.passed.max(*passed);
    }
    for finding in &mut findings {
        finding.passed = most[&of_line(finding)];
    }
}

/// The region of a site.
pub fn region_of(profile: &Profile, tree: &Tree, site: u32) -> Option<RegionId> {
    let module = profile.modules().iter().rev().find(|m| m.bases.site_base <= site)?;
    let own = module.sites.get((site - module.bases.site_base) as usize)?;
    Some(tree.node(module.bases.region_base + own.region))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(address: u64, regions: [RegionId; 2], passed: u64) -> FalseSharing {
        let position = Position { file: None, line: None };
        FalseSharing {
            writer: position.clone(),
            other: position,
            other_reads: false,
            threads: [0, 1],
            threads_seen: 2,
            lines: 1,
            of_lines: 1,
            writes: None,
            moves: None,
            address,
            object: "".into(),
            passed,
            regions,
            at_once: true,
        }
    }

    #[test]
    fn what_passes_through_a_line_passes_for_all_that_two_regions_write_there() {
        let mut findings = [(64, [1, 2], 9), (64, [2, 1], 0), (64, [1, 1], 0), (128, [1, 2], 0)]
            .map(|(address, regions, passed)| finding(address, regions, passed));
        pass_in_lines(findings.iter_mut());
        assert_eq!(findings.map(|f| f.passed), [9, 9, 0, 0]);
    }
}
