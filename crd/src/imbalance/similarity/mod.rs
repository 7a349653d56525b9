//! Similarity analysis (Liu et al.): into how many kinds the threads of a program fall that should all behave alike,
//! which regions tell the kinds apart, and which metrics.
//!
//! Each thread is a vector with its CPU time in every region. The paper gives no threshold of density; the one used
//! here is in [`kinds::TAU`].

pub mod ccr;
mod decision;
mod discernibility;
pub mod kinds;
mod left_out;
pub mod optics;
mod reducts;
mod severity;

pub use decision::{DecisionTable, TooManyAttributes};
pub use discernibility::{Cell, discernibility};
pub use reducts::{MAX_ATTRIBUTES, Reducts, reducts};
pub use severity::severity;

use serde::Serialize;

use ccr::{Critical, Regions};
use kinds::members;

/// What the analysis of one program gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Similarity {
    /// Severity S; none if it has no bound, because a thread spent no time at all.
    pub severity: Option<f64>,
    /// Threads of each kind, kinds and threads in ascending order.
    pub kinds: Vec<Vec<usize>>,
    /// Critical regions from the outermost inwards, and the innermost of them.
    #[serde(flatten)]
    pub critical: Critical,
    /// Metrics of the innermost critical regions, as kinds per metric, beside the kinds of the threads.
    pub decision_table: DecisionTable,
    /// Which of the metrics tell the kinds apart.
    #[serde(flatten)]
    pub reducts: Reducts,
}

/// A metric of one region.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Index of the region.
    pub region: usize,
    /// Name, as it shall appear in the table.
    pub name: String,
    /// Value of each thread.
    pub values: Vec<f64>,
}

/// The whole analysis: kinds, critical regions, and of `metrics` those of the innermost critical regions as a decision
/// table.
///
/// # Errors
/// The critical regions have more than [`MAX_ATTRIBUTES`] metrics.
pub fn analyse(regions: &Regions, metrics: &[Metric], tau: f64) -> Result<Similarity, TooManyAttributes> {
    let labels = regions.kinds(tau);
    let critical = ccr::search(regions, tau);
    let kept: Vec<&Metric> = metrics.iter().filter(|m| critical.cccr.contains(&m.region)).collect();
    let decision_table = DecisionTable::of_metrics(&kept, &labels, tau)?;
    let reducts = reducts(&discernibility(&decision_table), decision_table.attributes.len())?;
    let severity = severity(&regions.outermost_times());
    Ok(Similarity {
        severity: severity.is_finite().then_some(severity),
        kinds: members(&labels),
        critical,
        decision_table,
        reducts,
    })
}
