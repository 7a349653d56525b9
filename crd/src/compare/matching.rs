//! Which region of one profile is which of another.
//!
//! 1. Functions and user regions by kind, name and file name; of several, those whose lines are nearest.
//! 2. Those left by kind and name in any file: variants of a program are often files beside each other.
//! 3. Those left whose name is gone and those whose name is new: renamed ([`renaming`]).
//! 4. Loops and constructs inside two functions that belong together, by kind, in the order of the source. Their
//!    lines count from the function's, so that a function may move as a whole; where one side has more of them, which
//!    of them communicate, and how much, counts more than lines and depth: the inner loop of three finds that of six.

mod renaming;

use std::collections::BTreeMap;
use threadtalk_abi::module::RegionKind;

use super::align::align;
use super::model::Matched;
use crate::model::Region;

/// Lines that a level of nesting counts as.
const DEPTH_COST: u64 = 8;
/// Lines that it counts as if one of two regions communicates and the other does not.
const SILENCE_COST: u64 = 1 << 20;
/// Lines that it counts as if one has twice the events of the other.
const EVENTS_COST: u64 = 4;
/// Cost of lines that are not known.
const UNKNOWN: u64 = 1 << 16;

/// Two regions that belong together, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Index in the regions of base.
    pub base: usize,
    /// Index in the regions of new.
    pub new: usize,
    /// How they were found.
    pub matched: Matched,
}

/// A profile's regions and how they lie in each other.
struct Nest<'a> {
    regions: &'a [Region],
    /// Of each region the function or user region, or the program, that it is or lies in.
    owners: Vec<usize>,
    /// Levels below the owner.
    depths: Vec<u64>,
}

impl<'a> Nest<'a> {
    fn new(regions: &'a [Region]) -> Self {
        let (mut owners, mut depths) = (Vec::with_capacity(regions.len()), Vec::with_capacity(regions.len()));
        for (index, region) in regions.iter().enumerate() {
            // Parents come first.
            let parent = region.parent.and_then(|id| regions[..index].binary_search_by_key(&id, |r| r.id).ok());
            match parent {
                Some(parent) if !is_owner(region) => {
                    owners.push(owners[parent]);
                    depths.push(depths[parent] + 1);
                }
                _ => {
                    owners.push(index);
                    depths.push(0);
                }
            }
        }
        Self { regions, owners, depths }
    }

    fn owners(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.regions.len()).filter(|index| self.owners[*index] == *index)
    }

    /// Regions inside of each owner by kind, in the order of the source.
    fn inside(&self) -> BTreeMap<(usize, RegionKind), Vec<usize>> {
        let mut inside: BTreeMap<(usize, RegionKind), Vec<usize>> = BTreeMap::new();
        for index in (0..self.regions.len()).filter(|index| self.owners[*index] != *index) {
            inside.entry((self.owners[index], self.regions[index].kind)).or_default().push(index);
        }
        for members in inside.values_mut() {
            members.sort_by_key(|i| (self.regions[*i].line, std::cmp::Reverse(self.regions[*i].end_line), *i));
        }
        inside
    }
}

fn is_owner(region: &Region) -> bool {
    matches!(region.kind, RegionKind::Program | RegionKind::Function | RegionKind::User)
}

/// Power of two of so many events; 0 without any.
fn magnitude(events: u64) -> u64 {
    u64::from(u64::BITS - events.leading_zeros())
}

fn own_events(region: &Region) -> u64 {
    region.counts.as_ref().map_or(0, |counts| counts.raw.sum().saturating_add(counts.rar.sum()))
}

/// Name of the file without its folders: the same source is built in different ones.
fn file_name(region: &Region) -> &str {
    region.file.as_deref().map_or("", |file| file.rsplit('/').next().unwrap_or(file))
}

/// Lines from one place to another.
fn apart(first: Option<u32>, second: Option<u32>) -> u64 {
    match (first, second) {
        (Some(first), Some(second)) => u64::from(first.abs_diff(second)),
        (None, None) => 0,
        _ => UNKNOWN,
    }
}

