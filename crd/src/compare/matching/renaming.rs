//! Functions whose name is gone in one profile, and those of the other one whose name is new there.
//!
//! 1. Those called the same but for their parameters, arguments of templates or namespace, in any file.
//! 2. Those of one file at about the same lines, if both or neither communicate.
//! 3. Those of which one's name is part of the other's, in any file, if both or neither communicate: `checksum` became
//!    `line_checksum` and moved.
//! 4. Those of one file at about the same lines: all communication may be what was optimised away.
//!
//! Of several, those nearest by lines and by how much they communicate, those inside included.

use std::collections::BTreeSet;
use threadtalk_abi::module::RegionKind;

use super::{EVENTS_COST, Found, Nest, UNKNOWN, file_name, magnitude};
use crate::compare::model::Matched;
use crate::model::Region;

/// Lines between two regions beyond which different names are not taken for a renaming.
const REACH: u64 = 60;
/// Names shorter than this are part of others by chance.
const TELLING: usize = 4;

/// A region of each side that may belong together.
struct Candidate<'a> {
    old: &'a Region,
    young: &'a Region,
    /// How many lines what stands before the old one has moved down.
    shift: i64,
}

/// Lines that a candidate counts as; none if the two do not belong together.
type Cost = fn(&Candidate) -> Option<u64>;

/// Pairs those that were renamed.
pub(super) fn renamed(base: &Nest, new: &Nest, found: &mut Found) {
    let called_alike: Cost = |c| (word(c.old) == word(c.young)).then(|| c.cost());
    let near_and_alike: Cost = |c| c.near().filter(|_| c.is_alike());
    let akin: Cost = |c| (c.is_akin() && c.is_alike()).then(|| c.cost());
    for cost in [called_alike, near_and_alike, akin, |c| c.near()] {
        pair(base, new, found, cost);
    }
}

fn pair(base: &Nest, new: &Nest, found: &mut Found, cost: Cost) {
    let names = |nest: &Nest| -> BTreeSet<(RegionKind, String)> {
        nest.owners().map(|index| (nest.regions[index].kind, nest.regions[index].name.clone())).collect()
    };
    let (before, after) = (names(base), names(new));
    let mut candidates = Vec::new();
    for b in base.owners().filter(|index| found.partners[*index].is_none()) {
        let old = &base.regions[b];
        if after.contains(&(old.kind, old.name.clone())) {
            continue;
        }
        let shift = shift(base, new, found, b);
        for n in new.owners().filter(|index| !found.taken[*index]) {
            let young = &new.regions[n];
            if young.kind == old.kind && !before.contains(&(young.kind, young.name.clone())) {
                candidates.extend(cost(&Candidate { old, young, shift }).map(|cost| (cost, b, n)));
            }
        }
    }
    candidates.sort_unstable();
    for (_, b, n) in candidates {
        if found.partners[b].is_none() && !found.taken[n] {
            found.put(b, n, Matched::Renamed);
        }
    }
}

impl Candidate<'_> {
    /// Lines between the two, and what differs in how much they communicate; those of other files are far away.
    fn cost(&self) -> u64 {
        let lines = self.gap().map_or(UNKNOWN, |gap| gap + self.start_gap());
        let [before, after] = [self.old, self.young].map(|r| magnitude(events(r)));
        lines + before.abs_diff(after) * EVENTS_COST
    }

    /// The cost, if they are in one file and near each other.
    fn near(&self) -> Option<u64> {
        self.gap().filter(|gap| *gap <= REACH).map(|_| self.cost())
    }

    /// Whether both communicate, or neither.
    fn is_alike(&self) -> bool {
        (events(self.old) == 0) == (events(self.young) == 0)
    }

    /// Whether one's name is part of the other's.
    fn is_akin(&self) -> bool {
        let (old, young) = (word(self.old), word(self.young));
        let (short, long) = if old.len() <= young.len() { (old, young) } else { (young, old) };
        short.len() >= TELLING && long.contains(short)
    }

    /// Lines between the two in one file, 0 if they overlap. None if a line is not known.
    fn gap(&self) -> Option<u64> {
        let range = |region: &Region, shift: i64| {
            let first = i64::from(region.line?) + shift;
            let last = i64::from(region.end_line.or(region.line)?) + shift;
            Some((first, last.max(first)))
        };
        let ((first, last), (begin, end)) = (range(self.old, self.shift)?, range(self.young, 0)?);
        let is_one_file = file_name(self.old) == file_name(self.young);
        is_one_file.then(|| (begin - last).max(first - end).max(0).unsigned_abs())
    }

    /// Lines between the beginnings: of several that overlap, the one that begins nearest.
    fn start_gap(&self) -> u64 {
        let line = |region: &Region| i64::from(region.line.unwrap_or(0));
        (line(self.young) - line(self.old) - self.shift).unsigned_abs()
    }
}

/// Events of a region and all inside it.
fn events(region: &Region) -> u64 {
    region.total_raw().saturating_add(region.total_rar())
}

/// The name of a function without its namespace, parameters and arguments of templates, and without the type that it
/// returns, which stands before the names of instances. All operators have one such name, so theirs is the whole.
fn word(region: &Region) -> &str {
    let name = region.name.as_str();
    let (mut start, mut end, mut depth) = (0, None, 0u32);
    for (at, character) in name.char_indices() {
        match character {
            '(' if depth == 0 && end.unwrap_or(at) > start => {
                end.get_or_insert(at);
                break;
            }
            '<' | '(' => {
                if depth == 0 {
                    end.get_or_insert(at);
                }
                depth += 1;
            }
            '>' | ')' => depth = depth.saturating_sub(1),
            ' ' | ':' | '*' | '&' if depth == 0 => (start, end) = (at + 1, None),
            _ => {}
        }
    }
    match &name[start..end.unwrap_or(name.len())] {
        word if region.kind == RegionKind::User || word.is_empty() || word.starts_with("operator") => name,
        word => word,
    }
}

/// How many lines the nearest region of the file before this one has moved down.
fn shift(base: &Nest, new: &Nest, found: &Found, index: usize) -> i64 {
    let region = &base.regions[index];
    let before = base.owners().filter(|i| {
        let other = &base.regions[*i];
        other.line.is_some() && other.line <= region.line && file_name(other) == file_name(region)
    });
    let paired = before.filter_map(|i| found.partners[i].map(|(n, _)| (&base.regions[i], &new.regions[n])));
    let in_file = paired.filter(|(old, young)| file_name(old) == file_name(young));
    let nearest = in_file.max_by_key(|(old, _)| old.line);
    nearest.and_then(|(old, young)| Some(i64::from(young.line?) - i64::from(old.line?))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_by_its_last_name() {
        let of = |name: &str| word(&Region { name: name.into(), ..super::super::tests::function() }).to_owned();
        let names =
            ["bmod", "sum(int)", "void old::apply<int>(int)", "(anonymous namespace)::Field::step(double) const"];
        assert_eq!(names.map(of), ["bmod", "sum", "apply", "step"]);
        assert_eq!(of("std::vector<int, A<int>> make<3>(char*)"), "make");
        for whole in ["main::$_0::operator()() const", "bool operator< <int>(A<int>, A<int>)"] {
            assert_eq!(of(whole), whole, "operators have no name of their own");
        }
    }
}
