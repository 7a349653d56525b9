//! Two profiles against each other: which regions belong together, what changed in each, and whether that is better.
//!
//! | what | where |
//! |---|---|
//! | which region became which | `matching`, `align` |
//! | what is compared | [`Metric`] |
//! | what is better, what is noise | `verdict` |
//! | which distances differ although they were sampled | `certainty` |
//! | parallel sections | [`SectionChange`] |
//! | whether suggestions for the base kept what they promised | [`Promised`] |
//! | conditions for use in CI | [`Condition`] |

mod align;
mod certainty;
mod condition;
mod figures;
mod matching;
mod metric;
mod model;
mod notes;
mod promises;
mod sections;
mod verdict;

pub use condition::{Checked, Condition, ConditionError, Failure};
pub use figures::Figures;
pub(crate) use matching::pairs;
pub use metric::Metric;
pub use model::{
    Comparison, Judged, Matched, MatrixChange, Profile, ProgramChange, RegionChange, SCHEMA, Side, Unmatched,
};
pub use promises::Promised;
pub use sections::{SectionCause, SectionChange, SectionSide};
pub use verdict::{Effect, MIN_EVENTS, Reason, Verdict, is_more_than_noise};

use std::collections::BTreeSet;

use crate::RegionFilter;
use crate::model::{Entry, Matrix, Region, Report};
use certainty::Sampled;
use sections::Sections;
use verdict::Candidate;

/// Relative change up to which two values count as the same, if nobody says otherwise.
pub const NOISE: f64 = 0.05;

/// Choices for [`compare`].
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// Relative change up to which two values are the same: 0.05 = 5 %.
    pub noise: f64,
    /// List only pairs of which either region is chosen.
    pub region: Option<RegionFilter>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { noise: NOISE, region: None }
    }
}

/// What changed from `base` to `new`. Both hold all their regions: a filter belongs into `options`.
pub fn compare(base: &Report, new: &Report, options: &CompareOptions) -> Comparison {
    let levels = levels(base, new);
    let metrics = Metric::of_regions(&levels);
    let chosen = |region: &Region| options.region.as_ref().is_none_or(|filter| filter.matches(region));
    let pairs = matching::pairs(&base.regions, &new.regions);
    let mut regions: Vec<RegionChange> = pairs
        .iter()
        .map(|pair| (&base.regions[pair.base], &new.regions[pair.new], pair.matched))
        .filter(|(base, new, _)| communicates(base) || communicates(new))
        .filter(|(base, new, _)| chosen(base) || chosen(new))
        .map(|(before, after, matched)| {
            let [old, young] = [(base, before), (new, after)].map(|(report, region)| In { report, region });
            region_change(old, young, matched, &metrics, options.noise)
        })
        .collect();
    regions.sort_by_key(|change| (std::cmp::Reverse(weight(change)), change.base.id));
    let unmatched = |report: &Report, paired: BTreeSet<usize>| {
        let left = report.regions.iter().enumerate().filter(|(index, _)| !paired.contains(index));
        left.map(|(_, region)| region).filter(|r| chosen(r)).map(|r| Side::of(r, &metrics)).collect()
    };
    let sections = Sections::new(base, new, &pairs, options.noise);
    Comparison {
        schema: SCHEMA,
        noise: options.noise,
        caches: if base.caches.is_empty() { new.caches.clone() } else { base.caches.clone() },
        program: program_change(base, new, &sections, &levels, options.noise),
        regions,
        unmatched: Unmatched {
            base: unmatched(base, pairs.iter().map(|pair| pair.base).collect()),
            new: unmatched(new, pairs.iter().map(|pair| pair.new).collect()),
        },
        sections: sections.changes(options.noise),
        promises: promises::promises(base, new, &pairs, &sections, options.noise),
        notes: notes::notes(base, new),
    }
}

/// Cache levels that both are compared at.
fn levels(base: &Report, new: &Report) -> Vec<u8> {
    let mut levels: Vec<u8> = base.caches.iter().chain(&new.caches).map(|cache| cache.level).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

fn communicates(region: &Region) -> bool {
    region.counts.as_ref().is_some_and(|counts| !counts.raw.is_zero() || !counts.rar.is_zero())
}

/// Events of the side with more of them.
fn weight(change: &RegionChange) -> u64 {
    let events = |side: &Side| {
        let count = |metric| side.figures.get(metric).unwrap_or(0.0);
        (count(Metric::Raw) + count(Metric::Rar)) as u64
    };
    events(&change.base).max(events(&change.new))
}

/// A region and the report that it is of.
#[derive(Clone, Copy)]
struct In<'a> {
    report: &'a Report,
    region: &'a Region,
}

impl<'a> In<'a> {
    fn candidate(self, figures: &'a Figures, threads: usize) -> Candidate<'a> {
        Candidate { figures, threads, sampled: Sampled::of(self.region, self.report.options.granule) }
    }
}

fn region_change(base: In, new: In, matched: Matched, metrics: &[Metric], noise: f64) -> RegionChange {
    let (before, after) = (Side::of(base.region, metrics), Side::of(new.region, metrics));
    let candidates = (base.candidate(&before.figures, before.threads), new.candidate(&after.figures, after.threads));
    RegionChange {
        name: new.region.name.clone(),
        matched,
        judged: verdict::judge(candidates.0, candidates.1, noise),
        matrices: matrices(base.region, new.region),
        base: before,
        new: after,
    }
}

fn program_change(base: &Report, new: &Report, sections: &Sections, levels: &[u8], noise: f64) -> ProgramChange {
    let metrics = Metric::of_programs(levels);
    let imbalance = sections.percents();
    let (before, after) = (Profile::of(base, &metrics, imbalance[0]), Profile::of(new, &metrics, imbalance[1]));
    let [old, young] = [base, new].map(|report| In { report, region: &report.program_total });
    let candidates = (old.candidate(&before.figures, before.threads), young.candidate(&after.figures, after.threads));
    ProgramChange {
        judged: verdict::judge(candidates.0, candidates.1, noise),
        matrices: matrices(old.region, young.region),
        base: before,
        new: after,
    }
}

/// New less base, by position of the threads. None if the numbers of threads differ: then no thread of one
/// run is that of the other, and only totals compare.
fn matrices(base: &Region, new: &Region) -> Option<MatrixChange> {
    let (before, after) = (base.counts.as_deref()?, new.counts.as_deref()?);
    (before.raw.size() == after.raw.size()).then(|| MatrixChange {
        raw: subtract(&before.raw, &after.raw, |a, b| b as i64 - a as i64),
        rar: subtract(&before.rar, &after.rar, |a, b| b as i64 - a as i64),
        crr: subtract(&before.own.crr.matrix(), &after.own.crr.matrix(), |a, b| b - a),
    })
}

fn subtract<T, D>(base: &Matrix<T>, new: &Matrix<T>, difference: impl Fn(T, T) -> D) -> Matrix<D>
where
    T: Copy + PartialEq + Default,
    D: Copy + PartialEq + Default,
{
    let places = base.entries().iter().chain(new.entries()).map(|entry| (entry.writer, entry.reader));
    let places: BTreeSet<(u32, u32)> = places.collect();
    let entry = |(writer, reader): (u32, u32)| {
        let at = |matrix: &Matrix<T>| matrix.get(writer as usize, reader as usize);
        Entry { writer, reader, value: difference(at(base), at(new)) }
    };
    Matrix::new(base.size(), places.into_iter().map(entry).collect())
}
