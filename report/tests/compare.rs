//! `threadtalk compare` on two profiles: what it prints, draws and refuses.

#[path = "support/example.rs"]
mod example;
mod support;
#[path = "support/synthetic.rs"]
mod synthetic;
#[path = "support/unbalanced.rs"]
mod unbalanced;

use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;
use support::schema::assert_follows;
use support::{Scratch, assert_error, err, out};
use threadtalk::compare::{View, page, pictures};
use threadtalk_crd::compare::{CompareOptions, compare};
use threadtalk_crd::model::{Matrix, Report};
use threadtalk_profile::Histogram;
use threadtalk_profile::layout::CrdMode;

/// `base.ttp`; `new.ttp`, in which the update communicates half as much at a tenth of the distance, the halo has
/// another name and the source is 7 lines longer; `wide.ttp` with twice the threads; `far.ttp` without distances;
/// `work.ttp` with parallel sections, `plain.ttp` without counters of control flow.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let write = |name: &str, contents: &threadtalk_profile::write::Contents| {
        std::fs::write(scratch.path(name), contents.encode()).unwrap();
    };
    write("base.ttp", &synthetic::contents(4, 0));
    write("wide.ttp", &synthetic::contents(8, 0));
    let mut new = synthetic::contents(4, 0);
    for region in &mut new.modules[0].regions {
        (region.line, region.end_line) = (region.line + 7, region.end_line + 7);
        if region.name.as_ref() == "exchange_halo" {
            region.name = "swap_borders".into();
        }
    }
    for event in new.events.iter_mut().filter(|event| event.region == 3) {
        event.raw /= 2;
    }
    for trace in &mut new.traces {
        trace.distinct = Histogram::of((0..1110u64).map(|i| 4 + i % 3));
    }
    write("new.ttp", &new);
    let mut far = synthetic::contents(4, 0);
    far.traces.clear();
    far.header.crd_mode = CrdMode::Off;
    write("far.ttp", &far);
    write("work.ttp", &unbalanced::contents("work.c", true));
    write("plain.ttp", &unbalanced::contents("work.c", false));
    scratch
}

fn run(scratch: &Scratch, args: &[&str]) -> Output {
    scratch.tool().arg("compare").args(args).output().unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = run(&scratch(), args);
    assert!(output.status.success(), "{}", err(&output));
    out(&output)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[&["--format", "json"], args].concat())).unwrap()
}

#[test]
fn json_follows_its_schema() {
    let documents = [
        json(&["base.ttp", "new.ttp"]),
        json(&["base.ttp", "wide.ttp", "--caches", "32K,1M:shared=4"]),
        json(&["far.ttp", "base.ttp", "--hide-serial"]),
    ];
    let changes = [
        ("/schema", Value::from("threadtalk.compare/2")),
        ("/program/verdict", Value::from("nice")),
        ("/regions/0/base/raw", Value::from(-1)),
        ("/regions/0/matched", Value::Null),
        ("/regions/0/delta/raw", Value::from("less")),
    ];
    assert_follows(threadtalk::compare::SCHEMA, &documents, &changes);
}

#[test]
fn json_has_both_sides_and_their_difference() {
    let comparison = json(&["base.ttp", "new.ttp"]);
    let update = &comparison["regions"][0];
    assert_eq!((update["name"].as_str(), update["matched"].as_str()), (Some("solver::update(int)"), Some("moved")));
    assert_eq!((update["base"]["line"].as_u64(), update["new"]["line"].as_u64()), (Some(14), Some(21)));
    let raw = |side: &str| update[side]["raw"].as_i64().unwrap();
    assert_eq!((raw("delta"), update["verdict"].as_str()), (raw("new") - raw("base"), Some("better")));
    let change = update["change"]["raw"].as_f64().unwrap();
    assert!((change - (raw("new") as f64 / raw("base") as f64 - 1.0)).abs() < 1e-12);
    // From worker 1 to worker 2 it was 40 003, and half of it is 20 001.
    assert_eq!(update["matrices"]["raw"][1][2], 20_001 - 40_003);
    let halo = comparison["regions"].as_array().unwrap().iter().find(|r| r["name"] == "swap_borders").unwrap();
    assert_eq!((halo["base"]["name"].as_str(), halo["matched"].as_str()), (Some("exchange_halo"), Some("renamed")));
    assert_eq!(halo["verdict"], "same");
    let names: Vec<&str> = update["reasons"].as_array().unwrap().iter().filter_map(|r| r["metric"].as_str()).collect();
    assert!(names.starts_with(&["raw", "crd_median", "crd_p90"]), "{names:?}");
}

