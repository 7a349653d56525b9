//! How few blocks make up most of the executions (Harmony, section 5.3, Figure 11).

use serde::Serialize;

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The hottest blocks taken, as a share of the blocks, 0 to 1.
    pub blocks: f64,
    /// Their share of the executions, 0 to 1.
    pub executions: f64,
}

/// Coverage of the executions by the hottest blocks, one point for each block in order of heat; the paper draws it for
/// the serial and for the parallel blocks. Empty if nothing was executed.
///
/// `totals`: executions of each block.
pub fn curve(totals: &[u64]) -> Vec<Point> {
    let mut totals = totals.to_vec();
    totals.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = totals.iter().sum();
    if all == 0 {
        return Vec::new();
    }
    let covered = totals.iter().scan(0u64, |sum, total| {
        *sum += total;
        Some(*sum)
    });
    let share = |n: usize| n as f64 / totals.len() as f64;
    covered.enumerate().map(|(i, c)| Point { blocks: share(i + 1), executions: c as f64 / all as f64 }).collect()
}

/// Smallest share of the blocks that covers `executions` (0 to 1) of the executions; none if nothing was executed.
pub fn blocks_covering(totals: &[u64], executions: f64) -> Option<f64> {
    curve(totals).into_iter().find(|p| p.executions >= executions).map(|p| p.blocks)
}
