use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ALL, Figures, Outcome};
use crate::machine::Machine;
use crate::report::Promised;

/// The whole outcome; its JSON is this structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// `threadtalk.evaluation/1`.
    pub schema: String,
    /// Where and what.
    pub machine: Machine,
    /// Threads of the profiled runs.
    pub threads: u32,
    /// Threads of the timed runs.
    pub timed_threads: u32,
    /// One for each pair.
    pub outcomes: Vec<Outcome>,
}

impl Table {
    /// The table of `outcomes`.
    pub fn new(machine: Machine, threads: u32, timed_threads: u32, outcomes: Vec<Outcome>) -> Table {
        Table { schema: "threadtalk.evaluation/1".into(), machine, threads, timed_threads, outcomes }
    }
}

/// A number with at most four digits that count and a unit of thousands.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 999.5e6 => (v / 1e9, "G"),
        v if v >= 999.5e3 => (v / 1e6, "M"),
        v if v >= 9999.5 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let digits = if value >= 100.0 || value == value.trunc() { 0 } else { 2 };
    format!("{value:.digits$}{unit}")
}

fn bytes(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| if v >= 1024.0 { format!("{:.1} KiB", v / 1024.0) } else { format!("{v:.0} B") })
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, v: &Figures, speed_up: &str) -> fmt::Result {
    let [raw, rar, misses] = [v.raw as f64, v.rar as f64, v.misses()].map(short);
    let [median, p90] = [v.crd_median, v.crd_p90].map(bytes);
    let [h, b] = [v.homogeneity, v.balance].map(short);
    let seconds = format!("{:.3} s", v.seconds);
    write!(f, "{name:<24}{raw:>9}{rar:>9}{median:>12}{p90:>12}{misses:>11}{h:>9}{b:>7}{seconds:>11}{speed_up:>10}")?;
    writeln!(f)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = &self.machine;
        writeln!(f, "commit {}; {}; {}", machine.commit, machine.threadtalk, machine.cpu)?;
        writeln!(f, "profiled with {} threads, timed with {}", self.threads, self.timed_threads)?;
        write!(f, "{:<24}{:>9}{:>9}{:>12}{:>12}", "region", "RaW", "RaR", "CRD p50", "CRD p90")?;
        writeln!(f, "{:>11}{:>9}{:>7}{:>11}{:>10}", "beyond L1", "H", "B %", "time", "speed-up")?;
        for outcome in &self.outcomes {
            writeln!(f)?;
            let before = &outcome.before;
            row(f, &format!("{} {}", outcome.pair, before.region), before, "")?;
            if let Some(after) = &outcome.after {
                let gain = format!("{:+.0} %", 100.0 * (before.seconds / after.seconds - 1.0));
                row(f, "  after", after, &gain)?;
            }
            let pair = ALL.iter().find(|pair| pair.name == outcome.pair);
            if let Some(published) = pair.map(|pair| pair.published) {
                write!(f, "  the paper: {}: {}", published.name, published.optimisation)?;
                let figures = |v: [f64; 3]| format!("CRD {}, H {}, B {}", v[0], v[1], v[2]);
                if let Some(before) = published.before {
                    write!(f, "; {}", figures(before))?;
                }
                if let Some(after) = published.after {
                    write!(f, " to {}", figures(after))?;
                }
                if let Some(percent) = published.speed_up {
                    write!(f, "; +{percent} %")?;
                }
                writeln!(f)?;
            }
            for suggestion in &outcome.suggestions {
                writeln!(f, "  suggested: {suggestion}")?;
            }
            for Promised { rule, name, lowers, base, new, kept } in &outcome.promises {
                let word = if *kept { "lower" } else { "not lower" };
                writeln!(f, "  promised: {rule}: {lowers} of {name} {} to {}: {word}", short(*base), short(*new))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_row_and_the_suggestions_stand_below_the_figures() {
        let figures = |rar, seconds| Figures {
            region: "derivatives".into(),
            raw: 1234,
            rar,
            crd_median: Some(2048.0),
            beyond_l1: 0.25,
            homogeneity: 1124.0,
            seconds,
            ..Figures::default()
        };
        let outcome = Outcome {
            pair: "srad".into(),
            before: figures(40_000_000, 0.3),
            after: Some(figures(400, 0.2)),
            suggestions: vec!["loop-order: swap the loops".into()],
            promises: vec![Promised {
                rule: "loop-order".into(),
                name: "derivatives".into(),
                lowers: "rar".into(),
                base: 40_000_000.0,
                new: 400.0,
                kept: true,
            }],
        };
        let text = Table::new(Machine::unknown(), 4, 2, vec![outcome]).to_string();
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        let before = ["srad", "derivatives", "1234", "40M", "2.0", "KiB", "-", "10M", "1124", "0", "0.300", "s"];
        assert_eq!(lines[4], before);
        assert_eq!(lines[5][1..6], ["1234", "400", "2.0", "KiB", "-"]);
        assert_eq!(lines[5][lines[5].len() - 2..], ["+50", "%"]);
        assert!(
            text.contains("SRAD (Table 2): loop reordering, thread mapping; CRD 13, H 1124, B 153 to CRD 4, H 981")
        );
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(last[1], "  suggested: loop-order: swap the loops");
        assert_eq!(last[0], "  promised: loop-order: rar of derivatives 40M to 400: lower");
    }
}
