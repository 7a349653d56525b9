//! `threadtalk export`: every format read back by a reader of that format.

#[path = "support/example.rs"]
mod example;
mod support;
#[path = "support/synthetic.rs"]
mod synthetic;
#[path = "support/unbalanced.rs"]
mod unbalanced;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use support::{Scratch, assert_error, err, out};
use threadtalk::trace;
use threadtalk_profile::layout::PhaseEnd;
use threadtalk_profile::{Phase, Profile};

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let mut contents = synthetic::contents(4, 0);
    contents.phases = (1..4)
        .map(|reader| Phase {
            writer: 0,
            reader,
            from_ns: 2_000_000,
            to_ns: 9_000_000,
            raw: 10,
            rar: 4,
            meeting: 1,
            end: PhaseEnd::Barrier,
            coarse: false,
        })
        .collect();
    std::fs::write(scratch.path("a.ttp"), contents.encode()).unwrap();
    scratch
}

fn export(scratch: &Scratch, format: &str, to: &str) -> String {
    let output = scratch.tool().args(["export", "a.ttp", "--format", format, "-o", to]).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    out(&output)
}

fn rows(scratch: &Scratch, table: &str) -> Vec<Row> {
    let file = std::fs::File::open(scratch.path(table)).unwrap();
    SerializedFileReader::new(file).unwrap().get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    row.get_column_iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no column {name}")).1
}

fn number(row: &Row, name: &str) -> u64 {
    match field(row, name) {
        Field::Long(n) => *n as u64,
        other => panic!("{name} is {other}"),
    }
}

#[test]
fn parquet_has_what_the_profile_has() {
    let scratch = scratch();
    let text = export(&scratch, "parquet", "tables");
    assert!(text.contains("tables/events.parquet\n") && text.contains("tables/phases.parquet\n"), "{text}");
    let profile = Profile::open(scratch.path("a.ttp")).unwrap();
    let found = rows(&scratch, "tables/events.parquet");
    assert_eq!(found.len(), profile.events_len());
    for (row, e) in found.iter().zip(profile.events()) {
        let counts = ["writer", "reader", "raw", "rar"].map(|name| number(row, name));
        assert_eq!(counts, [e.writer.into(), e.reader.into(), e.raw, e.rar]);
        assert_eq!(field(row, "serial"), &Field::Bool(e.is_serial()));
        assert_eq!(field(row, "sync"), &Field::Bool(e.is_sync()));
        let (region, site) = (profile.region(e.region).unwrap(), profile.site(e.writer_site).unwrap());
        assert_eq!(field(row, "region"), &Field::Str(region.name.to_string()));
        assert_eq!(field(row, "writer_file"), &Field::Str(site.file.to_string()));
        assert_eq!(number(row, "writer_line"), u64::from(site.line));
        let name = if e.reader == 0 { "main".to_string() } else { format!("worker {}", e.reader) };
        assert_eq!(field(row, "reader_name"), &Field::Str(name));
    }
    // The tables that come from the analysis, against its JSON.
    export(&scratch, "json", "a.json");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(scratch.path("a.json")).unwrap()).unwrap();
    let regions = rows(&scratch, "tables/regions.parquet");
    assert_eq!(regions.len(), json["regions"].as_array().unwrap().len());
    let sum = |table: &str, name: &str| rows(&scratch, table).iter().map(|row| number(row, name)).sum::<u64>();
    let total: u64 = profile.events().map(|e| e.raw).sum();
    assert_eq!(sum("tables/matrices.parquet", "raw"), total);
    assert_eq!(sum("tables/phases.parquet", "raw"), total);
    assert_eq!(sum("tables/phases.parquet", "rar"), profile.events().map(|e| e.rar).sum::<u64>());
    assert_eq!(rows(&scratch, "tables/threads.parquet").len(), 4);
    let buckets = json["regions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|r| r["crd"]["distinct"]["buckets"].as_array().or(r["crd"]["buckets"].as_array()));
    let distinct = rows(&scratch, "tables/distances.parquet");
    let distinct = distinct.iter().filter(|r| field(r, "kind") == &Field::Str("distinct".into())).count();
    assert_eq!(distinct, buckets.map(Vec::len).sum::<usize>());
    // A region without events has no counts rather than zeros.
    assert!(regions.iter().any(|r| field(r, "raw") == &Field::Null));
}

#[test]
fn csv_is_that_of_the_report() {
    let scratch = scratch();
    export(&scratch, "csv", "tables");
    assert!(scratch.tool().args(["report", "a.ttp", "-f", "csv", "-o", "r"]).output().unwrap().status.success());
    for table in ["regions.csv", "matrices.csv", "lines.csv", "crd.csv"] {
        let read = |folder: &str| std::fs::read_to_string(scratch.path(&format!("{folder}/{table}"))).unwrap();
        assert_eq!(read("tables"), read("r"));
    }
}

