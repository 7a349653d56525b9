//! Parallel sections against each other: which section became which, and whether its threads do more alike.
//!
//! Sections have no names: those that are ended in the same way and begin in functions that belong together are paired
//! in the order of their lines, which count from the function's.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::align::align;
use super::matching::Pair;
use super::metric::Metric;
use super::verdict::{Verdict, is_more_than_noise};
use crate::imbalance::profile::model::Section;
use crate::model::{Region, Report};

/// A parallel section in one of the profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionSide {
    /// File of the place where it begins.
    pub file: Option<Arc<str>>,
    /// Line of that place.
    pub line: Option<u32>,
    /// File of the place where it ends.
    pub end_file: Option<Arc<str>>,
    /// Line of that place.
    pub end_line: Option<u32>,
    /// Threads of an instance, the most of any.
    pub threads: usize,
    /// Times that it was executed.
    pub instances: u64,
    /// How uneven the threads' executed instructions are, or their CPU time where those say little of it: 0 = even, or
    /// taken by threads as they went; 100 = one thread does all.
    pub imbalance_percent: f64,
    /// Seconds of the profiled run that perfect balance could save.
    pub imbalance_time: f64,
    /// Executed instructions of each thread, or nanoseconds of CPU time.
    pub values: Vec<f64>,
    /// Line of the cause with the highest score, and that score; none if no cause was found.
    pub cause: Option<SectionCause>,
}

/// What explains most of a section's imbalance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionCause {
    /// File.
    pub file: Option<Arc<str>>,
    /// Line.
    pub line: Option<u32>,
    /// About the share of the imbalance that it explains.
    pub score: f64,
}

/// What changed in a parallel section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionChange {
    /// What ends it.
    pub kind: &'static str,
    /// Function in which it begins, by its name in new; empty if unknown.
    pub function: Arc<str>,
    /// What its threads run, by the names in new, where others that were made at the same place run something else;
    /// else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Arc<str>>,
    /// It holds others, so that part of what it could save is theirs.
    pub encloses: bool,
    /// Before; none if there was none.
    pub base: Option<SectionSide>,
    /// After; none if it is gone.
    pub new: Option<SectionSide>,
    /// New percentage less that of base; none for a section of one side only.
    pub delta: Option<f64>,
    /// By the percentages; none for a section of one side only.
    pub verdict: Option<Verdict>,
}

/// The sections of both profiles, which of them belong together, and what of them could be saved.
pub(super) struct Sections<'a> {
    /// None where control flow was not counted.
    sides: [Option<Vec<Kept<'a>>>; 2],
    /// Those that belong together, by index.
    pairs: Vec<(usize, usize)>,
    /// Names in new of functions of base.
    renamed: BTreeMap<&'a str, &'a str>,
}

/// A section, and percent and seconds that perfect balance could save.
struct Kept<'a> {
    section: &'a Section,
    avoidable: (f64, f64),
}

impl<'a> Sections<'a> {
    /// `regions`: those that belong together.
    pub(super) fn new(base: &'a Report, new: &'a Report, regions: &[Pair], noise: f64) -> Self {
        let renamed = renamed(base, new, regions);
        let pairs = pairs(base, new, &renamed);
        let kept = |section: &'a Section| Kept { section, avoidable: section.avoidable() };
        let mut sides = [base, new].map(|r| r.sections.as_ref().map(|all| all.iter().map(kept).collect::<Vec<_>>()));
        if let [Some(before), Some(after)] = &mut sides {
            for &(b, n) in &pairs {
                if came_together(before[b].section, after[n].section, noise) {
                    before[b].avoidable = (0.0, 0.0);
                    after[n].avoidable = (0.0, 0.0);
                }
            }
        }
        Self { sides, pairs, renamed }
    }

    /// Imbalance of each program.
    pub(super) fn percents(&self) -> [Option<f64>; 2] {
        self.sides.each_ref().map(|side| percent(side.as_deref()?))
    }

