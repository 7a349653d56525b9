//! The summary for the terminal.

mod advice;
mod hints;
mod style;
mod table;

pub use advice::category;
pub use hints::hints;
pub use style::{Paint, Style};
pub use table::{Column, Table};

use crate::summary::{NONE, Summary};
use crate::{label, number, svg};
use std::fmt::Write;
use std::path::Path;
use threadtalk_crd::model::{Ended, Line, Measures, Phases, Program, Region, Report};
use threadtalk_profile::merge::{PART, RANKS, RUNS};

/// What the reader of any of our figures has to know.
pub const DEFINITION: &str =
    "a thread reads what another wrote: RaW = first read of the value, RaR = each further read (reuse)";
/// Pairs of lines in the summary.
const LINES: usize = 8;

/// How much, how coloured, and what comes next.
pub struct Shape {
    /// Regions at most.
    pub top: usize,
    /// Colours.
    pub style: Style,
    /// The next command, if there is one to name.
    pub next: Option<String>,
}

/// The whole summary.
pub fn report(report: &Report, file: &Path, shape: &Shape) -> String {
    let mut out = String::new();
    let paint = shape.style;
    for (name, value) in head(report, file) {
        let _ = writeln!(out, "{} {value}", paint.faint(&format!("{name:<14}")));
    }
    for hint in hints(report) {
        let _ = writeln!(out, "{} {hint}", paint.loud("note          "));
    }
    out.push('\n');
    out.push_str(&regions(report, shape));
    out.push_str(&lines(report, paint));
    out.push_str(&advice::objects(report, paint));
    out.push_str(&advice::suggestions(report, paint));
    if let Some(next) = &shape.next {
        let _ = writeln!(out, "\n{} {next}", paint.faint("pictures and page:"));
    }
    out
}

/// What ran and what was measured, as name and value.
pub fn head(report: &Report, file: &Path) -> Vec<(&'static str, String)> {
    let program = &report.program;
    let run = format!("{}  ({})", program.name, run(report));
    let mut head = vec![
        ("program", run),
        ("profile", file.display().to_string()),
        ("threads", threads(report)),
        ("communication", DEFINITION.to_string()),
        ("totals", totals(&report.program_total)),
        ("accuracy", accuracy(report)),
    ];
    if let Some(parts) = parts(program) {
        head.insert(2, ("merged", parts));
    }
    head.extend(report.phases.as_ref().map(|phases| ("phases", phase_line(phases))));
    if !report.caches.is_empty() {
        let caches = report.caches.iter().map(|c| format!("L{} {}", c.level, number::bytes(c.bytes as f64)));
        head.push(("caches", caches.collect::<Vec<_>>().join(", ")));
    }
    head
}

/// How the process ended and how long it took.
fn run(report: &Report) -> String {
    let program = &report.program;
    let mut run = format!("{}, {}", processes(program), ended(report));
    if let Some(duration) = program.duration_s {
        let _ = write!(run, " after {}", number::seconds(duration));
    }
    if let Some(cpu) = program.cpu_s {
        let _ = write!(run, ", CPU {}", number::seconds(cpu));
    }
    run
}

/// The process, or how many ranks or runs were merged.
fn processes(program: &Program) -> String {
    let merged = |key: &str| program.meta.get(key);
    match (merged(RANKS), merged(RUNS)) {
        (Some(ranks), _) => format!("{ranks} ranks"),
        (_, Some(runs)) => format!("{runs} runs added up"),
        _ => format!("process {}", program.pid),
    }
}

/// The files that were merged, in the order of their ranks.
fn parts(program: &Program) -> Option<String> {
    let part = |i: usize| program.meta.get(&format!("{PART}{i}"));
    let names: Vec<_> = (0..).map_while(part).map(String::as_str).collect();
    let of = if program.meta.contains_key(RANKS) { "r0" } else { "from" };
    match names[..] {
        [] => None,
        [first] => Some(format!("{of} {first}")),
        [first, last] => Some(format!("{of} {first}, {}{last}", if of == "r0" { "r1 " } else { "" })),
        [first, .., last] if of == "r0" => Some(format!("r0 {first} ... r{} {last}", names.len() - 1)),
        [first, .., last] => Some(format!("from {first} ... {last}")),
    }
}

