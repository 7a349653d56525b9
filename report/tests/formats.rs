//! JSON against its schema, CSV against the JSON, and what every format says of the same profile.

#[path = "support/example.rs"]
mod example;
mod support;
#[path = "support/synthetic.rs"]
mod synthetic;

use serde_json::Value;
use std::path::Path;
use support::schema::assert_follows;
use support::{out, tool};
use threadtalk_crd::model::{Ended, Report};

/// Standard output of `threadtalk report` on a synthetic profile.
fn report(threads: u32, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("solver.ttp");
    std::fs::write(&file, synthetic::profile(threads)).unwrap();
    let output = tool().arg("report").arg(&file).args(args).output().unwrap();
    assert!(output.status.success(), "{}", support::err(&output));
    out(&output)
}

fn json(threads: u32, args: &[&str]) -> Value {
    serde_json::from_str(&report(threads, &[&["--format", "json"], args].concat())).unwrap()
}

#[test]
fn json_follows_its_schema() {
    let mut documents: Vec<Value> = [2, 16, 64].map(|threads| json(threads, &[])).to_vec();
    documents.push(json(4, &["--hide-serial", "--caches", "32K,1M:shared=4"]));
    documents.push(serde_json::from_str(&threadtalk::json::report(&example::report(5, example::halo))).unwrap());
    let mut timed = example::report(4, example::halo);
    timed.phases = Some(example::phases(4));
    documents.push(serde_json::from_str(&threadtalk::json::report(&timed)).unwrap());
    let changes = [
        ("/schema", Value::from("threadtalk.report/2")),
        ("/regions/3/raw/0/1", Value::from(-1)),
        ("/ended", Value::Null),
    ];
    assert_follows(threadtalk::json::SCHEMA, &documents, &changes);
}

/// Rows of small counts, and fractions that come again, are written another way.
#[test]
fn json_is_what_serde_json_writes() {
    for pattern in [example::ring, example::halo, example::all_to_all, example::master] {
        let report = example::report(40, pattern);
        assert_eq!(threadtalk::json::report(&report), serde_json::to_string(&report).unwrap() + "\n");
    }
}

#[test]
fn json_has_the_events_of_the_profile() {
    let report = json(4, &[]);
    let update = &report["regions"].as_array().unwrap().iter().find(|r| r["kind"] == "loop").unwrap().clone();
    assert_eq!(update["name"], "solver::update(int)");
    assert_eq!((update["line"].as_u64(), update["end_line"].as_u64()), (Some(14), Some(30)));
    // 40 000 to a neighbour and 3 more, 5 000 from the first thread, which wrote before the others existed.
    assert_eq!(update["raw"][1][2], 40_003);
    assert_eq!(update["raw"][0][1], 45_003);
    assert_eq!(update["raw"][2][2], 0);
    let halo = report["regions"].as_array().unwrap().iter().find(|r| r["name"] == "exchange_halo").unwrap();
    assert_eq!((halo["raw"][1][2].as_u64(), halo["sync_raw"][1][2].as_u64()), (Some(6_500), Some(100)));
    assert_eq!(report["threads"][3]["created_at"]["line"], 75);
}

#[test]
fn serial_data_can_be_hidden() {
    let hidden = json(4, &["--hide-serial"]);
    assert_eq!(hidden["program_total"]["raw"][0][1], 40_003 + 6_500);
    assert_eq!(hidden["options"]["hide_serial"], true);
    assert_eq!(json(4, &[])["program_total"]["raw"][0][1], 45_003 + 6_500);
}

#[test]
fn caches_of_another_machine_move_the_cutoffs() {
    let report = json(4, &["--caches", "1K,1M"]);
    let cutoffs = report["program_total"]["crd"]["cutoffs"].as_array().unwrap().clone();
    assert_eq!(cutoffs.len(), 2);
    // The far hump, 160 of 1110 distances, is beyond 1 KiB.
    let share = cutoffs[0]["definite_miss"].as_f64().unwrap();
    assert!((share - 160.0 / 1110.0).abs() < 0.01, "{share}");
    assert_eq!(cutoffs[1]["definite_miss"].as_f64(), Some(0.0));
}

