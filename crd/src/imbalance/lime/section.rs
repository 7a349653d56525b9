//! What LIME looks at: one execution of a parallel section by a team of threads.

/// One dynamic instance of a parallel section. All vectors have an element for each thread of the team, in the same
/// order, and only finite elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What is to be explained: time from entry to arrival, or work.
    pub dependent: Vec<f64>,
    /// All edges of the control flow graph that any thread took; the order decides between equals.
    pub edges: Vec<Edge>,
    /// Hardware events.
    pub hardware: Vec<HardwareEvent>,
}

/// An edge of the control flow graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Node (basic block) that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
    /// A back edge of a loop, or a recursive call.
    pub back: bool,
    /// How often each thread took it.
    pub counts: Vec<f64>,
}

/// A hardware event at one instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct HardwareEvent {
    /// Identity, as the caller numbers them.
    pub id: u32,
    /// How often each thread had it.
    pub counts: Vec<f64>,
    /// Counts of the events without which this one cannot happen: executions of the instruction, misses of the level
    /// above.
    pub superiors: Vec<Vec<f64>>,
}

impl Section {
    /// Share of the time that the team waits: 1 less mean over maximum, 0 to 1 (paper, Table 1).
    pub fn imbalance(&self) -> f64 {
        let max = self.dependent.iter().copied().fold(0.0, f64::max);
        if max > 0.0 { 1.0 - super::super::vector::mean(&self.dependent) / max } else { 0.0 }
    }
}
