//! The run as a trace for timeline viewers: the JSON of Chrome's trace viewer, which ui.perfetto.dev opens.
//!
//! Format: "Trace Event Format" (Google, Chromium project). Used are metadata (`M`), slices (`X`), counters (`C`) and
//! flows (`s`, `f`); times are in microseconds.

use crate::label;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use threadtalk_crd::imbalance::profile::observed::Part;
use threadtalk_crd::model::{Phase, Report, Thread};

/// Arrows from writers to readers in each phase: the pairs with the most true communication.
const ARROWS: usize = 8;
/// The track of the phases: no thread has this number.
const PHASES: i64 = -1;

/// A file for the viewer.
#[derive(Serialize)]
struct Trace {
    #[serde(rename = "traceEvents")]
    events: Vec<Value>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    other: BTreeMap<&'static str, String>,
}

/// The trace: a track for each thread from its start to its end with its waiting at the ends of the recorded instances
/// of parallel sections (`parts`), one for the phases, counters of RaW and RaR for each slice, and arrows for the pairs
/// that talk most in each phase.
pub fn trace(report: &Report, parts: &[Part]) -> String {
    let pid = report.program.pid;
    let end = last_moment(report);
    let mut events = vec![metadata("process_name", pid, 0, &report.program.name)];
    for thread in &report.threads {
        let id = i64::from(thread.id);
        events.push(metadata("thread_name", pid, id, &thread_name(thread)));
        events.push(
            json!({ "ph": "M", "name": "thread_sort_index", "pid": pid, "tid": id, "args": { "sort_index": id } }),
        );
        let (from, to) = (thread.start_s, thread.end_s.unwrap_or(end));
        let mut life = slice("alive", pid, id, from, to);
        life["args"] = json!({ "cpu_s": thread.cpu_s, "tid": thread.tid, "created_by": thread.created_by });
        events.push(life);
    }
    events.extend(parts.iter().filter(|part| part.waited_ns > 0).map(|part| waiting(pid, part)));
    if let Some(phases) = &report.phases {
        events.push(metadata("thread_name", pid, PHASES, "phases"));
        events.push(json!({ "ph": "M", "name": "thread_sort_index", "pid": pid, "tid": PHASES, "args": { "sort_index": PHASES } }));
        for slice in &phases.slices {
            events.push(counter(pid, slice.from_s, slice.raw, slice.rar));
        }
        // A counter keeps its value until the next: without this the last slice would never end.
        events.extend(phases.slices.last().map(|last| counter(pid, last.to_s, 0, 0)));
        let mut flow = 0;
        for phase in &phases.phases {
            let name = crate::svg::pattern_name(phase.pattern);
            let mut event = slice(&name, pid, PHASES, phase.from_s, phase.to_s);
            event["args"] = json!({ "raw": phase.raw.sum(), "rar": phase.rar.sum(), "threads": phase.threads.len() });
            events.push(event);
            arrows(report, phase, pid, &mut flow, &mut events);
        }
    }
    // Viewers want times that do not go back on a track; a stable order keeps metadata first.
    events.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let other = [
        ("tool", format!("threadtalk {}", env!("CARGO_PKG_VERSION"))),
        ("program", label::title(report, &report.program_total)),
    ];
    let trace = Trace { events, unit: "ms", other: other.into() };
    serde_json::to_string(&trace).expect("a trace holds nothing that JSON cannot")
}

fn last_moment(report: &Report) -> f64 {
    let ends = report.threads.iter().map(|t| t.end_s.unwrap_or(t.start_s));
    let slices = report.phases.iter().flat_map(|p| &p.slices).map(|s| s.to_s);
    ends.chain(slices).chain(report.program.duration_s).fold(0.0, f64::max)
}

fn thread_name(thread: &Thread) -> String {
    match thread.name.as_str() {
        "" => format!("thread {}", thread.id),
        name => format!("{} {name}", thread.id),
    }
}

/// Microseconds.
fn us(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

fn time(event: &Value) -> f64 {
    event["ts"].as_f64().unwrap_or(-1.0)
}

fn metadata(what: &str, pid: u32, tid: i64, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name } })
}

fn slice(name: &str, pid: u32, tid: i64, from_s: f64, to_s: f64) -> Value {
    json!({ "ph": "X", "name": name, "cat": "threadtalk", "pid": pid, "tid": tid, "ts": us(from_s), "dur": us((to_s - from_s).max(0.0)) })
}

/// A thread waits for the others of its team.
fn waiting(pid: u32, part: &Part) -> Value {
    let arrived = part.begin_ns + part.wall_ns;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let place =
        part.end.file.as_deref().map_or(String::new(), |file| format!(" {}:{}", label::base(file), part.end.line));
    let name = format!("wait: {}{place}", part.kind);
    let mut event = slice(&name, pid, i64::from(part.thread), seconds(arrived), seconds(arrived + part.waited_ns));
    event["args"] = json!({
        "function": part.end.function, "cpu_s_before": seconds(part.cpu_ns), "instance": part.instance.1, "stands_for": part.weight
    });
    event
}

fn counter(pid: u32, at_s: f64, raw: u64, rar: u64) -> Value {
    json!({ "ph": "C", "name": "communication", "pid": pid, "tid": 0, "ts": us(at_s), "args": { "RaW": raw, "RaR": rar } })
}

/// An arrow begins and ends inside a slice of its thread: that of its life.
fn arrows(report: &Report, phase: &Phase, pid: u32, flow: &mut u64, events: &mut Vec<Value>) {
    let mut pairs: Vec<_> = phase.raw.entries().iter().collect();
    pairs.sort_by_key(|e| (std::cmp::Reverse(e.value), e.writer, e.reader));
    for entry in pairs.into_iter().take(ARROWS) {
        let [writer, reader] = [entry.writer, entry.reader].map(|index| phase.threads[index as usize]);
        let inside = |id: u32, at: f64| match crate::fold::find(&report.threads, id) {
            Some(thread) => at.clamp(thread.start_s, thread.end_s.unwrap_or(f64::INFINITY).max(thread.start_s)),
            None => at,
        };
        let from = inside(writer, phase.from_s);
        let to = inside(reader, phase.to_s).max(from);
        *flow += 1;
        let name = format!("RaW {}", entry.value);
        let end = |ph: &str, tid: u32, at: f64| json!({ "ph": ph, "id": flow, "name": name, "cat": "communication", "pid": pid, "tid": tid, "ts": us(at), "bp": "e" });
        events.extend([end("s", writer, from), end("f", reader, to)]);
    }
}
