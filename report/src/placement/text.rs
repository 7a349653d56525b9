//! The mapping for the terminal.

use crate::number;
use crate::text::{Column, Paint, Style, Table};
use std::fmt::Write;
use std::path::Path;
use threadtalk_crd::placement::{Events, Mapping, Strategies};

/// Threads that are listed one by one; all are in JSON.
const LISTED: usize = 64;

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
    let mut table =
        Table::new(vec![Column::right("thread"), Column::right("cpu"), Column::right("events"), Column::left("name")]);
    for thread in mapping.threads.iter().take(LISTED) {
        let numbers = [thread.id.to_string(), thread.cpu.to_string(), number::count(thread.events)];
        table.row(numbers.into_iter().chain([thread.name.clone()]).collect());
    }
    let mut out = format!("\n{}\n{}", paint.strong("Placement"), table.render(paint));
    let more = mapping.threads.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(out, "  {more} more (--format json lists all)");
    }
    out
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
        let _ = writeln!(out, "  {} {line}", paint.faint(&format!("{title:<18}")));
    }
    out
}
