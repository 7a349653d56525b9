//! A region of the program and what was measured in it.

use serde::Serialize;
use serde::ser::Serializer;
use std::collections::BTreeMap;
use std::sync::Arc;
use threadtalk_abi::module::RegionKind;

use super::{Crd, FalseSharing, Line, Matrix, Object, Position, Promise, Ratios};

/// A function, loop, construct or user region; number 0 is the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Region {
    /// Number. A region's parent has a smaller one.
    pub id: u32,
    /// What it is.
    #[serde(serialize_with = "kind_name")]
    pub kind: RegionKind,
    /// Name, demangled; of loops and constructs the enclosing function's.
    pub name: String,
    /// Name as the linker knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// First line.
    pub line: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Lines of the program that call the function of a library that this is, or is part of; none if it is none, or if
    /// they are not known or more than a few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub called_at: Vec<Position>,
    /// Enclosing region; none for the program.
    pub parent: Option<u32>,
    /// Times that threads entered it.
    pub visits: u64,
    /// Logical threads with an event or an access in the region or in one inside it, ascending.
    pub threads: Vec<u32>,
    /// Times that each of `threads` entered it.
    pub visits_by_thread: Vec<u64>,
    /// Own events and those of regions inside; none if there is no event at all.
    #[serde(flatten)]
    pub counts: Option<Box<Counts>>,
    /// What its own events are about, the objects with the most communication first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// Cache lines that its writes share with other threads' elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub false_sharing: Vec<FalseSharing>,
    /// What to change.
    pub suggestions: Vec<Suggestion>,
}

/// Events of a region. All matrices are over the region's `threads`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counts {
    /// True communication, own events.
    pub raw: Matrix<u64>,
    /// Reuse, own events.
    pub rar: Matrix<u64>,
    /// True communication, regions inside included.
    pub total_raw: Matrix<u64>,
    /// Reuse, regions inside included.
    pub total_rar: Matrix<u64>,
    /// Those of `raw` whose read is atomic.
    pub sync_raw: Matrix<u64>,
    /// Those of `rar` whose read is atomic.
    pub sync_rar: Matrix<u64>,
    /// Events of data written while only one thread existed: part of `raw`, unless the analysis hides them.
    #[serde(skip_serializing_if = "Matrix::is_zero")]
    pub serial_raw: Matrix<u64>,
    /// The same for `rar`.
    #[serde(skip_serializing_if = "Matrix::is_zero")]
    pub serial_rar: Matrix<u64>,
    /// `serial_raw`, regions inside included.
    #[serde(skip_serializing_if = "Matrix::is_zero")]
    pub total_serial_raw: Matrix<u64>,
    /// `serial_rar`, regions inside included.
    #[serde(skip_serializing_if = "Matrix::is_zero")]
    pub total_serial_rar: Matrix<u64>,
    /// Computed from the own events.
    #[serde(flatten)]
    pub own: Measures,
    /// Computed from the events of the region and of those inside it; none if no region inside has an event or a
    /// byte: then it is `own`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Measures>,
    /// Pairs of lines of the own events, those with the most true communication first.
    pub lines: Vec<Line>,
}

/// What is computed from a pair of matrices and its traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// Reuse for each true communication (ICPP'18, section 3.4).
    pub crr: Ratios,
    /// Pairs (writer, reader) of logical threads that reused what they received in another region: their CRR
    /// entry is the number of reuses.
    pub carried_in: Vec<[u32; 2]>,
    /// Mean over the rows of the CRR matrix of their population variance, diagonal included (ICPP'18, equation 1).
    pub homogeneity: f64,
    /// The other readings of equation 1.
    pub homogeneity_variants: Homogeneity,
    /// How far the largest row of the CRR matrix is above the mean row, in percent (ICPP'18, equation 2).
    pub balance: f64,
    /// The same of the columns.
    pub balance_by_reader: f64,
    /// T of both equations: threads that touched memory.
    pub threads_counted: usize,
    /// Bytes that the threads have for themselves: written here and read by no other thread.
    pub private_bytes: u64,
    /// Reuse distances; none if they were not recorded or there was no usage.
    pub crd: Option<Crd>,
}

/// Homogeneity under other readings of equation 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Homogeneity {
    /// Sample variance (divisor T - 1).
    pub sample: f64,
    /// Population variance without the diagonal.
    pub off_diagonal: f64,
    /// Population variance of the columns.
    pub by_reader: f64,
    /// Population variance of the matrix scaled to a largest entry of 100.
    pub scaled: f64,
}

/// What a rule proposes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The rule's name.
    pub rule: String,
    /// What it brings together.
    pub kind: SuggestionKind,
    /// Where it is done.
    pub means: Means,
    /// One sentence for the reader.
    pub text: String,
    /// The numbers that made the rule fire.
    pub evidence: BTreeMap<String, f64>,
    /// What is lower once it has been followed.
    pub promise: Promise,
    /// Places in the source that it is about.
    pub lines: Vec<Position>,
}

/// The rows of ICPP'18, table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuggestionKind {
    /// Data with its use: layout, order, who works on what.
    Data,
    /// Threads with each other: placement.
    Thread,
}

/// The columns of ICPP'18, table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// In the source.
    Code,
    /// In the settings of the run (schedules, placement).
    RunTime,
}

fn kind_name<S: Serializer>(kind: &RegionKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

impl Region {
    /// True communication of the region and those inside it.
    pub fn total_raw(&self) -> u64 {
        self.counts.as_ref().map_or(0, |c| c.total_raw.sum())
    }

    /// Reuse of the region and those inside it.
    pub fn total_rar(&self) -> u64 {
        self.counts.as_ref().map_or(0, |c| c.total_rar.sum())
    }
}

impl Counts {
    /// Measures of the region with all that is inside it.
    pub fn total(&self) -> &Measures {
        self.total.as_ref().unwrap_or(&self.own)
    }
}
