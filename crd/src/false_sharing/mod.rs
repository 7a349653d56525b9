//! Cache lines that threads share without sharing an element, by the region of the writing line.

mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use threadtalk_profile::layout::shared_line_flags;
use threadtalk_profile::{Profile, WrittenSite};

use crate::constructs::Constructs;
use crate::executions::{Executions, Most};
use crate::lines::Positions;
use crate::model::FalseSharing;
use crate::objects;
use crate::regions::{RegionId, Tree};
use crate::threads::lived_together;
use values::{Side, Values, goes_by_steps};

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
    let (executions, constructs) = (Executions::of(profile), Constructs::of(profile, tree));
    let most = Most::of(profile, tree, executions.as_ref());
    let mut values = Values::of(profile, tree, positions, &constructs);
    for found in profile.shared_lines() {
        let Some(region) = tree.of_site(profile, found.site) else { continue };
        let other_region = tree.of_site(profile, found.other_site);
        let sites = [found.site, found.other_site];
        let at = sites.map(|site| positions.at(site));
        // What is inlined runs where the loop does that it was inlined into.
        let running_in = |site, region| profile.caller_loop(site).map_or(region, |caller| tree.node(caller));
        let running = [Some(running_in(sites[0], region)), other_region.map(|other| running_in(sites[1], other))];
        let named = sites.map(|site| objects::name_at(profile, site));
        let allocated = objects::name_at(profile, found.allocation_site);
        let object =
            named.into_iter().chain([allocated]).find(|name| objects::is_telling(name)).unwrap_or_else(|| "".into());
        let other_reads = found.flags & shared_line_flags::OTHER_READS != 0;
        let of_lines = |site| written.get(&site).map_or(found.lines, |w: &WrittenSite| w.lines.max(found.lines));
        let onto = |site, executions| FalseSharing::onto(found.lines, of_lines(site), executions);
        let own = most.at(sites[0], region).map(|writes| onto(sites[0], writes));
        let side = |n: usize| Side {
            position: &at[n],
            region: [Some(region), other_region][n],
            running: running[n],
            steps: goes_by_steps(profile, sites[n]),
        };
        let (meets, others) = if other_reads {
            // The other line is where the values were written: what matters is where they are read.
            let read = values.read_beside(side(1), found.other_thread, running_in(sites[0], region));
            (read.is_none_or(|(meets, _)| meets), read.map(|(_, reads)| reads))
        } else {
            let others = other_region.and_then(|other| most.at(sites[1], other));
            (values.may_meet(running), others.map(|writes| onto(sites[1], writes)))
        };
        let passed = values.passed([side(0), side(1)], found.threads);
        regions.entry(region).or_default().push(FalseSharing {
            moves: own.into_iter().chain(others).min(),
            at_least: most.at_least(sites[0], region),
            writes: most.written(sites[0], region),
            passed,
            regions: [region, other_region.unwrap_or(region)],
            writer: at[0].clone(),
            other: at[1].clone(),
            other_reads,
            threads: [found.thread, found.other_thread],
            threads_seen: found.threads.count_ones(),
            lines: found.lines,
            of_lines: of_lines(sites[0]),
            address: found.address,
            object,
            at_once: lived_together(profile, found.thread, found.other_thread) && meets,
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

/// What passes through a cache line moves it for all that the two regions write there. Findings are of one line if the
/// first ones found are, or of one variable: of two lines of the source that write the same bytes of a table, in one
/// line of memory the one is the last that wrote, in the next line the other.
fn pass_in_lines<'f>(findings: impl Iterator<Item = &'f mut FalseSharing>) {
    let keys = |f: &FalseSharing| {
        let regions = BTreeSet::from(f.regions);
        let of_variable = (0, Arc::clone(&f.object), regions.clone());
        [Some((f.address, "".into(), regions)), Some(of_variable).filter(|_| !f.object.is_empty())]
    };
    let mut findings: Vec<_> = findings.collect();
    let mut most: BTreeMap<(u64, Arc<str>, BTreeSet<RegionId>), u64> = BTreeMap::new();
    for finding in &findings {
        for key in keys(finding).into_iter().flatten() {
            let passed = most.entry(key).or_default();
            *passed = finding.passed.max(*passed);
        }
    }
    for finding in &mut findings {
        finding.passed = keys(finding).iter().flatten().filter_map(|key| most.get(key).copied()).max().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Position;

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
            at_least: 0,
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
        assert_eq!(findings.clone().map(|f| f.passed), [9, 9, 0, 0]);
        // Lines of one variable are alike.
        for k in [0, 3] {
            findings[k].object = "table".into();
        }
        pass_in_lines(findings.iter_mut());
        assert_eq!(findings.map(|f| f.passed), [9, 9, 0, 9]);
    }
}
