//! The mapping for the terminal.

use crate::number;
use crate::text::{Column, Paint, Style, Table};
use std::fmt::Write;
use std::path::Path;
use threadtalk_crd::placement::{Events, Mapping, PlacedThread, Strategies};

/// Threads that are listed one by one, with names and events; of more, only the processors are shown.
const LISTED: usize = 64;
/// Processors of a line.
const IN_LINE: usize = 16;
/// Lines of processors that are shown; all are in JSON.
const LINES: usize = 64;
/// Longest line of what a shell is told.
const WIDTH: usize = 100;

/// The whole mapping. `plan`: where it was written to as JSON.
pub fn text(mapping: &Mapping, file: &Path, plan: Option<&Path>, paint: Style) -> String {
    let mut out = String::new();
    let threads = mapping.threads.len();
    let _ = writeln!(
        out,
        "{} {}  ({}, {})",
        paint.faint("program  "),
        mapping.program,
        counted(threads, "thread"),
        file.display()
    );
    let _ = writeln!(out, "{} {}: {}", paint.faint("machine  "), mapping.topology, machine(mapping));
    let _ = writeln!(out, "{} RaW + RaR of each pair of threads, both directions", paint.faint("weight   "));
    for note in notes(mapping) {
        let _ = writeln!(out, "{} {note}", paint.loud("note     "));
    }
    out += &costs(mapping, paint);
    out += &places(mapping, paint);
    if !mapping.bind.is_empty() {
        out += &launch(mapping, plan, paint);
    }
    out
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn machine(mapping: &Mapping) -> String {
    let levels = mapping.levels.iter().map(|level| format!("{} (distance {})", counted_kind(level), level.distance));
    let levels: Vec<String> = levels.collect();
    if levels.is_empty() { "1 processor".to_string() } else { levels.join(", ") }
}

fn counted_kind(level: &threadtalk_crd::placement::TopologyLevel) -> String {
    let kind = level.kind.to_string();
    match kind.starts_with('L') {
        true => format!("{} {kind} caches", level.groups),
        false => counted(level.groups, &kind),
    }
}

fn notes(mapping: &Mapping) -> Vec<String> {
    let mut notes = Vec::new();
    if mapping.concurrent < mapping.threads.len() {
        notes.push(format!(
            "{} of {} threads at the same time; those that follow each other share a processor",
            mapping.concurrent,
            mapping.threads.len()
        ));
    }
    if mapping.oversubscribed {
        notes.push(format!("more threads than processors ({}); they share them evenly", mapping.processors.len()));
    }
    if mapping.threads.iter().all(|thread| thread.events == 0) {
        notes.push("no thread reads what another wrote: where they run does not matter".to_string());
    }
    notes
}

fn costs(mapping: &Mapping, paint: Style) -> String {
    let columns = ["in order", "scatter", "mapped"].map(Column::right);
    let mut table = Table::new([Column::left("")].into_iter().chain(columns).collect());
    let row = |title: String, values: &Strategies<u64>| {
        [title].into_iter().chain([values.in_order, values.scatter, values.mapped].map(number::count)).collect()
    };
    table.row(row("cost".to_string(), &mapping.cost));
    for events in
        mapping.events.iter().filter(|events| events.count != Strategies { in_order: 0, scatter: 0, mapped: 0 })
    {
        table.row(row(format!("events {}", between(events)), &events.count));
    }
    let title = format!(
        "Cost (events x distance): {} against threads in order, {} against scattered ones",
        change(mapping.cost.in_order, mapping.cost.mapped),
        change(mapping.cost.scatter, mapping.cost.mapped)
    );
    format!("\n{}\n{}", paint.strong(&title), table.render(paint))
}

fn between(events: &Events) -> String {
    match events.between.map(|kind| kind.to_string()) {
        None => "on one processor".to_string(),
        Some(kind) if kind == "thread" => "between hardware threads of a core".to_string(),
        Some(kind) if kind.starts_with('L') => format!("between {kind} caches"),
        Some(kind) => format!("between {kind}s"),
    }
}

fn change(before: u64, after: u64) -> String {
    match (before, after) {
        (b, a) if a == b => "the same".to_string(),
        (0, _) => "more".to_string(),
        (b, a) if a < b => format!("{} less", number::percent(1.0 - a as f64 / b as f64)),
        (b, a) => format!("{} more", number::percent(a as f64 / b as f64 - 1.0)),
    }
}

fn places(mapping: &Mapping, paint: Style) -> String {
    if mapping.threads.len() > LISTED {
        return processors(mapping, paint);
    }
    let mut table =
        Table::new(vec![Column::right("thread"), Column::right("cpu"), Column::right("events"), Column::left("name")]);
    for thread in &mapping.threads {
        let numbers = [thread.id.to_string(), thread.cpu.to_string(), number::count(thread.events)];
        table.row(numbers.into_iter().chain([thread.name.clone()]).collect());
    }
    format!("\n{}\n{}", paint.strong("Placement"), table.render(paint))
}

/// The processors of many threads, in lines of threads whose numbers follow each other.
fn processors(mapping: &Mapping, paint: Style) -> String {
    let cpu_digits = mapping.threads.iter().map(|thread| digits(thread.cpu)).max().unwrap_or(1);
    let id_digits = mapping.threads.iter().map(|thread| digits(thread.id)).max().unwrap_or(1);
    let runs = mapping.threads.chunk_by(|a, b| a.id.checked_add(1) == Some(b.id));
    let lines: Vec<&[PlacedThread]> = runs.flat_map(|run| run.chunks(IN_LINE)).collect();
    let mut out = format!("\n{}\n", paint.strong("Placement: the processors of threads"));
    for line in lines.iter().take(LINES) {
        let (first, last) = (line[0].id, line[line.len() - 1].id);
        let cpus: Vec<String> = line.iter().map(|thread| format!("{:>cpu_digits$}", thread.cpu)).collect();
        let threads = paint.faint(&format!("{first:>id_digits$} to {last:<id_digits$}"));
        let _ = writeln!(out, "  {threads}  {}", cpus.join(" "));
    }
    let more: usize = lines.iter().skip(LINES).map(|line| line.len()).sum();
    if more > 0 {
        let _ = writeln!(out, "  {more} more (--format json lists all)");
    }
    out
}

fn digits(number: u32) -> usize {
    number.to_string().len()
}

fn launch(mapping: &Mapping, plan: Option<&Path>, paint: Style) -> String {
    let launch = &mapping.launch;
    let mut out = format!("\n{}\n", paint.strong("To start the program so"));
    let openmp = format!("OMP_PLACES='{}' OMP_PROC_BIND={} PROG", launch.omp_places, launch.omp_proc_bind);
    let gomp = format!("GOMP_CPU_AFFINITY='{}' PROG", launch.gomp_cpu_affinity);
    let bind = match plan {
        Some(plan) => format!("threadtalk run --bind {} -- PROG", plan.display()),
        None => format!("threadtalk run --bind {} -- PROG", launch.bind),
    };
    for (title, line) in [
        ("OpenMP", openmp),
        ("libgomp, libomp", gomp),
        ("any, instrumented", bind),
        ("processors only", format!("taskset -c {} PROG", launch.taskset)),
    ] {
        if line.len() <= WIDTH {
            let _ = writeln!(out, "  {} {line}", paint.faint(&format!("{title:<18}")));
        } else {
            let _ = writeln!(out, "  {}\n{}", paint.faint(title), folded(&line));
        }
    }
    out
}

/// A command on several lines that a shell reads as one: they begin at the margin, since blanks would end a word, and a
/// quoted word is closed and opened again around the line's end.
fn folded(line: &str) -> String {
    let (mut out, mut length, mut quoted) = (String::new(), 0, false);
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        out.push(next);
        length += 1;
        quoted ^= next == '\'';
        if length >= WIDTH && matches!(next, ',' | ' ') && rest.peek().is_some() {
            out += if quoted { "'\\\n'" } else { "\\\n" };
            length = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_folded_lines_as_one() {
        let cpus: Vec<String> = (0..300).map(|cpu| cpu.to_string()).collect();
        let (commas, blanks) = (cpus.join(","), cpus.join(" "));
        for line in [format!("A='{commas}' B='{blanks}' echo one two"), format!("echo --bind {commas} -- PROG")] {
            let text = folded(&line);
            assert!(text.lines().all(|line| line.len() < WIDTH + 12), "{text}");
            let shown = |text: &str| {
                let script = text.replace("echo one", "env; echo one");
                String::from_utf8(Command::new("sh").arg("-c").arg(script).output().unwrap().stdout).unwrap()
            };
            assert_eq!(shown(&text), shown(&line));
        }
    }
}
