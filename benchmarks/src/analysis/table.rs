use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Row, Size};
use crate::machine::Machine;

/// The whole outcome; its JSON is this structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// `threadtalk.analysis/2`.
    pub schema: String,
    /// Where and what.
    pub machine: Machine,
    /// One for each profile and format.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of `rows`.
    pub fn new(machine: Machine, rows: Vec<Row>) -> Table {
        Table { schema: "threadtalk.analysis/2".into(), machine, rows }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "commit {}; {}; {}", self.machine.commit, self.machine.threadtalk, self.machine.cpu)?;
        write!(f, "{:>8}{:>9}{:>10}  ", "threads", "regions", "cells")?;
        writeln!(f, "{:<8}{:>10}{:>12}{:>14}{:>16}", "format", "CPU s", "peak MiB", "written MiB", "in browser ms")?;
        for row in &self.rows {
            let Size { threads, regions, pairs } = row.profile;
            let cells = u64::from(regions) * u64::from(pairs);
            let shown = row.shown_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0}"));
            let [peak, written] = [row.peak_bytes, row.written_bytes].map(|bytes| bytes as f64 / f64::from(1 << 20));
            write!(f, "{threads:>8}{regions:>9}{cells:>10}  ")?;
            writeln!(f, "{:<8}{:>10.2}{peak:>12.0}{written:>14.1}{shown:>16}", row.format, row.cpu_s)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_have_a_time_in_the_browser() {
        let row = |format: &str, shown_ms| Row {
            profile: Size { threads: 64, regions: 1000, pairs: 1000 },
            format: format.into(),
            cpu_s: 0.25,
            peak_bytes: 300 << 20,
            written_bytes: 3 << 19,
            shown_ms,
        };
        let table = Table::new(Machine::unknown(), vec![row("json", None), row("html", Some(900.4))]);
        let text = table.to_string();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(words(lines[2]), ["64", "1000", "1000000", "json", "0.25", "300", "1.5", "-"]);
        assert_eq!(words(lines[3]), ["64", "1000", "1000000", "html", "0.25", "300", "1.5", "900"]);
        let back: Table = serde_json::from_str(&serde_json::to_string(&table).unwrap()).unwrap();
        assert_eq!(back.to_string(), text);
    }
}
