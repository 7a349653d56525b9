use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Options, Row};
use crate::machine::Machine;

/// The whole outcome; its JSON is this structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// `threadtalk.analysis/1`.
    pub schema: String,
    /// Where and what.
    pub machine: Machine,
    /// Threads of the profile.
    pub threads: u32,
    /// Its regions.
    pub regions: u32,
    /// Pairs of each region.
    pub pairs: u32,
    /// One for each format.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of `rows`.
    pub fn new(machine: Machine, options: &Options, rows: Vec<Row>) -> Table {
        let &Options { threads, regions, pairs, .. } = options;
        Table { schema: "threadtalk.analysis/1".into(), machine, threads, regions, pairs, rows }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "commit {}; {}; {}", self.machine.commit, self.machine.threadtalk, self.machine.cpu)?;
        let cells = u64::from(self.regions) * u64::from(self.pairs);
        writeln!(f, "{} threads, {} regions, {cells} cells that are not zero", self.threads, self.regions)?;
        writeln!(f, "{:<8}{:>10}{:>12}{:>14}{:>16}", "format", "CPU s", "peak MiB", "written MiB", "in browser ms")?;
        for row in &self.rows {
            let shown = row.shown_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0}"));
            let [peak, written] = [row.peak_bytes, row.written_bytes].map(|bytes| bytes as f64 / f64::from(1 << 20));
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
            format: format.into(),
            cpu_s: 0.25,
            peak_bytes: 300 << 20,
            written_bytes: 3 << 19,
            shown_ms,
        };
        let options = super::super::parse([]).unwrap().unwrap();
        let table = Table::new(Machine::unknown(), &options, vec![row("json", None), row("html", Some(900.4))]);
        let text = table.to_string();
        assert!(text.contains("64 threads, 1000 regions, 1000000 cells"), "{text}");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(words(lines[3]), ["json", "0.25", "300", "1.5", "-"]);
        assert_eq!(words(lines[4]), ["html", "0.25", "300", "1.5", "900"]);
        let back: Table = serde_json::from_str(&serde_json::to_string(&table).unwrap()).unwrap();
        assert_eq!(back.to_string(), text);
    }
}