#[test]
fn csv_and_json_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("solver.ttp");
    std::fs::write(&file, synthetic::profile(4)).unwrap();
    let target = folder.path().join("out");
    let status = tool().arg("report").arg(&file).arg("-o").arg(&target).output().unwrap();
    assert!(status.status.success());
    let report: Value = serde_json::from_str(&std::fs::read_to_string(target.join("report.json")).unwrap()).unwrap();
    let read = |name: &str| std::fs::read_to_string(target.join(name)).unwrap();
    let matrices = read("matrices.csv");
    let mut sum = 0;
    for line in matrices.lines().skip(1) {
        let fields: Vec<u64> = line.split(',').take(7).map(|field| field.parse().unwrap()).collect();
        let region = report["regions"].as_array().unwrap().iter().find(|r| r["id"] == fields[0]).unwrap();
        let index = |id: u64| region["threads"].as_array().unwrap().iter().position(|t| *t == id).unwrap();
        assert_eq!(region["raw"][index(fields[1])][index(fields[2])], fields[3], "{line}");
        sum += fields[3];
    }
    let total: u64 = report["program_total"]["raw"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|v| v.as_u64().unwrap())
        .sum();
    assert_eq!(sum, total);
    assert!(read("regions.csv").contains("\"never<called> & \"\"quoted\"\"\""));
    assert_eq!(read("lines.csv").lines().count(), 5);
    assert!(read("crd.csv").lines().count() > 20);
    assert!(read("report.txt").contains("exchange_halo"));
    assert!(target.join("matrix-program.svg").is_file() && target.join("crd-program.svg").is_file());
}

#[test]
fn the_text_names_what_matters() {
    let text = report(4, &[]);
    for words in [
        "solver  (process 4242, ended normally after 1.24 s, CPU 2.31 s)",
        "4, of which 4 communicate",
        "RaW = first read of the value",
        "loop in solver::update(int)  solver.c:14-30",
        "solver.c:17  solver.c:18",
        "-o report",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    assert!(!text.contains('\x1b'), "colours without a terminal");
    assert!(text.lines().all(|line| line.chars().count() <= 140), "too wide:\n{text}");
}

#[test]
fn a_program_that_leaves_by_itself_was_not_killed() {
    let said = |exit_status| {
        let mut report = example::report(2, example::ring);
        (report.ended, report.program.exit_status) = (Ended::Abnormally, exit_status);
        (threadtalk::text::run_and_accuracy(&report).0, threadtalk::text::hints(&report).join("\n"))
    };
    let (run, hints) = said(Some(3));
    assert!(run.contains("ended by _exit or quick_exit, status 3"), "{run}");
    assert!(!hints.contains("normally"), "{hints}");
    let (run, hints) = said(None);
    assert!(run.contains("ended abnormally: killed, aborted or still running"), "{run}");
    assert!(hints.contains("did not end normally"), "{hints}");
}

#[test]
fn how_much_of_the_signature_was_used_is_not_said_of_runs_that_were_cut_off() {
    let accuracy = |mode, mapped| {
        let mut report = example::report(2, example::ring);
        (report.options.mode, report.accuracy.signature_mapped) = (mode, mapped);
        threadtalk::text::run_and_accuracy(&report).1
    };
    assert!(accuracy("exact", 3 << 20).starts_with("exact mode, 3 MiB of cells"), "{}", accuracy("exact", 3 << 20));
    assert!(accuracy("hashed", 32 << 20).starts_with("hashed mode, 12 % of 256 MiB used"));
    assert!(accuracy("exact", 0).starts_with("exact mode; reuse distances"));
    assert!(accuracy("hashed", 0).starts_with("hashed mode; reuse distances"));
}

#[test]
fn the_head_counts_phases_and_their_patterns() {
    let mut report = example::report(4, example::halo);
    let said = |report: &Report| {
        let head = threadtalk::text::head(report, Path::new("run.ttp"));
        head.into_iter().find(|(name, _)| *name == "phases").map(|(_, value)| value)
    };
    assert_eq!(said(&report), None);
    report.phases = Some(example::phases(4));
    let phases = said(&report).unwrap();
    assert!(phases.starts_with("3 with 2 patterns: A 1 s (RaW ") && phases.contains(", B 1.5 s (RaW "), "{phases}");
}

#[test]
fn one_region_alone() {
    let one = json(4, &["--region", "exchange*"]);
    let names: Vec<_> = one["regions"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["exchange_halo"]);
    assert!(report(4, &["--format", "svg", "--region", "exchange"]).contains("Thread communication: exchange_halo"));
    assert!(report(4, &["--format", "svg"]).contains("Thread communication: solver"));
}

#[test]
fn the_top_is_as_long_as_asked() {
    let rows =
        |text: &str| text.lines().filter(|line| line.contains("solver.c:1") || line.contains("solver.c:3")).count();
    assert!(report(4, &["--top", "1"]).contains("1 of 2 that communicate"));
    assert!(rows(&report(4, &[])) > rows(&report(4, &["--top", "1"])));
}
