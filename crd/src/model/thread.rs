//! A thread of the program.

use serde::Serialize;

use super::Position;

/// A logical thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thread {
    /// Logical id, in order of creation.
    pub id: u32,
    /// Name; empty if it has none.
    pub name: String,
    /// Logical id of its creator; none for the first thread and for threads that uninstrumented code created.
    pub created_by: Option<u32>,
    /// The call that created it.
    pub created_at: Option<Position>,
    /// Seconds after the beginning of the run.
    pub start_s: f64,
    /// Seconds after the beginning of the run; none if it had not ended.
    pub end_s: Option<f64>,
    /// CPU time in seconds; none if it had not ended.
    pub cpu_s: Option<f64>,
    /// The kernel's number.
    pub tid: u64,
    /// A worker of the OpenMP runtime.
    pub openmp: bool,
    /// Stands for all threads beyond the ids.
    pub overflow: bool,
}
