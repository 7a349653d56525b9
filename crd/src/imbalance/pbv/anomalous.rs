//! Anomalous parallelism (Harmony, section 6.1): what nearly always runs serially and sometimes does not, or the other
//! way.

use serde::Serialize;

/// Of its executions at most this share is on the rare side.
pub const ANOMALOUS_SHARE: f64 = 0.01;

/// A region that is rarely parallel, or rarely serial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Anomaly {
    /// Executions with one thread.
    pub serial: u64,
    /// Executions with more.
    pub parallel: u64,
}

/// The anomaly of a region with this vector of its executions; none if it runs on one side only or on both more often
/// than in [`ANOMALOUS_SHARE`] of its executions.
pub fn anomaly(counts: &[u64]) -> Option<Anomaly> {
    let serial = counts.first().copied().unwrap_or(0);
    let parallel: u64 = counts.iter().skip(1).sum();
    let rare = serial.min(parallel);
    let share = rare as f64 / (serial + parallel) as f64;
    (rare > 0 && share <= ANOMALOUS_SHARE).then_some(Anomaly { serial, parallel })
}
