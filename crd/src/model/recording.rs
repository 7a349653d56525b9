//! How the profile was recorded and how far its numbers can be trusted.

use serde::Serialize;

/// Settings of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recording {
    /// Bytes of an element.
    pub granule: u32,
    /// Budget of the signature in bytes; 0 = unbounded.
    pub signature_bytes: u64,
    /// `hashed` or `exact`.
    pub mode: &'static str,
    /// `auto`, `exact` or `off`.
    pub crd: &'static str,
    /// True if what the only thread wrote was left out of this analysis.
    pub hide_serial: bool,
}

/// What was exact and what was not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// Upper bound of the share of events that may be false, 0 to 1; see [`crate::accuracy`].
    pub estimated_false_rate: f64,
    /// Share of the signature's budget in use; none in exact mode, which has no budget.
    pub occupied: Option<f64>,
    /// Hooks and events that were not counted: inside a signal handler, because the file could not grow, or because a
    /// thread's records had used up their budget.
    pub dropped: u64,
    /// Of these, hooks that arrived inside a hook.
    pub dropped_reentrant: u64,
    /// Of these, events that had no room in the file.
    pub dropped_full: u64,
    /// Bytes of signature in use.
    pub signature_mapped: u64,
    /// Chunks of memory that have cells.
    pub chunks: u64,
    /// Chunks that share their cells with others.
    pub chunks_aliased: u64,
    /// Events looked at.
    pub events_checked: u64,
    /// Of these, events in shared cells.
    pub events_suspect: u64,
    /// Reads whose new reader set was not remembered.
    pub states_exhausted: u64,
    /// Threads beyond the ids: counted under the last id.
    pub threads_overflowed: u64,
    /// Modules whose writes have no lines.
    pub modules_without_lines: u64,
    /// Numbers that stand for what a thread wrote at lines that could not be told apart for all readers: threads times
    /// lines were too many.
    pub lineless_values: u64,
    /// Traces of reuse distances that went over to sampling or were not followed at all because a thread's budget
    /// (option `crd_bytes`) was used up.
    pub crd_budget_reached: u64,
    /// Threads whose event records used up their budget (option `records_bytes`): what they found from then on has no
    /// line of the writer.
    pub records_budget_reached: u64,
    /// Of [`Accuracy::dropped`], events for which even records without lines had no room in that budget.
    pub dropped_budget: u64,
}