/// The longest phases and their patterns.
fn phase_line(phases: &Phases) -> String {
    const NAMED: usize = 4;
    let patterns = phases.phases.iter().map(|p| p.pattern + 1).max().unwrap_or(0);
    let mut line = format!("{} with {patterns} patterns:", phases.phases.len());
    for phase in phases.phases.iter().take(NAMED) {
        let length = number::seconds(phase.to_s - phase.from_s);
        let _ =
            write!(line, " {} {length} (RaW {}),", svg::pattern_name(phase.pattern), number::count(phase.raw.sum()));
    }
    let more = phases.phases.len().saturating_sub(NAMED);
    let line = line.trim_end_matches(',').to_string();
    let line = if more > 0 { format!("{line} and {more} more") } else { line };
    if phases.coarse { line + "; slices got longer: raise phases_bytes" } else { line }
}

/// The sentences about the run and about the accuracy, for the page.
pub fn run_and_accuracy(report: &Report) -> (String, String) {
    (run(report), accuracy(report))
}

fn ended(report: &Report) -> String {
    match (report.ended, report.program.exit_status) {
        (Ended::Normally, _) => "ended normally".to_owned(),
        // Only who ends itself has a status.
        (Ended::Abnormally, Some(status)) => format!("ended by _exit or quick_exit, status {status}"),
        (Ended::Abnormally, None) => "ended abnormally: killed, aborted or still running".to_owned(),
        (Ended::Exec, _) => "replaced by exec".to_owned(),
    }
}

fn threads(report: &Report) -> String {
    let talking = report.program_total.counts.as_ref().map_or(0, |counts| {
        let pairs = counts.raw.entries().iter().chain(counts.rar.entries());
        pairs.flat_map(|entry| [entry.writer, entry.reader]).collect::<std::collections::BTreeSet<_>>().len()
    });
    format!("{}, of which {talking} communicate", report.threads.len())
}

/// Sums and measures of a region on one line.
fn totals(region: &Region) -> String {
    let Some(counts) = region.counts.as_deref() else { return "no communication at all".to_string() };
    let Summary { raw, rar, crr, sync, homogeneity, balance } = Summary::of(counts);
    format!(
        "RaW {raw}, RaR {rar}, RaR/RaW {crr}; {sync} of RaW is synchronisation; homogeneity {homogeneity}, \
         balance {balance}"
    )
}

fn accuracy(report: &Report) -> String {
    let (options, accuracy) = (&report.options, &report.accuracy);
    let mut text = match (options.mode, accuracy.occupied) {
        // It is noted at the end of a run, which this one did not come to.
        (mode, _) if accuracy.signature_mapped == 0 => format!("{mode} mode"),
        ("exact", _) => format!("exact mode, {} of cells", number::bytes(accuracy.signature_mapped as f64)),
        (mode, Some(occupied)) => format!(
            "{mode} mode, {} of {} used, {}",
            number::percent(occupied),
            number::bytes(options.signature_bytes as f64),
            certainty(accuracy.estimated_false_rate)
        ),
        (mode, None) => format!("{mode} mode, {}", certainty(accuracy.estimated_false_rate)),
    };
    let _ = write!(text, "; reuse distances {}", options.crd);
    if accuracy.dropped > 0 {
        let _ = write!(text, "; {} accesses not counted", number::count(accuracy.dropped));
    }
    text
}

fn certainty(rate: f64) -> String {
    if rate > 0.0 {
        format!("at most {} of the events may be false", number::percent(rate))
    } else {
        "every event is certain".to_string()
    }
}

fn regions(report: &Report, shape: &Shape) -> String {
    let paint = shape.style;
    let busiest = svg::busiest(report);
    if busiest.is_empty() {
        return "No region has communication of its own.\n".to_string();
    }
    let reuse = |region: &&Region| region.counts.as_ref().map_or(0, |counts| counts.rar.sum());
    let shown = shown(&busiest, shape.top, reuse);
    let levels = report.caches.iter().map(|c| format!("L{}", c.level)).collect::<Vec<_>>().join("/");
    let misses = format!("miss {levels}");
    let mut columns = vec![
        Column::right("RaW"),
        Column::right("RaR"),
        Column::right("RaR/RaW"),
        Column::right("sync"),
        Column::right("H"),
        Column::right("B"),
        Column::right("CRD p50"),
        Column::right("p90"),
    ];
    if !levels.is_empty() {
        columns.push(Column::right(&misses));
    }
    columns.extend([Column::left("region"), Column::left("where")]);
    let mut table = Table::new(columns);
    for region in &shown {
        let Some(counts) = region.counts.as_deref() else { continue };
        let Summary { raw, rar, crr, sync, homogeneity, balance } = Summary::of(counts);
        let crd = counts.own.crd.as_ref();
        let bytes = |value: Option<f64>| value.map_or(NONE.to_string(), number::bytes);
        let mut row = vec![
            raw,
            rar,
            crr,
            sync,
            homogeneity,
            balance,
            bytes(crd.and_then(|crd| crd.distinct.median_bytes)),
            bytes(crd.and_then(|crd| crd.distinct.p90_bytes)),
        ];
        if !levels.is_empty() {
            row.push(definite_misses(&counts.own));
        }
        row.extend([crate::fold::shorten(&label::name(region), 44), label::place(region)]);
        table.row(row);
    }
    let title = format!("Regions by communication (own events; {} of {} that communicate)", shown.len(), busiest.len());
    format!("{}\n{}", paint.strong(&title), table.render(paint))
}

