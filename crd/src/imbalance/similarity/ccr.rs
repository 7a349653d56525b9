//! Critical code regions (Liu et al., section 3, steps 1 to 5): those that decide which threads are alike, and in each
//! the innermost one that still does.

use serde::Serialize;
use std::collections::BTreeSet;

use super::kinds::kinds;
use super::left_out::{Kinds, each_left_out, each_set_left_out};

/// Most regions that are taken together when no region alone is critical.
pub const MAX_COMBINED: usize = 3;

/// When regions are taken together, only so many with the most CPU time: 32 have 5488 pairs and triples, each a
/// clustering.
pub const COMBINED_FROM: usize = 32;

/// CPU time of threads in a tree of regions.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// Index of the enclosing region; none for an outermost one.
    pub parents: Vec<Option<usize>>,
    /// CPU time with all regions inside, by thread, then by region.
    pub times: Vec<Vec<f64>>,
}

/// A critical region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CriticalRegion {
    /// Region.
    pub region: usize,
    /// How deep it is nested: the paper's l in l-CCR. 1 is outermost.
    pub level: usize,
    /// No region inside it is critical: a core of critical code region.
    pub core: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Critical {
    /// Critical regions, each before those inside it.
    pub ccr: Vec<CriticalRegion>,
    /// Sets of outermost regions that are critical only together; empty if one alone is.
    pub groups: Vec<Vec<usize>>,
    /// The cores, ascending. Of groups what all have in common, or all that they have if that is nothing.
    pub cccr: BTreeSet<usize>,
}

impl Regions {
    /// Times of the outermost regions, 0 in the others, by thread.
    pub fn outermost_times(&self) -> Vec<Vec<f64>> {
        self.only(&self.inside(None))
    }

    /// Label of each thread by its times in the outermost regions.
    pub fn kinds(&self, tau: f64) -> Vec<usize> {
        self.kinds_by(&self.inside(None), tau)
    }

    fn kinds_by(&self, kept: &BTreeSet<usize>, tau: f64) -> Vec<usize> {
        kinds(&self.only(kept), tau)
    }

    fn only(&self, kept: &BTreeSet<usize>) -> Vec<Vec<f64>> {
        self.times.iter().map(|thread| kept.iter().map(|&k| thread[k]).collect()).collect()
    }

    fn inside(&self, parent: Option<usize>) -> BTreeSet<usize> {
        (0..self.parents.len()).filter(|&k| self.parents[k] == parent).collect()
    }

    fn total(&self, region: usize) -> f64 {
        self.times.iter().map(|thread| thread[region]).sum()
    }
}

/// Critical regions; nothing if all threads are of one kind.
pub fn search(regions: &Regions, tau: f64) -> Critical {
    let outermost = regions.inside(None);
    let base = regions.kinds_by(&outermost, tau);
    if base.iter().all(|&label| label == 0) {
        return Critical::default();
    }
    // A region without time is in no vector, so it changes nothing, alone or with others.
    let timed: Vec<usize> = outermost.iter().copied().filter(|&k| regions.total(k) > 0.0).collect();
    let kinds = Kinds::new(&base, tau);
    let mut critical = Vec::new();
    each_left_out(&regions.times, &timed, |region, rest| {
        if !kinds.are_those_of(rest) {
            critical.push(region);
        }
    });
    let mut found = Critical::default();
    for region in critical {
        descend(regions, tau, &base, region, 1, &outermost, &mut found);
    }
    if found.ccr.is_empty() {
        found.groups = groups(regions, &timed, &kinds);
        found.cccr = common(&found.groups);
    }
    found
}

/// Step 4: a region inside that can stand for the one around it without changing the kinds is critical too.
fn descend(
    regions: &Regions,
    tau: f64,
    base: &[usize],
    region: usize,
    level: usize,
    kept: &BTreeSet<usize>,
    found: &mut Critical,
) {
    let place = found.ccr.len();
    found.ccr.push(CriticalRegion { region, level, core: true });
    for inner in regions.inside(Some(region)) {
        let mut instead = kept.clone();
        instead.remove(&region);
        instead.insert(inner);
        if regions.kinds_by(&instead, tau) == base {
            found.ccr[place].core = false;
            descend(regions, tau, base, inner, level + 1, &instead, found);
        }
    }
    if found.ccr[place].core {
        found.cccr.insert(region);
    }
}

/// Step 3: the smallest sets that change the kinds together.
fn groups(regions: &Regions, timed: &[usize], kinds: &Kinds<'_>) -> Vec<Vec<usize>> {
    let mut longest = timed.to_vec();
    longest.sort_by(|&a, &b| regions.total(b).total_cmp(&regions.total(a)).then(a.cmp(&b)));
    longest.truncate(COMBINED_FROM);
    longest.sort_unstable();
    let others: Vec<usize> = timed.iter().copied().filter(|k| longest.binary_search(k).is_err()).collect();
    let critical = |size| {
        let mut critical = Vec::new();
        each_set_left_out(&regions.times, (&longest, &others), size, |set, rest| {
            if !kinds.are_those_of(rest) {
                critical.push(set.to_vec());
            }
        });
        critical
    };
    (2..=MAX_COMBINED).map(critical).find(|sets| !sets.is_empty()).unwrap_or_default()
}

fn common(groups: &[Vec<usize>]) -> BTreeSet<usize> {
    let all: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let shared: BTreeSet<usize> = all.iter().copied().filter(|k| groups.iter().all(|g| g.contains(k))).collect();
    if shared.is_empty() { all } else { shared }
}
