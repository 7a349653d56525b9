//! What is needed of `threadtalk report --format json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Error, Result};

/// A report.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    /// What the tool says of its own accuracy.
    pub accuracy: Accuracy,
    /// Regions with their own events.
    pub regions: Vec<Region>,
    /// The program with everything in it.
    pub program_total: Region,
}

/// The tool's estimate.
#[derive(Clone, Debug, Deserialize)]
pub struct Accuracy {
    /// Upper bound of the share of events that may be false.
    pub estimated_false_rate: f64,
}

/// A region; all but the first fields are missing where nothing happened.
#[derive(Clone, Debug, Deserialize)]
pub struct Region {
    /// Number: the same in all runs of one binary.
    pub id: u32,
    /// Logical ids, in the order of rows and columns.
    pub threads: Vec<u32>,
    /// True communication, rows = writers.
    #[serde(default)]
    pub raw: Vec<Vec<u64>>,
    /// Reuse.
    #[serde(default)]
    pub rar: Vec<Vec<u64>>,
    /// H.
    pub homogeneity: Option<f64>,
    /// B in percent.
    pub balance: Option<f64>,
    /// Reuse distances.
    pub crd: Option<Crd>,
}

/// Quantiles of the reuse distances in elements.
#[derive(Clone, Debug, Deserialize)]
pub struct Crd {
    /// Number of distances.
    pub count: f64,
    /// Quantile 0.5.
    pub median: Option<f64>,
    /// Quantile 0.9.
    pub p90: Option<f64>,
    /// Quantile 0.99.
    pub p99: Option<f64>,
}

impl Report {
    /// Reads what `threadtalk report --format json` printed; `what` says whose report it is.
    pub fn parse(json: &str, what: impl FnOnce() -> String) -> Result<Report> {
        serde_json::from_str(json).map_err(|source| Error::Report { what: what(), source })
    }
}

impl Region {
    /// All entries that are not zero by (reuse?, writer, reader), with logical thread ids.
    pub fn entries(&self) -> BTreeMap<(bool, u32, u32), u64> {
        let mut entries = BTreeMap::new();
        for (reuse, matrix) in [(false, &self.raw), (true, &self.rar)] {
            for (row, &writer) in matrix.iter().zip(&self.threads) {
                for (&count, &reader) in row.iter().zip(&self.threads) {
                    if count > 0 {
                        entries.insert((reuse, writer, reader), count);
                    }
                }
            }
        }
        entries
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.raw.iter().chain(&self.rar).flatten().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_without_events_has_no_matrices() {
        let json = r#"{"id":3,"kind":"loop","name":"f","threads":[0,2]}"#;
        let region: Region = serde_json::from_str(json).unwrap();
        assert_eq!((region.id, region.events(), region.entries().len()), (3, 0, 0));
    }

    #[test]
    fn something_else_than_a_report_is_named() {
        let error = Report::parse("no events\n", || "the report of lu".into()).unwrap_err().to_string();
        assert!(error.starts_with("the report of lu is not a report in JSON: expected"), "{error}");
    }

    #[test]
    fn entries_carry_logical_ids() {
        let json = r#"{"id":3,"threads":[0,2],"raw":[[0,5],[1,0]],"rar":[[0,7],[0,0]],"homogeneity":1.0,"balance":2.0,
                       "crd":{"count":8,"median":1,"p90":2.5,"p99":null,"buckets":[]}}"#;
        let region: Region = serde_json::from_str(json).unwrap();
        let expected = BTreeMap::from([((false, 0, 2), 5), ((false, 2, 0), 1), ((true, 0, 2), 7)]);
        assert_eq!(region.entries(), expected);
        assert_eq!(region.events(), 13);
    }
}