/// The first `top` of what is in the order of true communication, and what has a tenth of all reuse: a flag that a
/// thread looks at until it changes is nearly nothing but reuse.
fn shown<T>(all: &[T], top: usize, reuse: impl Fn(&T) -> u64) -> Vec<&T> {
    let total: u64 = all.iter().map(&reuse).sum();
    let is_shown = |&(place, item): &(usize, &T)| place < top || total > 0 && reuse(item) as f64 >= 0.1 * total as f64;
    all.iter().enumerate().filter(is_shown).map(|(_, item)| item).collect()
}

/// Shares of reuse that certainly misses, one for each level: `12/3/0 %`.
fn definite_misses(measures: &Measures) -> String {
    match &measures.crd {
        Some(crd) if !crd.cutoffs.is_empty() => {
            let shares =
                crd.cutoffs.iter().map(|cutoff| number::quantity((cutoff.definite_miss * 1000.0).round() / 10.0));
            format!("{} %", shares.collect::<Vec<_>>().join("/"))
        }
        _ => "-".to_string(),
    }
}

fn lines(report: &Report, paint: Style) -> String {
    let lines: Vec<&Line> = report.program_total.counts.iter().flat_map(|counts| &counts.lines).collect();
    let mut table = Table::new(vec![
        Column::right("RaW"),
        Column::right("RaR"),
        Column::left("written at"),
        Column::left("read at"),
    ]);
    for line in shown(&lines, LINES, |line| line.rar) {
        table.row(vec![
            number::count(line.raw),
            number::count(line.rar),
            label::position(&line.writer),
            label::position(&line.reader),
        ]);
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{}\n{}", paint.strong("Lines that talk to each other (whole program)"), table.render(paint))
}

/// Ten lines at most: what ran, what it said, the busiest regions, the next command.
pub fn brief(report: &Report, file: &Path, shape: &Shape) -> String {
    let paint = shape.style;
    let mut lines = Vec::new();
    for (name, value) in head(report, file) {
        // The definition stands in the full report, and the caches matter there.
        if !matches!(name, "communication" | "caches" | "phases") {
            lines.push(format!("{} {value}", paint.faint(&format!("threadtalk: {name:<9}"))));
        }
    }
    for hint in hints(report).into_iter().take(2) {
        lines.push(format!("{} {hint}", paint.loud("threadtalk: note     ")));
    }
    let room = 9usize.saturating_sub(lines.len()).min(shape.top);
    for region in svg::busiest(report).into_iter().take(room) {
        let totals = region.counts.as_deref().map_or((0, 0), |counts| (counts.raw.sum(), counts.rar.sum()));
        let what = label::located(region);
        let (raw, rar) = (number::count(totals.0), number::count(totals.1));
        lines.push(format!("{} RaW {raw:>6}  RaR {rar:>6}  {}", paint.faint("threadtalk: region   "), what));
    }
    lines.extend(shape.next.as_ref().map(|next| format!("{} {next}", paint.faint("threadtalk: next     "))));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_nearly_nothing_but_reuse_is_shown_behind_the_first_ones() {
        let all = [("first", 5), ("second", 0), ("third", 9), ("flag", 80), ("rest", 6)];
        let names = |top| shown(&all, top, |(_, reuse)| *reuse).iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(2), ["first", "second", "flag"]);
        assert_eq!(names(0), ["flag"]);
        assert_eq!(names(9).len(), 5);
        assert_eq!(shown(&[0, 0, 0], 1, |reuse| *reuse).len(), 1, "no reuse at all");
    }
}
