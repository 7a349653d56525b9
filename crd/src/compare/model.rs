//! The result of a comparison. Serialised by `serde_json` it has the shape `threadtalk.compare/1`.

use serde::Serialize;
use std::sync::Arc;

use super::verdict::{Reason, Verdict};
use super::{Figures, Metric, Promised, SectionChange};
use crate::model::{Cache, Matrix, Region, Report};

/// Value of [`Comparison::schema`].
pub const SCHEMA: &str = "threadtalk.compare/1";

/// What changed from one profile to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Relative change up to which values count as the same.
    pub noise: f64,
    /// The caches that miss shares are for.
    pub caches: Vec<Cache>,
    /// Both programs with everything in them.
    pub program: ProgramChange,
    /// Regions of both of which at least one communicates, those with the most events first.
    pub regions: Vec<RegionChange>,
    /// Regions of one side only.
    pub unmatched: Unmatched,
    /// Parallel sections of either, those with the most to save first; none unless
    /// both counted control flow.
    pub sections: Vec<SectionChange>,
    /// What suggestions for the base promise to lower.
    pub promises: Vec<Promised>,
    /// What limits the comparison, a sentence each.
    pub notes: Vec<String>,
}

/// What changed in the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramChange {
    /// Before.
    pub base: Profile,
    /// After.
    pub new: Profile,
    /// The change.
    #[serde(flatten)]
    pub judged: Judged,
    /// The change by pair of threads; none if the numbers of threads differ.
    pub matrices: Option<MatrixChange>,
}

/// What changed in a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionChange {
    /// Its name in the new profile.
    pub name: String,
    /// How the two were found to belong together.
    pub matched: Matched,
    /// Before.
    pub base: Side,
    /// After.
    pub new: Side,
    /// The change.
    #[serde(flatten)]
    pub judged: Judged,
    /// The change by pair of threads; none if the numbers of threads differ or one side has no event.
    pub matrices: Option<MatrixChange>,
}

/// How two regions were found to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Matched {
    /// Same kind, name, file and line.
    Same,
    /// Same kind and name, at another line, in another file or at another depth of nesting.
    Moved,
    /// Another name, at about the same place or of which one is part of the other; or inside such a region.
    Renamed,
}

/// A region in one of the profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Number in its report.
    pub id: u32,
    /// What it is.
    pub kind: &'static str,
    /// Name.
    pub name: String,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// First line.
    pub line: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Threads with an event or an access in it.
    pub threads: usize,
    /// Its values.
    #[serde(flatten)]
    pub figures: Figures,
}

/// One of the programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// File name of the executable.
    pub name: String,
    /// As one would type them in a shell, if the profile has them.
    pub arguments: Option<String>,
    /// Threads of the run.
    pub threads: usize,
    /// Its values.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Values of both, subtracted, divided and judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// New less base; none where one of them was not measured.
    pub delta: Figures,
    /// New / base - 1; none also where base is 0 and new is not.
    pub change: Figures,
    /// In one word.
    pub verdict: Verdict,
    /// What it rests on.
    pub reasons: Vec<Reason>,
    /// Figures of distances that differ and may have been found to by chance, as distances are sampled.
    pub by_chance: Vec<Metric>,
}

/// New less base, over the threads in their order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixChange {
    /// True communication.
    pub raw: Matrix<i64>,
    /// Reuse.
    pub rar: Matrix<i64>,
    /// Reuse for each communication.
    pub crr: Matrix<f64>,
}

/// Regions without a counterpart.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Unmatched {
    /// Only before.
    pub base: Vec<Side>,
    /// Only after.
    pub new: Vec<Side>,
}

impl Side {
    /// A region with these metrics.
    pub fn of(region: &Region, metrics: &[Metric]) -> Self {
        Self {
            id: region.id,
            kind: region.kind.name(),
            name: region.name.clone(),
            file: region.file.clone(),
            line: region.line,
            end_line: region.end_line,
            threads: region.threads.len(),
            figures: Figures::new(metrics, |metric| metric.of(region)),
        }
    }
}

impl Profile {
    /// A program with these metrics. `imbalance`: that of its sections in percent.
    pub fn of(report: &Report, metrics: &[Metric], imbalance: Option<f64>) -> Self {
        let value = |metric| match metric {
            Metric::Duration => report.program.duration_s,
            Metric::Cpu => report.program.cpu_s,
            Metric::Imbalance => imbalance,
            other => other.of(&report.program_total),
        };
        Self {
            name: report.program.name.clone(),
            arguments: report.program.meta.get("arguments").cloned(),
            threads: report.threads.len(),
            figures: Figures::new(metrics, value),
        }
    }
}