/// All pairs, in the order of base. Regions are sorted by id, and parents come before their children.
pub fn pairs(base: &[Region], new: &[Region]) -> Vec<Pair> {
    let (base, new) = (Nest::new(base), Nest::new(new));
    let mut found = Found { partners: vec![None; base.regions.len()], taken: vec![false; new.regions.len()] };
    by_key(&base, &new, &mut found, |region| (region.kind, region.name.clone(), file_name(region).to_string()));
    by_key(&base, &new, &mut found, |region| (region.kind, region.name.clone(), String::new()));
    renaming::renamed(&base, &new, &mut found);
    inside(&base, &new, &mut found);
    let pairs = found.partners.iter().enumerate();
    pairs.filter_map(|(base, new)| new.map(|(new, matched)| Pair { base, new, matched })).collect()
}

struct Found {
    /// Of each region of base its partner.
    partners: Vec<Option<(usize, Matched)>>,
    taken: Vec<bool>,
}

impl Found {
    fn put(&mut self, base: usize, new: usize, matched: Matched) {
        self.partners[base] = Some((new, matched));
        self.taken[new] = true;
    }
}

fn how(base: &Region, new: &Region) -> Matched {
    let in_place = file_name(base) == file_name(new) && base.line == new.line;
    if in_place { Matched::Same } else { Matched::Moved }
}

/// Owners of equal key that are not paired yet.
fn by_key(base: &Nest, new: &Nest, found: &mut Found, key: impl Fn(&Region) -> (RegionKind, String, String)) {
    let mut groups: BTreeMap<_, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for index in base.owners().filter(|index| found.partners[*index].is_none()) {
        groups.entry(key(&base.regions[index])).or_default().0.push(index);
    }
    for index in new.owners().filter(|index| !found.taken[*index]) {
        groups.entry(key(&new.regions[index])).or_default().1.push(index);
    }
    for (mut before, mut after) in groups.into_values() {
        before.sort_by_key(|index| (base.regions[*index].line, *index));
        after.sort_by_key(|index| (new.regions[*index].line, *index));
        let cost = |b: usize, n: usize| apart(base.regions[before[b]].line, new.regions[after[n]].line);
        for (b, n) in align(before.len(), after.len(), cost) {
            let (b, n) = (before[b], after[n]);
            found.put(b, n, how(&base.regions[b], &new.regions[n]));
        }
    }
}

/// Loops and constructs in owners that belong together.
fn inside(base: &Nest, new: &Nest, found: &mut Found) {
    let (before, after) = (base.inside(), new.inside());
    for ((owner, kind), members) in &before {
        let Some((partner, how_owner)) = found.partners[*owner] else { continue };
        let Some(others) = after.get(&(partner, *kind)) else { continue };
        let from = |nest: &Nest, owner: usize, index: usize| {
            let first = nest.regions[owner].line.unwrap_or(0);
            nest.regions[index].line.map(|line| line.saturating_sub(first))
        };
        let cost = |b: usize, n: usize| {
            let (b, n) = (members[b], others[n]);
            let lines = apart(from(base, *owner, b), from(new, partner, n));
            let depth = base.depths[b].abs_diff(new.depths[n]) * DEPTH_COST;
            let (before, after) = (magnitude(own_events(&base.regions[b])), magnitude(own_events(&new.regions[n])));
            let silence = if (before == 0) != (after == 0) { SILENCE_COST } else { 0 };
            lines + depth + before.abs_diff(after) * EVENTS_COST + silence
        };
        for (b, n) in align(members.len(), others.len(), cost) {
            let (b, n) = (members[b], others[n]);
            let in_place = how(&base.regions[b], &new.regions[n]);
            found.put(b, n, if how_owner == Matched::Renamed { Matched::Renamed } else { in_place });
        }
    }
}

#[cfg(test)]
mod tests;
