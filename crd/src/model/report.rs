//! The whole result.

use serde::Serialize;
use std::collections::BTreeMap;

use super::{Accuracy, Cache, Phases, Recording, Region, Thread};
use crate::imbalance::profile::model::Section;

/// Value of [`Report::schema`].
pub const SCHEMA: &str = "threadtalk.report/1";

/// What the analysis of a profile gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What ran.
    pub program: Program,
    /// How it ended.
    pub ended: Ended,
    /// How it was recorded and analysed.
    pub options: Recording,
    /// What was exact and what was not.
    pub accuracy: Accuracy,
    /// All threads, by id.
    pub threads: Vec<Thread>,
    /// The caches that the cutoffs are for.
    pub caches: Vec<Cache>,
    /// All regions, or those of the filter, by id. The first is the program with what happened outside of any region.
    pub regions: Vec<Region>,
    /// The program with everything in it. Its `raw` is `total_raw`.
    pub program_total: Region,
    /// Communication over time; none if it was not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// Parallel sections, those with the most to save first; none if control flow was not counted. They are written as
    /// `threadtalk.imbalance/1`.
    #[serde(skip)]
    pub sections: Option<Vec<Section>>,
}

/// The program and its run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Program {
    /// File name of the executable.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Seconds since 1970 when recording began.
    pub start_unix_s: f64,
    /// Seconds from the beginning to the end; none if it did not end cleanly.
    pub duration_s: Option<f64>,
    /// CPU time in seconds.
    pub cpu_s: Option<f64>,
    /// Exit status, if known.
    pub exit_status: Option<i64>,
    /// Names of the instrumented modules.
    pub modules: Vec<String>,
    /// All that the runtime noted about the run, by key; `arguments` as one would type them in a shell.
    pub meta: BTreeMap<String, String>,
}

/// How the profiled process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Returned from main, exit, or end of the last thread.
    Normally,
    /// Killed, aborted, or still running; with an exit status: `_exit` or `quick_exit`.
    Abnormally,
    /// Replaced by exec.
    Exec,
}