    /// The percentage of the partner in new of a section of base.
    pub(super) fn partner_percent(&self, of: &Section) -> Option<f64> {
        let [Some(before), Some(after)] = &self.sides else { return None };
        let (_, partner) = self.pairs.iter().find(|(index, _)| std::ptr::eq(before[*index].section, of))?;
        Some(after[*partner].avoidable.0)
    }

    /// All sections of both, those with the most imbalance time on either side first; none unless both counted control
    /// flow.
    pub(super) fn changes(&self, noise: f64) -> Vec<SectionChange> {
        let [Some(before), Some(after)] = &self.sides else { return Vec::new() };
        let mut partner: Vec<Option<usize>> = vec![None; after.len()];
        for &(b, n) in &self.pairs {
            partner[n] = Some(b);
        }
        let mut changes: Vec<SectionChange> = Vec::new();
        for (section, base_of) in after.iter().zip(&partner) {
            changes.push(self.change(base_of.map(|b| &before[b]), Some(section), noise));
        }
        for (index, section) in before.iter().enumerate() {
            if !self.pairs.iter().any(|(b, _)| *b == index) {
                changes.push(self.change(Some(section), None, noise));
            }
        }
        let saves = |c: &SectionChange| {
            let of = |side: &Option<SectionSide>| side.as_ref().map_or(0.0, |s| s.imbalance_time);
            of(&c.base).max(of(&c.new))
        };
        changes.sort_by(|a, b| saves(b).total_cmp(&saves(a)));
        changes
    }

    fn change(&self, base: Option<&Kept>, new: Option<&Kept>, noise: f64) -> SectionChange {
        let either = new.or(base).expect("a change has a side").section;
        let new_name = |name: &Arc<str>| self.renamed.get(&**name).map_or_else(|| name.clone(), |new| (*new).into());
        let name = |own: &Arc<str>| if new.is_some() { own.clone() } else { new_name(own) };
        let (base, new) = (base.map(SectionSide::of), new.map(SectionSide::of));
        let percent = |side: &Option<SectionSide>| side.as_ref().map(|s| s.imbalance_percent);
        let both = percent(&base).zip(percent(&new));
        SectionChange {
            kind: either.kind,
            function: name(&either.function),
            runs: either.runs.iter().map(name).collect(),
            encloses: either.encloses,
            base,
            new,
            delta: both.map(|(b, n)| n - b),
            verdict: both.map(|(b, n)| verdict(b, n, noise)),
        }
    }
}

/// Whether waiting that only one run shows is not the program's. In the other one threads came to the end of the
/// section together although they had not done the same, and did not differ less: they take their work as they go, and
/// who comes when is a matter of the machine.
fn came_together(base: &Section, new: &Section, noise: f64) -> bool {
    let (together, late) = match (base.arrived_together, new.arrived_together) {
        (true, false) => (base, new),
        (false, true) => (new, base),
        _ => return false,
    };
    let (allowed, found) = (together.imbalance_percent, late.imbalance_percent);
    found <= allowed || !is_more_than_noise(Metric::Imbalance, allowed, found, noise)
}

/// Imbalance of all sections that hold no others, as one percentage: the mean of theirs, each weighted by what its
/// slowest thread executes; by its time where one of them is compared by that. None without sections.
fn percent(sections: &[Kept]) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    let sections: Vec<&Kept> = sections.iter().filter(|kept| kept.section.is_divided()).collect();
    let by_time = sections.iter().any(|kept| kept.section.uninstrumented);
    for &Kept { section, avoidable: (percent, time) } in sections {
        let cpu = section.cpu.iter().sum::<f64>();
        let work = if by_time { cpu } else { section.values.iter().sum::<f64>() };
        // Seconds that could be saved are instructions by the section's own rate.
        let saved = if cpu > 0.0 { time * work / cpu } else { 0.0 };
        let slowest = work / section.threads as f64 + saved;
        sum += percent * slowest;
        weights += slowest;
    }
    (weights > 0.0).then(|| sum / weights)
}