#[test]
fn the_text_says_what_changed_where() {
    let text = stdout(&["base.ttp", "new.ttp", "--caches", "1K,1M"]);
    for words in [
        "base           solver  (4 threads, base.ttp)",
        "Program: mixed",
        "loop in solver::update(int)  solver.c:21-37",
        "loop in solver::update(int) solver.c:21-37: better",
        "median reuse distance 210 B \u{2192} 20 B, -90.5 %",
        "certain L1 misses 14.4 % \u{2192} 0 %, -14.4 points",
        "swap_borders solver.c:43-57, was exchange_halo solver.c:36-50: same",
        "nothing that is judged changed by more than 5 %",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    assert!(!text.contains('\x1b'), "colours without a terminal");
    assert!(text.lines().all(|line| line.chars().count() <= 150), "too wide:\n{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("median reuse distance")).unwrap();
    assert!(row.ends_with("-90.5 %  better"), "what the program's verdict rests on: {row}");
    assert_eq!(stdout(&["base.ttp", "base.ttp"]).matches("better").count(), 1, "only in the explanation");
}

#[test]
fn parallel_sections_stand_side_by_side() {
    let comparison = json(&["work.ttp", "work.ttp"]);
    let changes = [
        ("/sections/0/verdict", Value::from("mixed")),
        ("/sections/0/base/threads", Value::from(0)),
        ("/sections/0/new/cause", Value::from("work.c:12")),
        ("/sections/0/delta", Value::from("none")),
    ];
    assert_follows(threadtalk::compare::SCHEMA, std::slice::from_ref(&comparison), &changes);
    assert_eq!(
        (&comparison["sections"][0]["delta"], &comparison["sections"][0]["verdict"]),
        (&0.0.into(), &"same".into())
    );
    let text = stdout(&["work.ttp", "work.ttp"]);
    let row = text.lines().find(|line| line.contains(" same  ") && line.contains("barrier work.c:")).unwrap();
    let cause = &comparison["sections"][0]["base"]["cause"]["line"];
    assert!(row.trim_end().ends_with(&format!("work.c:{cause}")), "{row}");
    let page = stdout(&["work.ttp", "work.ttp", "--format", "html"]);
    assert!(
        page.contains("<h2>Parallel sections</h2>") && page.contains("<b class=\"verdict same\">same</b>"),
        "{page}"
    );

    let text = stdout(&["work.ttp", "plain.ttp"]);
    assert!(text.contains("control flow was counted in base only: imbalance does not compare"), "{text}");
    assert!(!text.contains("Parallel sections"), "{text}");
}

#[test]
fn other_threads_and_missing_distances_are_noted() {
    let text = stdout(&["base.ttp", "wide.ttp"]);
    assert!(text.contains("4 threads in base and 8 in new: totals compare"), "{text}");
    assert_eq!(json(&["base.ttp", "wide.ttp"])["program"]["matrices"], Value::Null);
    assert!(stdout(&["base.ttp", "far.ttp"]).contains("reuse distances were recorded as auto in base and off in new"));
}

#[test]
fn one_region_alone() {
    // By its old name, too.
    for name in ["exchange*", "swap*"] {
        let one = json(&["base.ttp", "new.ttp", "--region", name]);
        assert_eq!(one["regions"].as_array().unwrap().len(), 1, "{name}");
    }
    let svg = |args: &[&str]| stdout(&[&["base.ttp", "new.ttp", "--format", "svg"], args].concat());
    assert!(svg(&["--region", "swap"]).contains("<title>Thread communication, base and new: swap_borders"));
    assert!(svg(&[]).contains("<title>Thread communication, base and new: solver"));
}

#[test]
fn a_folder_gets_page_pictures_text_and_json() {
    let scratch = scratch();
    let output = run(&scratch, &["base.ttp", "new.ttp", "-o", "out"]);
    assert!(output.status.success(), "{}", err(&output));
    for name in ["index.html", "compare.txt", "compare.json", "compare-matrix-program.svg", "compare-crd-program.svg"] {
        assert!(scratch.path("out").join(name).is_file(), "{name}");
    }
    let page = std::fs::read_to_string(scratch.path("out/index.html")).unwrap();
    assert!(page.contains("swap_borders") && page.contains("was exchange_halo solver.c:36-50"));
    assert!(!page.contains("<script") && !page.contains("{{"));
    // Of a name in the source nothing is markup.
    assert!(!page.contains("never<called>") && page.contains("solver::update(int)"));
    assert!(run(&scratch, &["base.ttp", "new.ttp", "-o", "out"]).status.success(), "its own files may be replaced");
}

#[test]
fn conditions_decide_the_exit_status() {
    let scratch = scratch();
    let fail_on = |pair: [&str; 2], list: &str| run(&scratch, &[pair[0], pair[1], "--fail-on", list]);
    let better = fail_on(["base.ttp", "new.ttp"], "raw>+10%,crd_median>+20%");
    assert_eq!((better.status.code(), err(&better)), (Some(0), String::new()));
    let worse = fail_on(["new.ttp", "base.ttp"], "crd_median>+20%, raw>+10%");
    assert_eq!(worse.status.code(), Some(1));
    assert!(out(&worse).contains("Program: mixed"), "the comparison is printed all the same");
    let line = err(&worse);
    assert_eq!(line.lines().count(), 1, "{line}");
    for words in [
        "threadtalk: crd_median>+20% holds: median reuse distance 20 B \u{2192} 210 B, x 10.5 in the whole program",
        ", and 3 more; see `threadtalk compare` without --fail-on",
    ] {
        assert!(line.contains(words), "`{words}` is not in: {line}");
    }
    let filtered =
        run(&scratch, &["new.ttp", "base.ttp", "--region", "update", "--fail-on", "raw>+10%", "--format", "json"]);
    assert!(err(&filtered).contains("in loop in solver::update(int) solver.c:14-30; see"), "{}", err(&filtered));
    let noise = run(&scratch, &["base.ttp", "new.ttp", "--noise", "100%"]);
    assert!(out(&noise).contains("Program: same"), "{}", out(&noise));
}

#[test]
fn what_cannot_be_checked_is_no_success() {
    let output = run(&scratch(), &["base.ttp", "far.ttp", "--fail-on", "crd_median>+20%"]);
    assert_eq!(output.status.code(), Some(1));
    let line = err(&output);
    assert!(line.starts_with("threadtalk: cannot check: crd_median>+20%; nothing in both profiles has this"), "{line}");
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn mistakes_are_told_in_one_line() {
    let scratch = scratch();
    let fails = |args: &[&str], status, words: &[&str]| assert_error(&run(&scratch, args), status, words);
    let both = ["base.ttp", "new.ttp"];
    let with = |args: &[&'static str]| [&both[..], args].concat();
    fails(&["base.ttp"], 2, &["missing argument: <NEW>; usage: threadtalk compare"]);
    fails(&["base.ttp", "none.ttp"], 1, &["none.ttp cannot be read: No such file"]);
    fails(&with(&["--format", "csv"]), 2, &["invalid value 'csv'", "choose one of: text html svg json"]);
    fails(&with(&["--noise", "much"]), 2, &["invalid value 'much' for '--noise <PERCENT>': write a percentage"]);
    fails(&with(&["--noise=-1"]), 2, &["write a percentage"]);
    fails(&with(&["--top", "0"]), 2, &["invalid value '0' for '--top <N>'"]);
    fails(&with(&["--caches", "big"]), 2, &["cache description not understood", ": big; write sizes"]);
    fails(&with(&["--region", "nowhere"]), 2, &["no region matches: nowhere; see threadtalk compare BASE NEW"]);
    fails(&with(&["-f", "json", "-f", "svg"]), 2, &["several formats: --format; name a folder with -o"]);
    for (list, what) in [
        ("raw>+10%,", "a condition is empty"),
        ("raw", "`raw` has no < or >"),
        ("speed>+1%", "`speed` is no metric"),
        ("raw>lots", "`lots` is no number"),
        ("raw>10%", "`10%` has no sign"),
    ] {
        let words = format!("condition not understood ({what}");
        fails(&with(&["--fail-on", list]), 2, &[&words, &format!("{list}; write for example 'raw>+10%")]);
    }
    scratch.file("silent/index.html", "mine");
    fails(&with(&["-o", "silent"]), 1, &["cannot write: silent/index.html; no report wrote this file"]);
}

#[test]
fn nothing_is_drawn_where_nobody_communicates() {
    let scratch = scratch();
    let mut silent = synthetic::contents(2, 0);
    (silent.events, silent.traces) = (Vec::new(), Vec::new());
    std::fs::write(scratch.path("silent.ttp"), silent.encode()).unwrap();
    let svg = run(&scratch, &["silent.ttp", "silent.ttp", "--format", "svg"]);
    assert_error(&svg, 1, &["no communication to draw: solver"]);
    let text = out(&run(&scratch, &["silent.ttp", "silent.ttp"]));
    assert!(text.contains("Program: same") && text.contains("No region of both communicates."), "{text}");
}

fn reports() -> [Report; 2] {
    let base = example::report(4, example::ring);
    let mut new = example::report(8, example::halo);
    new.program.name = "lu_contiguous".to_string();
    for region in new.regions.iter_mut().chain([&mut new.program_total]) {
        let Some(counts) = region.counts.as_deref_mut() else { continue };
        let mut crd = example::crd(2);
        crd.distinct.buckets[2].count = 20.0;
        crd.distinct.count -= 160.0;
        (crd.distinct.median, crd.distinct.median_bytes) = (Some(2_000.0), Some(8_000.0));
        (crd.cutoffs[0].min_bytes, crd.cutoffs[0].no_miss, crd.cutoffs[0].definite_miss) = (16 << 10, 0.7, 0.1);
        counts.own.crd = Some(crd);
    }
    [base, new]
}

/// As in `pictures.rs`: `THREADTALK_BLESS=1` replaces the golden ones.
#[track_caller]
fn check(name: &str, picture: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("THREADTALK_BLESS").is_some() {
        std::fs::write(&path, picture).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == picture, "{name} changed; if that is meant, run with THREADTALK_BLESS=1 and look at it");
}

#[test]
fn the_pictures_are_as_they_were_looked_at() {
    let [base, mut new] = reports();
    let comparison = compare(&base, &new, &CompareOptions::default());
    let all = pictures(View { base: &base, new: &new, comparison: &comparison }, 9);
    let picture = |name: &str| &all.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1;
    check("compare-matrix.svg", picture("compare-matrix-0002-bmod.svg"));
    check("compare-crd.svg", picture("compare-crd-0002-bmod.svg"));
    // One side alone.
    let mut silent = base.clone();
    silent.regions[2].counts = None;
    let comparison = compare(&silent, &new, &CompareOptions::default());
    let all = pictures(View { base: &silent, new: &new, comparison: &comparison }, 9);
    let picture = |name: &str| &all.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1;
    check("compare-matrix-one-side.svg", picture("compare-matrix-0002-bmod.svg"));
    assert!(picture("compare-crd-0002-bmod.svg").contains("base: no distances"));
    // Without reuse there is nothing to divide by communication.
    for report in [&mut silent, &mut new] {
        report.regions[2].counts.as_mut().into_iter().for_each(|counts| counts.rar = Matrix::new(4, Vec::new()));
    }
    let comparison = compare(&silent, &new, &CompareOptions::default());
    let all = pictures(View { base: &silent, new: &new, comparison: &comparison }, 9);
    let picture = |name: &str| &all.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1;
    check("compare-matrix-no-reuse.svg", picture("compare-matrix-0002-bmod.svg"));
}

#[test]
fn names_are_never_markup() {
    let [mut base, mut new] = reports();
    for report in [&mut base, &mut new] {
        report.regions[4].counts = Some(Box::new(example::counts(4, example::ring)));
        report.program.meta.insert("arguments".to_string(), "./lu '<b>' & \"x\"".to_string());
    }
    let comparison = compare(&base, &new, &CompareOptions::default());
    let page = page(View { base: &base, new: &new, comparison: &comparison }, 9);
    assert!(!page.contains("<script") && !page.contains("<b>'"));
    assert!(page.contains("&lt;script&gt;") && page.contains("&lt;b&gt;"));
}
