use std::fmt;

use serde::{Deserialize, Serialize};

use super::Row;
use crate::build::Tool;
use crate::machine::Machine;
use crate::statistics::{Summary, geometric_mean};

/// The whole outcome; its JSON is this structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// `threadtalk.overhead/1`.
    pub schema: String,
    /// Where and what.
    pub machine: Machine,
    /// `THREADTALK_OPTIONS` and `THREADTALK_PASS_OPTIONS` of the runs.
    pub options: [String; 2],
    /// How rounds were summed up.
    pub summary: Summary,
    /// One for each kernel and number of threads.
    pub rows: Vec<Row>,
}

const PROFILED: [Tool; 8] = [
    Tool::Threadtalk,
    Tool::Before,
    Tool::Memory,
    Tool::Control,
    Tool::Effective,
    Tool::Tsan,
    Tool::Helgrind,
    Tool::Drd,
];

/// What costs more than this multiple of what it cost before is named.
const SLOWER: f64 = 1.1;

/// Tools whose memory and compile time have columns; JSON has those of all.
const WITH_MEMORY: [Tool; 2] = [Tool::Threadtalk, Tool::Tsan];

/// What the geometric mean over real programs is to stay below. Harmony (Kambadur et al., IISWC 2012), whose counts
/// `control` takes, costs 1.16 by threads that there are and 1.21 by those that do not wait.
const TARGETS: [(Tool, f64); 3] = [(Tool::Memory, 2.2), (Tool::Control, 1.10), (Tool::Effective, 1.15)];

impl Table {
    /// The table of `rows`; the option variables are taken from this process, whose children inherited them.
    pub fn new(machine: Machine, summary: Summary, rows: Vec<Row>) -> Table {
        let options =
            ["THREADTALK_OPTIONS", "THREADTALK_PASS_OPTIONS"].map(|name| std::env::var(name).unwrap_or_default());
        Table { schema: "threadtalk.overhead/1".into(), machine, options, summary, rows }
    }

    /// Geometric mean of the CPU ratios of one tool over the rows of one input size and number of threads.
    pub fn mean(&self, tool: Tool, threads: u32, small: bool) -> Option<f64> {
        let group = self.rows.iter().filter(|row| row.threads == threads && row.small == small);
        geometric_mean(&group.filter_map(|row| row.cpu_ratio(tool, self.summary)).collect::<Vec<_>>())
    }

    /// Kernels on which threadtalk cost more than `times` what the other tool did, with the number of threads.
    pub fn above(&self, other: Tool, times: f64) -> Vec<(&str, u32)> {
        let above = |row: &&Row| {
            let ratio = |tool| row.cpu_ratio(tool, self.summary);
            ratio(Tool::Threadtalk).zip(ratio(other)).is_some_and(|(threadtalk, other)| threadtalk > times * other)
        };
        self.rows.iter().filter(above).map(|row| (row.kernel.as_str(), row.threads)).collect()
    }

    fn groups(&self) -> Vec<(u32, bool)> {
        let mut groups = Vec::new();
        for row in &self.rows {
            if !groups.contains(&(row.threads, row.small)) {
                groups.push((row.threads, row.small));
            }
        }
        groups
    }

    fn write_group(&self, f: &mut fmt::Formatter<'_>, threads: u32, small: bool) -> fmt::Result {
        let rows: Vec<_> = self.rows.iter().filter(|row| row.threads == threads && row.small == small).collect();
        let has = |tool: &Tool| rows.iter().any(|row| row.tools.contains_key(tool));
        let tools: Vec<Tool> = PROFILED.into_iter().filter(has).collect();
        writeln!(f, "\n{threads} threads{}", if small { ", small inputs" } else { "" })?;
        write!(f, "{:<27}{:>10}", "kernel", "native s")?;
        for tool in &tools {
            write!(f, "{:>12}", tool.name())?;
        }
        for tool in tools.iter().filter(|tool| WITH_MEMORY.contains(tool)) {
            write!(f, "{:>12}", format!("mem {}", short(*tool)))?;
            write!(f, "{:>12}", format!("build {}", short(*tool)))?;
        }
        writeln!(f)?;
        for row in &rows {
            let native = row.tools.get(&Tool::Native).and_then(|m| self.summary.of(&m.cpu_s));
            write!(f, "{:<27}{:>10}", row.kernel, cell(native, 3, ""))?;
            for &tool in &tools {
                write!(f, "{:>12}", cell(row.cpu_ratio(tool, self.summary), 2, "x"))?;
            }
            for &tool in tools.iter().filter(|tool| WITH_MEMORY.contains(tool)) {
                write!(f, "{:>12}", cell(row.memory_ratio(tool), 2, "x"))?;
                write!(f, "{:>12}", cell(row.compile_ratio(tool, self.summary), 2, "x"))?;
            }
            writeln!(f)?;
        }
        write!(f, "{:<27}{:>10}", "geometric mean", "")?;
        for &tool in &tools {
            write!(f, "{:>12}", cell(self.mean(tool, threads, small), 2, "x"))?;
        }
        writeln!(f)?;
        let targets: Vec<_> = tools.iter().map(|tool| TARGETS.iter().find(|(of, _)| of == tool)).collect();
        if targets.iter().all(Option::is_none) {
            return Ok(());
        }
        write!(f, "{:<27}{:>10}", "target", "")?;
        for target in targets {
            write!(f, "{:>12}", target.map_or_else(String::new, |(_, most)| cell(Some(*most), 2, "x")))?;
        }
        writeln!(f)
    }
}