fn verdict(base: f64, new: f64, noise: f64) -> Verdict {
    match is_more_than_noise(Metric::Imbalance, base, new, noise) {
        false => Verdict::Same,
        true if new < base => Verdict::Better,
        true => Verdict::Worse,
    }
}

/// Names in new of functions of base.
fn renamed<'a>(base: &'a Report, new: &'a Report, regions: &[Pair]) -> BTreeMap<&'a str, &'a str> {
    regions.iter().map(|p| (base.regions[p.base].name.as_str(), new.regions[p.new].name.as_str())).collect()
}

/// Sections that belong together, by index. A function of base goes by the name that it has in new.
fn pairs(base: &Report, new: &Report, renamed: &BTreeMap<&str, &str>) -> Vec<(usize, usize)> {
    // What ends it, whether it holds others, where it begins, what its threads run.
    type Kind<'a> = (&'a str, bool, &'a str, Option<&'a str>);
    let mut groups: BTreeMap<Kind, [Vec<usize>; 2]> = BTreeMap::new();
    let (before, after) = (sections(base), sections(new));
    let new_name = |name| renamed.get(name).copied().unwrap_or(name);
    for (index, section) in before.iter().enumerate() {
        let runs = section.runs.first().map(|name| new_name(name));
        groups.entry((section.kind, section.encloses, new_name(&section.function), runs)).or_default()[0].push(index);
    }
    for (index, section) in after.iter().enumerate() {
        let runs = section.runs.first().map(|name| &**name);
        groups.entry((section.kind, section.encloses, &section.function, runs)).or_default()[1].push(index);
    }
    let mut pairs = Vec::new();
    for [mut before, mut after] in groups.into_values() {
        let (base, new) = (Places::new(base), Places::new(new));
        before.sort_by_key(|index| (base.of(*index), *index));
        after.sort_by_key(|index| (new.of(*index), *index));
        let cost = |b: usize, n: usize| {
            let ((from, to), (begin, end)) = (base.of(before[b]), new.of(after[n]));
            from.abs_diff(begin) + to.abs_diff(end)
        };
        pairs.extend(align(before.len(), after.len(), cost).into_iter().map(|(b, n)| (before[b], after[n])));
    }
    pairs
}

fn sections(report: &Report) -> &[Section] {
    report.sections.as_deref().unwrap_or_default()
}

/// Where sections begin and end, in lines from the first of their function.
struct Places<'a> {
    sections: &'a [Section],
    functions: BTreeMap<&'a str, u32>,
}

impl<'a> Places<'a> {
    fn new(report: &'a Report) -> Self {
        let first = |region: &'a Region| Some((region.name.as_str(), region.line?));
        // Loops have their function's name: the function itself comes before them.
        let functions = report.regions.iter().rev().filter_map(first).collect();
        Self { sections: sections(report), functions }
    }

    fn of(&self, index: usize) -> (u64, u64) {
        let section = &self.sections[index];
        let first = self.functions.get(&*section.function).copied().unwrap_or(0);
        let from = |line: Option<u32>| u64::from(line.unwrap_or(0).saturating_sub(first));
        (from(section.line), from(section.end_line))
    }
}

impl SectionSide {
    fn of(kept: &Kept) -> Self {
        let &Kept { section, avoidable: (imbalance_percent, imbalance_time) } = kept;
        let cause = section.causes.first();
        Self {
            file: section.file.clone(),
            line: section.line,
            end_file: section.end_file.clone(),
            end_line: section.end_line,
            threads: section.threads,
            instances: section.instances,
            imbalance_percent,
            imbalance_time,
            values: section.values.clone(),
            cause: cause.map(|c| SectionCause { file: c.file.clone(), line: c.line, score: c.score }),
        }
    }
}
