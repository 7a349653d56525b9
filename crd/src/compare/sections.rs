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
use crate::imbalance::profile::model::{Section, divided};
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

/// Imbalance of all sections that hold no others, as one percentage: the mean of theirs, each weighted by what its
/// slowest thread executes; by its time where one of them is compared by that. None without sections, or where control
/// flow was not counted.
pub(super) fn program_percent(report: &Report) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    let sections: Vec<&Section> = divided(report.sections.as_deref()?).collect();
    let by_time = sections.iter().any(|section| section.uninstrumented);
    for section in sections {
        let cpu = section.cpu.iter().sum::<f64>();
        let work = if by_time { cpu } else { section.values.iter().sum::<f64>() };
        // Seconds that could be saved are instructions by the section's own rate.
        let (percent, time) = section.avoidable();
        let saved = if cpu > 0.0 { time * work / cpu } else { 0.0 };
        let slowest = work / section.threads as f64 + saved;
        sum += percent * slowest;
        weights += slowest;
    }
    (weights > 0.0).then(|| sum / weights)
}

/// All sections of both, those with the most imbalance time on either side first; none unless both counted control
/// flow.
pub(super) fn changes(base: &Report, new: &Report, regions: &[Pair], noise: f64) -> Vec<SectionChange> {
    let (Some(before), Some(after)) = (&base.sections, &new.sections) else { return Vec::new() };
    let paired = pairs(base, new, regions);
    let mut partner: Vec<Option<usize>> = vec![None; after.len()];
    for &(b, n) in &paired {
        partner[n] = Some(b);
    }
    let mut changes: Vec<SectionChange> = Vec::new();
    for (section, base_of) in after.iter().zip(&partner) {
        changes.push(change(base_of.map(|b| &before[b]), Some(section), noise));
    }
    for (index, section) in before.iter().enumerate() {
        if !paired.iter().any(|(b, _)| *b == index) {
            changes.push(change(Some(section), None, noise));
        }
    }
    let saves = |c: &SectionChange| {
        let of = |side: &Option<SectionSide>| side.as_ref().map_or(0.0, |s| s.imbalance_time);
        of(&c.base).max(of(&c.new))
    };
    changes.sort_by(|a, b| saves(b).total_cmp(&saves(a)));
    changes
}

fn change(base: Option<&Section>, new: Option<&Section>, noise: f64) -> SectionChange {
    let either = new.or(base).expect("a change has a side");
    let (base, new) = (base.map(SectionSide::of), new.map(SectionSide::of));
    let percent = |side: &Option<SectionSide>| side.as_ref().map(|s| s.imbalance_percent);
    let both = percent(&base).zip(percent(&new));
    SectionChange {
        kind: either.kind,
        function: either.function.clone(),
        encloses: either.encloses,
        base,
        new,
        delta: both.map(|(b, n)| n - b),
        verdict: both.map(|(b, n)| verdict(b, n, noise)),
    }
}

fn verdict(base: f64, new: f64, noise: f64) -> Verdict {
    match is_more_than_noise(Metric::Imbalance, base, new, noise) {
        false => Verdict::Same,
        true if new < base => Verdict::Better,
        true => Verdict::Worse,
    }
}

/// Sections that belong together, by index. `regions`: the regions that do.
pub(super) fn pairs(base: &Report, new: &Report, regions: &[Pair]) -> Vec<(usize, usize)> {
    // A function of base goes by the name that it has in new.
    let renamed: BTreeMap<&str, &str> =
        regions.iter().map(|p| (base.regions[p.base].name.as_str(), new.regions[p.new].name.as_str())).collect();
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
    fn of(section: &Section) -> Self {
        let cause = section.causes.first();
        let (imbalance_percent, imbalance_time) = section.avoidable();
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
