//! Communication over time.

use serde::Serialize;

use super::Matrix;

/// Communication over time: slices of the run, and the phases that they make up. Sums over all slices, and over all
/// phases, are the totals of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// Cosine from which two slices' matrices count as alike.
    pub similarity: f64,
    /// Memory for the records was running out, so some slices are longer than the run's options say.
    pub coarse: bool,
    /// Parts of the run, by time, without gaps between those that have events.
    pub slices: Vec<Slice>,
    /// Neighbouring slices with like matrices, by time.
    pub phases: Vec<Phase>,
}

/// A part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slice {
    /// Seconds after the beginning of the run.
    pub from_s: f64,
    /// Seconds after the beginning of the run.
    pub to_s: f64,
    /// True communication in it.
    pub raw: u64,
    /// Reuse in it.
    pub rar: u64,
    /// All threads waited for each other at its end: no event of one side was counted on the other.
    pub at_barrier: bool,
    /// Index of its phase.
    pub phase: usize,
}

/// Neighbouring slices whose matrices are alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Phases of one pattern have like matrices; numbered in the order of their first phases, from 0.
    pub pattern: usize,
    /// Seconds after the beginning of the run.
    pub from_s: f64,
    /// Seconds after the beginning of the run.
    pub to_s: f64,
    /// Logical threads, ascending: rows (writers) and columns (readers) of the matrices.
    pub threads: Vec<u32>,
    /// True communication.
    pub raw: Matrix<u64>,
    /// Reuse.
    pub rar: Matrix<u64>,
}
