use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Outcome, Row};
use crate::build::Tool;
use crate::machine::Machine;

/// The whole outcome; its JSON is this structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// `threadtalk.compile-time/1`.
    pub schema: String,
    /// Where and what.
    pub machine: Machine,
    /// The limit of each compiler in seconds.
    pub timeout_s: u64,
    /// One for each file.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of `rows`.
    pub fn new(machine: Machine, timeout_s: u64, rows: Vec<Row>) -> Table {
        Table { schema: "threadtalk.compile-time/1".into(), machine, timeout_s, rows }
    }
}

const COLUMNS: [(Tool, &str); 3] = [(Tool::Native, "-O2"), (Tool::Tsan, "tsan"), (Tool::Threadtalk, "threadtalk")];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "commit {}; {}; {}", self.machine.commit, self.machine.threadtalk, self.machine.clang)?;
        writeln!(
            f,
            "CPU seconds of compiling (multiple of -O2; the last column: threadtalk's as one of tsan's), peak memory in MiB, code in KiB"
        )?;
        write!(f, "{:<22}", "file")?;
        for (_, name) in COLUMNS {
            write!(f, "{name:>17}{:>7}{:>8}", "MiB", "KiB")?;
        }
        writeln!(f, "{:>9}", "/ tsan")?;
        for row in &self.rows {
            write!(f, "{:<22}", row.file)?;
            for (tool, _) in COLUMNS {
                match row.tools.get(&tool) {
                    Some(Some(Outcome { cpu_s, peak_bytes, text_bytes })) => {
                        let ratio = row.ratio(tool).map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}x"));
                        let time = format!("{cpu_s:.2} ({ratio})");
                        write!(f, "{time:>17}{:>7}{:>8}", peak_bytes >> 20, text_bytes >> 10)?;
                    }
                    Some(None) => write!(f, "{:>17}{:>7}{:>8}", format!("not within {} s", self.timeout_s), "-", "-")?,
                    None => write!(f, "{:>17}{:>7}{:>8}", "-", "-", "-")?,
                }
            }
            let compared = row.compared(Tool::Threadtalk, Tool::Tsan).map(|ratio| format!("{ratio:.2}x"));
            writeln!(f, "{:>9}", compared.as_deref().unwrap_or("-"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn who_was_killed_is_told_from_who_ended() {
        let outcome = |cpu_s| Some(Outcome { cpu_s, peak_bytes: 96 << 20, text_bytes: 5 << 10 });
        let tools =
            BTreeMap::from([(Tool::Native, outcome(2.0)), (Tool::Tsan, outcome(3.0)), (Tool::Threadtalk, None)]);
        let table = Table::new(Machine::unknown(), 30, vec![Row { file: "20 accesses".into(), tools }]);
        let text = table.to_string();
        let row = text.lines().last().unwrap();
        let words: Vec<_> = row.split_whitespace().collect();
        assert_eq!(words[2..8], ["2.00", "(1.00x)", "96", "5", "3.00", "(1.50x)"]);
        assert!(row.contains("not within 30 s"), "{row}");
        assert_eq!(words.last(), Some(&"-"));
        let both = BTreeMap::from([(Tool::Tsan, outcome(3.0)), (Tool::Threadtalk, outcome(1.5))]);
        let compared = Table::new(Machine::unknown(), 30, vec![Row { file: "f".into(), tools: both }]).to_string();
        assert!(compared.lines().last().unwrap().ends_with(" 0.50x"), "{compared}");
        let back: Table = serde_json::from_str(&serde_json::to_string(&table).unwrap()).unwrap();
        assert_eq!(back.to_string(), text);
    }
}
