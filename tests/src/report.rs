//! What `threadtalk report --format json` says, as far as the tests look at it.

use crate::distribution::Distribution;
use crate::execute::{Finished, Run};
use crate::expectation::Selector;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Report(Value);

/// Numbers by (writer, reader), both logical threads.
pub type Matrix = Vec<Vec<i64>>;

/// `threadtalk report FILE --format json`.
pub fn command(tool: &Distribution, profile: &Path) -> std::io::Result<Finished> {
    let mut command = Command::new(tool.program("threadtalk"));
    command.arg("report").arg(profile).args(["--format", "json"]);
    Run::new(command).finish()
}

impl Report {
    /// The report of a profile; an error carries what the tool printed.
    pub fn of(tool: &Distribution, profile: &Path) -> Result<Self, String> {
        let done = command(tool, profile).map_err(|e| e.to_string())?;
        if !done.status.success() {
            return Err(format!("threadtalk report: {}: {}", done.ending(), done.stderr_text()));
        }
        let value: Value = serde_json::from_slice(&done.stdout).map_err(|e| format!("report is no JSON: {e}"))?;
        if value["schema"] != "threadtalk.report/1" {
            return Err(format!("schema is {}", value["schema"]));
        }
        Ok(Self(value))
    }

    /// A report that was not read from a profile.
    pub fn from_json(document: Value) -> Self {
        Self(document)
    }

    /// The whole document.
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.0["threads"].as_array().map_or(0, Vec::len)
    }

    /// `ended`.
    pub fn ended(&self) -> &str {
        self.0["ended"].as_str().unwrap_or("")
    }

    /// Names of the threads by id.
    pub fn thread_names(&self) -> HashMap<u64, String> {
        let threads = self.0["threads"].as_array().into_iter().flatten();
        threads.filter_map(|t| Some((t["id"].as_u64()?, t["name"].as_str()?.to_owned()))).collect()
    }

    /// All regions.
    pub fn regions(&self) -> &[Value] {
        self.0["regions"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The regions that `selector` means: several when a name occurs several times, none of them inside another.
    pub fn select(&self, selector: &Selector, marks: &HashMap<String, u64>) -> Result<Vec<&Value>, String> {
        let Some((kind, name, mark)) = &selector.of else {
            return Ok(vec![if selector.own { &self.regions()[0] } else { &self.0["program_total"] }]);
        };
        let line = match mark {
            Some(mark) => Some(*marks.get(mark).ok_or_else(|| format!("the source has no mark /*@{mark}*/"))?),
            None => None,
        };
        let found: Vec<&Value> = self
            .regions()
            .iter()
            .filter(|r| r["kind"] == **kind && named(r, name) && line.is_none_or(|l| r["line"] == l))
            .collect();
        if found.is_empty() {
            return Err(format!("no region {kind} {name}; there are: {}", self.region_names()));
        }
        if found.iter().any(|r| found.iter().any(|outer| self.is_inside(r, &outer["id"]))) {
            return Err(format!("several nested regions {kind} {name}: add the mark of a line"));
        }
        Ok(found)
    }

    fn is_inside(&self, region: &Value, outer: &Value) -> bool {
        let mut at = &region["parent"];
        while let Some(parent) = self.regions().iter().find(|r| r["id"] == *at && !at.is_null()) {
            if parent["id"] == *outer {
                return true;
            }
            at = &parent["parent"];
        }
        false
    }

    fn region_names(&self) -> String {
        let one = |r: &Value| format!("{} {}@{}", text(&r["kind"]), text(&r["name"]), r["line"]);
        self.regions().iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The sum of `key` over `regions`, spread out to all of `threads` threads.
    pub fn matrix(&self, regions: &[&Value], key: &str, threads: usize) -> Result<Matrix, String> {
        let mut sum = vec![vec![0; threads]; threads];
        for region in regions {
            let ids = region["threads"].as_array().ok_or("a region without threads")?;
            let ids: Vec<usize> = ids.iter().filter_map(|id| Some(id.as_u64()? as usize)).collect();
            // Matrices that are zero throughout are left out.
            let Some(rows) = region[key].as_array() else { continue };
            for (&w, row) in ids.iter().zip(rows) {
                for (&r, n) in ids.iter().zip(row.as_array().ok_or("a matrix without rows")?) {
                    let cell = sum.get_mut(w).and_then(|row: &mut Vec<i64>| row.get_mut(r));
                    *cell.ok_or(format!("a thread beyond {threads}"))? +=
                        n.as_i64().ok_or("an entry that is no integer")?;
                }
            }
        }
        Ok(sum)
    }

    /// `key` of the whole program from `writer` to `reader`.
    pub fn total(&self, key: &str, writer: usize, reader: usize) -> i64 {
        let program = [&self.0["program_total"]];
        self.matrix(&program, key, self.threads()).map_or(0, |m| m[writer][reader])
    }

    /// Sum of `raw` or `rar` over all pairs (line of the writer, line of the reader) in the file named `file`.
    pub fn between_lines(&self, key: &str, file: &str, writer: u64, reader: u64) -> i64 {
        let lines = self.regions().iter().filter_map(|r| r["lines"].as_array()).flatten();
        let wanted = |l: &&Value| is_at(&l["writer"], (file, writer)) && is_at(&l["reader"], (file, reader));
        lines.filter(wanted).filter_map(|l| l[key].as_i64()).sum()
    }

    /// Sum of `raw` or `rar` over the whole program's objects of a kind: those of this name, or members of it, and of
    /// this file and line.
    pub fn of_object(&self, key: &str, kind: &str, name: Option<&str>, at: Option<(&str, u64)>) -> i64 {
        let objects = self.0["program_total"]["objects"].as_array().into_iter().flatten();
        let wanted = |o: &&Value| {
            let own = text(&o["name"]);
            let variable = own.split(['.', '-']).next();
            let is_named = name.is_none() || variable == name || name == Some(own);
            o["kind"] == kind && is_named && at.is_none_or(|at| is_at(o, at))
        };
        objects.filter(wanted).filter_map(|o| o[key].as_i64()).sum()
    }

    /// All counts by region, for comparing two runs.
    pub fn counts(&self) -> Vec<(String, Vec<Value>)> {
        let one = |r: &Value| {
            let name = format!("{} {} {}:{}", text(&r["kind"]), text(&r["name"]), text(&r["file"]), r["line"]);
            let keys = ["threads", "raw", "rar", "sync_raw", "sync_rar", "serial_raw", "serial_rar"];
            (name, keys.map(|k| r[k].clone()).to_vec())
        };
        self.regions().iter().map(one).collect()
    }
}

/// C++ names are printed with their parameters: `work(int)` is `work` to a test.
fn named(region: &Value, name: &str) -> bool {
    region["name"].as_str().is_some_and(|n| n == name || n.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')))
}

/// Whether the file of this name, and the line, are what a place in the report says.
fn is_at(place: &Value, (file, line): (&str, u64)) -> bool {
    place["line"] == line && place["file"].as_str().is_some_and(|f| Path::new(f).ends_with(file))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}