fn short(tool: Tool) -> &'static str {
    if tool == Tool::Threadtalk { "tt" } else { tool.name() }
}

fn cell(value: Option<f64>, digits: usize, unit: &str) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}{unit}"))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = &self.machine;
        writeln!(
            f,
            "{}, {} cores, Linux {}, huge pages: {}",
            machine.cpu, machine.cores, machine.kernel, machine.huge_pages
        )?;
        writeln!(f, "commit {}; {}; {}; {}", machine.commit, machine.threadtalk, machine.clang, machine.valgrind)?;
        for (name, value) in ["THREADTALK_OPTIONS", "THREADTALK_PASS_OPTIONS"].iter().zip(&self.options) {
            if !value.is_empty() {
                writeln!(f, "{name}={value}")?;
            }
        }
        let summary = if self.summary == Summary::Minimum { "minimum" } else { "median" };
        let rounds = self.rows.iter().flat_map(|row| row.tools.values()).map(|m| m.cpu_s.len()).max().unwrap_or(0);
        writeln!(
            f,
            "CPU time (user + system) as a multiple of the native build's, {summary} of {rounds} interleaved runs"
        )?;
        for (threads, small) in self.groups() {
            self.write_group(f, threads, small)?;
        }
        for (what, other, times) in
            [("above ThreadSanitizer", Tool::Tsan, 1.0), ("slower than before", Tool::Before, SLOWER)]
        {
            let above = self.above(other, times);
            let names: Vec<_> = above.iter().map(|(kernel, threads)| format!("{kernel} ({threads} threads)")).collect();
            if !names.is_empty() {
                writeln!(f, "\n{what}: {}", names.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::Measurement;
    use std::collections::BTreeMap;

    fn row(kernel: &str, threads: u32, cpu: [f64; 3]) -> Row {
        let tools = [Tool::Native, Tool::Threadtalk, Tool::Tsan];
        let measurement = |cpu| Measurement { cpu_s: vec![cpu], wall_s: vec![cpu], peak_bytes: 1 << 20 };
        let tools = tools.into_iter().zip(cpu.map(measurement)).collect();
        Row { kernel: kernel.into(), threads, small: false, compile_s: BTreeMap::new(), tools }
    }

    fn table() -> Table {
        let text = || "x".to_owned();
        let machine = Machine {
            cpu: text(),
            cores: 2,
            kernel: text(),
            huge_pages: text(),
            commit: text(),
            clang: text(),
            threadtalk: text(),
            valgrind: text(),
        };
        let rows = vec![row("lu", 2, [1.0, 2.0, 5.0]), row("cg", 2, [0.5, 4.0, 3.5]), row("lu", 4, [1.0, 3.0, 5.0])];
        Table::new(machine, Summary::Minimum, rows)
    }

    #[test]
    fn means_are_geometric_and_within_one_number_of_threads() {
        assert!((table().mean(Tool::Threadtalk, 2, false).unwrap() - 4.0).abs() < 1e-12);
        assert!((table().mean(Tool::Threadtalk, 4, false).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(table().mean(Tool::Drd, 2, false), None);
    }

    #[test]
    fn what_costs_more_than_the_sanitizer_is_named() {
        assert_eq!(table().above(Tool::Tsan, 1.0), [("cg", 2)]);
        assert!(table().to_string().ends_with("\nabove ThreadSanitizer: cg (2 threads)\n"));
    }

    #[test]
    fn what_became_slower_is_named() {
        let mut table = table();
        for (row, before) in table.rows.iter_mut().zip([1.9, 3.5, 3.1]) {
            row.tools.insert(Tool::Before, Measurement { cpu_s: vec![before], ..Measurement::default() });
        }
        assert!(table.to_string().ends_with("\nslower than before: cg (2 threads)\n"));
    }

    #[test]
    fn the_text_has_a_part_for_each_number_of_threads() {
        let text = table().to_string();
        assert_eq!(text.lines().filter(|line| line.ends_with(" threads")).count(), 2);
        let lu = text.lines().find(|line| line.starts_with("lu ")).unwrap();
        assert_eq!(lu.split_whitespace().take(4).collect::<Vec<_>>(), ["lu", "1.000", "2.00x", "5.00x"]);
    }

    #[test]
    fn parts_have_columns_and_targets() {
        let mut table = table();
        let mut add = |tool, cpu_s: f64| {
            table.rows[2].tools.insert(tool, Measurement { cpu_s: vec![cpu_s], ..Measurement::default() })
        };
        for (tool, cpu_s) in [(Tool::Memory, 2.5), (Tool::Control, 1.05), (Tool::Effective, 1.07)] {
            add(tool, cpu_s);
        }
        let text = table.to_string();
        let last = |start: &str| {
            let line = text.lines().rfind(|line| line.starts_with(start)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(last("kernel")[3..8], ["threadtalk", "memory", "control", "effective", "tsan"]);
        assert_eq!(last("lu")[2..7], ["3.00x", "2.50x", "1.05x", "1.07x", "5.00x"]);
        assert_eq!(last("target"), ["target", "2.20x", "1.10x", "1.15x"]);
    }

    #[test]
    fn json_can_be_read_back() {
        let json = serde_json::to_string(&table()).unwrap();
        let back: Table = serde_json::from_str(&json).unwrap();
        assert_eq!(back.rows[1].tools[&Tool::Tsan].cpu_s, [3.5]);
    }
}
