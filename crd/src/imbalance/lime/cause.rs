//! A cause of imbalance, as LIME reports it (section 3.6).

use serde::Serialize;

/// A cause with a score above this matters (the paper's reports list those).
pub const IMPORTANT: f64 = 0.1;

/// What a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A branch by which threads go different ways, or go them differently often.
    ControlFlow,
    /// A hardware event that threads have differently often in the same code.
    Hardware,
}

/// A cause in one instance of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// What it is.
    pub kind: Kind,
    /// Node of the leader, or identity of the hardware event.
    pub location: u32,
    /// Final score (equation 2): about the share of the imbalance that it explains. Negative if it works against the
    /// imbalance.
    pub score: f64,
    /// Standardised coefficient of its cluster.
    pub beta: f64,
    /// The leader's own score (equation 1); none for hardware events.
    pub leader_score: Option<f64>,
    /// Probability that its cluster entered the regression by chance.
    pub p: f64,
    /// Its cluster.
    pub cluster: usize,
    /// Counts by thread: of the leader's edge into the cluster that goes along best with the time, or of the event.
    pub counts: Vec<f64>,
}

impl Cause {
    /// Whether the score is above [`IMPORTANT`].
    pub fn important(&self) -> bool {
        self.score > IMPORTANT
    }
}
