use std::fmt;

use serde::{Deserialize, Serialize};

use super::Row;
use crate::machine::Machine;

/// The whole outcome; its JSON is this structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// `threadtalk.accuracy/1`.
    pub schema: String,
    /// Where and what.
    pub machine: Machine,
    /// Number of threads.
    pub threads: u32,
    /// One for each kernel and budget.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of `rows`.
    pub fn new(machine: Machine, threads: u32, rows: Vec<Row>) -> Table {
        Table { schema: "threadtalk.accuracy/1".into(), machine, threads, rows }
    }

    /// Rows whose error is larger than the report allowed for.
    pub fn uncovered(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.covered())
    }
}

fn percent(share: f64) -> String {
    let digits = if share < 1.0 { 3 } else { 0 };
    format!("{:.digits$}%", 100.0 * share)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "commit {}; {}; {} threads", self.machine.commit, self.machine.threadtalk, self.threads)?;
        writeln!(f, "differences from the exact profile; \"noise\": between exact runs, \"sure\": where they agree")?;
        write!(f, "{:<27}{:>8}{:>14}{:>9}", "kernel", "budget", "events", "entries")?;
        for name in [
            "made up",
            "missing",
            "sure",
            "estimate",
            "noise",
            "entry",
            "H",
            "B",
            "CRD worst",
            "CRD median",
            "rank worst",
            "median",
            "index worst",
        ] {
            write!(f, "{name:>12}")?;
        }
        writeln!(f, "{:>8}{:>10}", "region", "beyond")?;
        for row in &self.rows {
            let error = &row.error;
            write!(f, "{:<27}{:>8}{:>14}{:>9}", row.kernel, row.budget, error.events, error.entries)?;
            let [entry, h, b] = [error.worst_entry, error.homogeneity, error.balance];
            let noise = row.noise.wrong();
            let [worst, median] = [error.worst_quantile, error.median_quantile];
            let ranks = [error.worst_rank, error.median_rank, error.worst_index_rank];
            let shares =
                [error.made_up, error.missing, row.determined, row.estimate, noise, entry, h, b, worst, median];
            for share in shares.into_iter().chain(ranks) {
                write!(f, "{:>12}", percent(share))?;
            }
            let beyond = format!("{} of {}", error.ranks_beyond, error.ranks);
            writeln!(f, "{:>8}{beyond:>10}", error.worst_rank_region)?;
        }
        for row in self.uncovered() {
            writeln!(f, "not covered by the estimate: {} with {}", row.kernel, row.budget)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::Difference;

    #[test]
    fn what_the_estimate_does_not_cover_is_named() {
        let row = |kernel: &str, made_up| Row {
            kernel: kernel.into(),
            budget: "1M".into(),
            estimate: 0.1,
            error: Difference { made_up, events: 7, entries: 2, ..Difference::default() },
            determined: made_up,
            noise: Difference::default(),
        };
        let text = Table::new(Machine::unknown(), 4, vec![row("lu", 0.05), row("cg", 0.25)]).to_string();
        assert!(text.ends_with("\nnot covered by the estimate: cg with 1M\n"), "{text}");
        let line = text.lines().find(|line| line.starts_with("cg ")).unwrap();
        assert_eq!(
            line.split_whitespace().take(7).collect::<Vec<_>>(),
            ["cg", "1M", "7", "2", "25.000%", "0.000%", "25.000%"]
        );
    }
}
