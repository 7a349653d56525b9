//! Decision tables (Liu et al., section 4.1, Table 1, and 4.2, Figure 3).

use serde::Serialize;
use thiserror::Error;

use super::reducts::MAX_ATTRIBUTES;
use super::{Metric, kinds::kinds};

/// More attributes than reducts are searched over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the decision table has {attributes} attributes, {MAX_ATTRIBUTES} can be reduced: choose fewer metrics")]
pub struct TooManyAttributes {
    /// Attributes of the table.
    pub attributes: usize,
}

/// One row for each thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionTable {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Value of each attribute as a code, by thread. Only whether two codes are equal has a meaning.
    pub rows: Vec<Vec<usize>>,
    /// Kind of each thread.
    pub decisions: Vec<usize>,
}

impl DecisionTable {
    /// A table whose codes are the kinds that the values of each metric alone fall into.
    ///
    /// # Errors
    /// More than [`MAX_ATTRIBUTES`] metrics.
    pub fn of_metrics(metrics: &[&Metric], decisions: &[usize], tau: f64) -> Result<DecisionTable, TooManyAttributes> {
        if metrics.len() > MAX_ATTRIBUTES {
            return Err(TooManyAttributes { attributes: metrics.len() });
        }
        let alone = |metric: &&Metric| kinds(&metric.values.iter().map(|&v| vec![v]).collect::<Vec<_>>(), tau);
        let columns: Vec<Vec<usize>> = metrics.iter().map(alone).collect();
        Ok(DecisionTable {
            attributes: metrics.iter().map(|m| m.name.clone()).collect(),
            rows: (0..decisions.len()).map(|i| columns.iter().map(|c| c[i]).collect()).collect(),
            decisions: decisions.to_vec(),
        })
    }
}