/// What any viewer needs: known kinds of events, times that do not go back on a track, names, pairs of arrow ends
/// inside slices.
fn check_trace(text: &str) -> Vec<Value> {
    let trace: Value = serde_json::from_str(text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().clone();
    let mut last: BTreeMap<i64, f64> = BTreeMap::new();
    let (mut begun, mut named, mut used) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut lives: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    for e in &events {
        let tid = e["tid"].as_i64().unwrap();
        assert!(e["pid"].is_u64() && e["name"].is_string());
        if e["ph"] == "M" {
            if e["name"] == "thread_name" {
                named.insert(tid);
            }
            continue;
        }
        let ts = e["ts"].as_f64().unwrap();
        let before = last.insert(tid, ts).unwrap_or(0.0);
        assert!(ts >= before, "{ts} after {before} on {tid}");
        match e["ph"].as_str().unwrap() {
            "X" => {
                assert!(e["dur"].as_f64().unwrap() >= 0.0);
                used.insert(tid);
                if e["name"] == "alive" {
                    lives.insert(tid, (ts, ts + e["dur"].as_f64().unwrap()));
                }
            }
            "C" => assert!(e["args"]["RaW"].is_u64() && e["args"]["RaR"].is_u64()),
            "s" => assert!(begun.insert(e["id"].as_u64().unwrap())),
            "f" => assert!(begun.remove(&e["id"].as_u64().unwrap()), "an arrow without a beginning"),
            other => panic!("event of kind {other}"),
        }
        if matches!(e["ph"].as_str().unwrap(), "s" | "f") {
            let (from, to) = lives[&tid];
            assert!(from <= ts && ts <= to + 0.001, "an arrow at {ts} outside of {from}..{to}");
        }
    }
    assert!(begun.is_empty() && used.is_subset(&named), "{begun:?} {used:?} {named:?}");
    events
}

#[test]
fn a_trace_that_viewers_can_show() {
    let scratch = scratch();
    export(&scratch, "perfetto", "a.json");
    let events = check_trace(&std::fs::read_to_string(scratch.path("a.json")).unwrap());
    let of = |ph: &str| events.iter().filter(|e| e["ph"] == ph).count();
    assert!(of("C") > 2 && of("s") > 0 && of("s") == of("f"));
    let raw: u64 = events.iter().filter(|e| e["ph"] == "C").map(|e| e["args"]["RaW"].as_u64().unwrap()).sum();
    let total: u64 = Profile::open(scratch.path("a.ttp")).unwrap().events().map(|e| e.raw).sum();
    assert_eq!(raw, total);
    // Phases of the model: three, two patterns.
    let mut report = example::report(4, example::ring);
    report.phases = Some(example::phases(4));
    let events = check_trace(&trace::trace(&report, &[]));
    let names: Vec<_> = events.iter().filter(|e| e["tid"] == -1 && e["ph"] == "X").map(|e| e["name"].clone()).collect();
    assert_eq!(names, ["A", "B", "A"]);
    report.phases = None;
    assert!(check_trace(&trace::trace(&report, &[])).iter().all(|e| e["ph"] != "C"));
}

/// Seven threads wait for the slow one at a barrier: each inside its life, until the same moment.
#[test]
fn a_trace_shows_who_waits() {
    let scratch = scratch();
    let profile = unbalanced::contents("work.c", false).encode();
    std::fs::write(scratch.path("work.ttp"), profile).unwrap();
    let output = scratch.tool().args(["export", "work.ttp", "-f", "perfetto", "-o", "work.json"]).output().unwrap();
    assert!(output.status.success(), "{}", support::err(&output));
    let events = check_trace(&std::fs::read_to_string(scratch.path("work.json")).unwrap());
    let number = |e: &Value, key: &str| e[key].as_f64().unwrap();
    let waits: Vec<&Value> = events.iter().filter(|e| e["name"] == "wait: barrier work.c:16").collect();
    let threads: BTreeSet<i64> = waits.iter().map(|e| e["tid"].as_i64().unwrap()).collect();
    assert_eq!((waits.len(), threads.len()), (8, 8));
    for wait in &waits {
        let life = events.iter().find(|e| e["name"] == "alive" && e["tid"] == wait["tid"]).unwrap();
        assert!(number(life, "ts") <= number(wait, "ts"));
        assert_eq!(number(wait, "ts") + number(wait, "dur"), 125_000.0, "microseconds");
    }
    let shortest = waits.iter().min_by(|a, b| number(a, "dur").total_cmp(&number(b, "dur"))).unwrap();
    assert_eq!(shortest["tid"], unbalanced::SLOW, "the slow thread waits least");
    assert_eq!(shortest["args"]["function"], "work");
}

#[test]
fn what_is_refused() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().args(["export", "a.ttp"]).args(args).output().unwrap();
    scratch.file("notes.txt", "mine");
    scratch.file("mine/regions.csv", "mine");
    assert_error(&run(&["--format", "perfetto"]), 2, &["missing argument: --output <OUT>"]);
    assert_error(&run(&["--format", "xml", "-o", "x"]), 2, &["invalid value 'xml'", "json csv perfetto parquet"]);
    assert_error(
        &run(&["--format", "json", "-o", "notes.txt"]),
        1,
        &["cannot write: notes.txt; threadtalk did not write"],
    );
    assert_error(
        &run(&["--format", "perfetto", "-o", "mine"]),
        2,
        &["the output is a folder: mine; this format is one file"],
    );
    assert_error(&run(&["--format", "csv", "-o", "mine"]), 1, &["cannot write: mine/regions.csv; no report wrote"]);
    // Its own files are replaced.
    for format in ["json", "perfetto"] {
        assert!(run(&["--format", format, "-o", format]).status.success());
        assert!(run(&["--format", format, "-o", format]).status.success());
    }
    let missing = scratch.tool().args(["export", "no.ttp", "--format", "json", "-o", "x"]).output().unwrap();
    assert_error(&missing, 1, &["no.ttp cannot be read: No such file"]);
}
