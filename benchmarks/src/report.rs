//! What is needed of `threadtalk report --format json`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::build::{self, Compilers};
use crate::error::during;
use crate::{Error, Result, process};

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
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Region {
    /// Number: the same in all runs of one binary.
    pub id: u32,
    /// `function`, `loop`, ...
    #[serde(default)]
    pub kind: String,
    /// Name.
    #[serde(default)]
    pub name: String,
    /// Logical ids, in the order of rows and columns.
    pub threads: Vec<u32>,
    /// True communication, rows = writers.
    #[serde(default)]
    pub raw: Vec<Vec<u64>>,
    /// Reuse.
    #[serde(default)]
    pub rar: Vec<Vec<u64>>,
    /// True communication with the regions inside.
    #[serde(default)]
    pub total_raw: Vec<Vec<u64>>,
    /// Reuse with the regions inside.
    #[serde(default)]
    pub total_rar: Vec<Vec<u64>>,
    /// Of the region's own events.
    #[serde(flatten)]
    pub own: Metrics,
    /// With the regions inside, where there are any with events.
    pub total: Option<Metrics>,
    /// What would help.
    #[serde(default)]
    pub suggestions: Vec<Suggestion>,
}

/// What is computed from matrices and traces.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Metrics {
    /// H.
    pub homogeneity: Option<f64>,
    /// B in percent.
    pub balance: Option<f64>,
    /// Reuse distances.
    pub crd: Option<Crd>,
}

/// One suggestion.
#[derive(Clone, Debug, Deserialize)]
pub struct Suggestion {
    /// Which rule.
    pub rule: String,
    /// In words.
    pub text: String,
}

/// Quantiles of the reuse distances in elements.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Crd {
    /// Number of distances.
    pub count: f64,
    /// Quantile 0.5.
    pub median: Option<f64>,
    /// Quantile 0.9.
    pub p90: Option<f64>,
    /// Quantile 0.99.
    pub p99: Option<f64>,
    /// How far ranks may be off for the number of samples, as the report says.
    #[serde(default)]
    pub rank_error: f64,
    /// The median in bytes.
    #[serde(default)]
    pub median_bytes: Option<f64>,
    /// Quantile 0.9 in bytes.
    #[serde(default)]
    pub p90_bytes: Option<f64>,
    /// What each cache level makes of them.
    #[serde(default)]
    pub cutoffs: Vec<Cutoff>,
    /// The histogram.
    #[serde(default)]
    pub buckets: Vec<Bucket>,
    /// The index distances that were sampled.
    #[serde(default)]
    pub index: Index,
}

/// Index distances.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Index {
    /// The histogram.
    pub buckets: Vec<Bucket>,
}

/// A bucket of a histogram.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Bucket {
    /// Smallest distance in it.
    pub lo: u64,
    /// Distances.
    pub count: f64,
}

/// Shares of the distances at one cache level.
#[derive(Clone, Debug, Deserialize)]
pub struct Cutoff {
    /// The level cannot hold what lies between.
    pub definite_miss: f64,
}

/// What is needed of `threadtalk compare --format json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Comparison {
    /// What suggestions for the base promise to lower.
    pub promises: Vec<Promised>,
}

/// What a suggestion promises to lower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promised {
    /// The rule that made the suggestion.
    pub rule: String,
    /// The region that has the figure.
    pub name: String,
    /// Which figure.
    pub lowers: String,
    /// Before.
    pub base: f64,
    /// After.
    pub new: f64,
    /// Lower by more than noise.
    pub kept: bool,
}

/// What is needed of `threadtalk map --format json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Mapping {
    /// By placement.
    pub cost: Cost,
}

/// Events times distance.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Cost {
    /// Spread over the machine.
    pub scatter: f64,
    /// At the computed places.
    pub mapped: f64,
}

impl Comparison {
    /// Reads what the command printed; `what` says whose it is.
    pub fn parse(json: &str, what: impl FnOnce() -> String) -> Result<Comparison> {
        serde_json::from_str(json).map_err(|source| Error::Report { what: what(), source })
    }
}

impl Mapping {
    /// Reads what the command printed; `what` says whose it is.
    pub fn parse(json: &str, what: impl FnOnce() -> String) -> Result<Mapping> {
        serde_json::from_str(json).map_err(|source| Error::Report { what: what(), source })
    }
}

impl Report {
    /// The report of the profile that a run left in `scratch`; the profile is removed, so that the next run can leave
    /// its own.
    pub fn take(
        compilers: &Compilers,
        scratch: &Path,
        limit: Duration,
        what: impl FnOnce() -> String,
    ) -> Result<Report> {
        let profile = build::profile(scratch);
        let mut command = Command::new(compilers.threadtalk("threadtalk")?);
        command.arg("report").arg(&profile).args(["--format", "json"]);
        let output = process::run(command, scratch, limit)?;
        during(|| format!("removing {}", profile.display()), std::fs::remove_file(&profile))?;
        Report::parse(&output.stdout, what)
    }

    /// All entries of the regions' matrices that are not zero.
    pub fn entries(&self) -> BTreeMap<Entry, u64> {
        let of = |region: &Region| {
            let id = region.id;
            region.entries().into_iter().map(move |(at, count)| ((id, at), count))
        };
        self.regions.iter().flat_map(of).collect()
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.regions.iter().map(Region::events).sum()
    }

    /// Reads what `threadtalk report --format json` printed; `what` says whose report it is.
    pub fn parse(json: &str, what: impl FnOnce() -> String) -> Result<Report> {
        serde_json::from_str(json).map_err(|source| Error::Report { what: what(), source })
    }
}

/// Where an entry stands: its region's number, and its place in the region's matrices as in [`Region::entries`].
pub type Entry = (u32, (bool, u32, u32));

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

    /// Figures with the regions inside.
    pub fn whole(&self) -> &Metrics {
        self.total.as_ref().unwrap_or(&self.own)
    }

    /// Number of events with the regions inside.
    pub fn total_events(&self) -> u64 {
        self.total_raw.iter().chain(&self.total_rar).flatten().sum()
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
        let error = Comparison::parse("{}", || "the comparison of lu".into()).unwrap_err().to_string();
        assert!(error.contains("the comparison of lu is not a report in JSON: missing field `promises`"), "{error}");
        let error = Mapping::parse("{}", || "the mapping of lu".into()).unwrap_err().to_string();
        assert!(error.contains("the mapping of lu is not a report in JSON: missing field `cost`"), "{error}");
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
