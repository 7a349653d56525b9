//! `threadtalk imbalance`: what it prints, draws and refuses.

mod support;
#[path = "support/unbalanced.rs"]
mod unbalanced;

use serde_json::Value;
use std::path::PathBuf;
use support::schema::assert_follows;
use support::{Scratch, assert_error, err, out};
use threadtalk_profile::write::Contents;

/// `work.ttp` with its source, `plain.ttp` without control flow, `none.ttp` without anything.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let source = scratch.file("work.c", &unbalanced::source());
    let file = source.to_str().unwrap();
    let write = |name: &str, contents: &Contents| std::fs::write(scratch.path(name), contents.encode()).unwrap();
    write("work.ttp", &unbalanced::contents(file, true));
    write("plain.ttp", &unbalanced::contents(file, false));
    write("none.ttp", &Contents::default());
    scratch
}

#[track_caller]
fn stdout(args: &[&str]) -> String {
    let output = scratch().tool().arg("imbalance").args(args).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    out(&output)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[&["--format", "json"], args].concat())).unwrap()
}

#[test]
fn json_follows_its_schema() {
    let documents = [
        json(&["work.ttp"]),
        json(&["work.ttp", "--by", "time", "--alpha", "raw", "--correlation", "0.8"]),
        json(&["work.ttp", "--by", "page-faults"]),
        json(&["plain.ttp"]),
        json(&["none.ttp"]),
    ];
    let changes = [
        ("/schema", Value::from("threadtalk.imbalance/2")),
        ("/dependent", Value::from("luck")),
        ("/sections/0/imbalance_percent", Value::from(-1)),
        ("/sections/0/causes/0/kind", Value::from("fate")),
        ("/regions/0/exclusive", Value::Null),
        ("/parallelism/blocks/0/class", Value::from("some")),
    ];
    assert_follows(threadtalk::imbalance::SCHEMA, &documents, &changes);
}

#[test]
fn the_branch_that_one_thread_takes_is_named() {
    let result = json(&["work.ttp"]);
    assert_eq!(result["dependent"], "work");
    let section = &result["sections"][0];
    assert_eq!((&section["kind"], &section["line"], &section["end_line"]), (&"barrier".into(), &30.into(), &16.into()));
    assert_eq!((&section["threads"], &section["instances"]), (&8.into(), &1.into()));
    let causes = section["causes"].as_array().unwrap();
    assert_eq!((&causes[0]["line"], &causes[0]["function"]), (&11.into(), &"work".into()));
    assert!(causes[0]["score"].as_f64().unwrap() > 0.999);
    assert_eq!(causes[0]["counts"].to_string(), "[0.0,0.0,1000.0,0.0,0.0,0.0,0.0,0.0]");
    assert_eq!(causes.iter().filter(|c| c["score"].as_f64().unwrap() > 0.1).count(), 1);
    // 4 + 1000 * (7 + 4) + 2 instructions, and 97 more for each branch taken.
    assert_eq!(section["values"][0], 11_006.0);
    assert_eq!(section["values"][2], 108_006.0);
    let blocks = result["parallelism"]["blocks"].as_array().unwrap();
    assert_eq!((&blocks[0]["class"], &blocks[1]["class"]), (&"serial".into(), &"parallel".into()));
    assert_eq!(blocks[3]["counts"].to_string(), "[0,0,0,0,0,0,0,0,1000]");
    assert_eq!(result["similarity"]["kinds"].to_string(), "[[1,2,4,5,6,7,8],[3]]");
    assert_eq!(result["regions"][2]["exclusive"]["cpu"]["max_thread"], 3);
}

#[test]
fn the_text_tells_one_story() {
    let text = stdout(&["work.ttp"]);
    for part in [
        "compared       executed instructions (work)",
        "barrier work.c:30 to 16 in main  (8 threads, 1 instance)",
        "1.00  work.c:11 in work  control flow, p < 1e-12  \u{b7}\u{b7}\u{2588}\u{b7}\u{b7}\u{b7}\u{b7}\u{b7}",
        ">    11          if (owner(i, thread) == 3) {",
        "kinds      {1, 2, 4-8} {3}",
        "loop in work work.c:10-15: 99.9 %, 9 threads on average; RaW 320, RaR 3.2k",
        "Imb. Time %",
        "dissimilarity severity: ",
        "CCCR: loop in work work.c:10-15",
        "Basic blocks by number of threads (nominal)",
        "2 of 5 parallel blocks make up 90 %",
        "barrier  work.c:16",
        "pictures and page: threadtalk imbalance work.ttp -o imbalance",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn without_control_flow_times_are_compared_and_one_line_tells_how_to_get_more() {
    let text = stdout(&["plain.ttp"]);
    let notes: Vec<&str> = text.lines().filter(|l| l.contains("--threadtalk=memory,control")).collect();
    assert_eq!(notes.len(), 1, "{text}");
    for part in ["CPU time of the threads", "no cause sought: compiled without control flow counters", "Imb. Time %"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(!text.contains("Basic blocks"));
    assert!(stdout(&["none.ttp"]).contains("No parallel section was recorded."));
}

#[test]
fn a_folder_gets_page_pictures_text_and_tables() {
    let scratch = scratch();
    let output = scratch.tool().args(["imbalance", "work.ttp", "-o", "made"]).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    let read = |name: &str| std::fs::read_to_string(scratch.path("made").join(name)).unwrap();
    let page = read("index.html");
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    for part in ["<mark>   11", "work.c:11", "Decision table", "Hot spots", "Call graph"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("http-equiv=\"refresh\"") && !page.contains("src=\"http"));
    let causes = read("causes.csv");
    assert_eq!(causes.lines().next().unwrap().split(',').count(), causes.lines().nth(1).unwrap().split(',').count());
    assert!(causes.contains(",control-flow,,") && read("imbalance.csv").contains(",exclusive,cpu,"));
    assert!(read("blocks.csv").contains(",parallel,9,1000"));
    assert!(read("imbalance.txt").contains("work.c:11"));
    for picture in ["section-1", "calls", "blocks-by-functions", "blocks-by-lines", "hot-spots"] {
        assert!(read(&format!("imbalance-{picture}.svg")).contains("</svg>"), "{picture}");
    }
}

#[test]
fn the_report_has_the_imbalance_too() {
    let scratch = scratch();
    let report = |file: &str| out(&scratch.tool().args(["report", file, "--format", "html"]).output().unwrap());
    assert!(report("work.ttp").contains("Imbalance: parallel sections"));
    assert!(!report("none.ttp").contains("Imbalance: parallel sections"));
}

#[test]
fn what_the_kernel_counted_can_be_compared() {
    let result = json(&["work.ttp", "--by", "page-faults"]);
    assert_eq!(result["dependent"], "page-faults");
    let values: Vec<f64> =
        result["sections"][0]["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(values.iter().filter(|v| **v == 900.0).count(), 1, "{values:?}");
    assert_eq!(values.iter().filter(|v| **v == 100.0).count(), values.len() - 1, "{values:?}");
    // The same thread, so the same branch.
    assert_eq!(result["sections"][0]["causes"][0]["line"], json(&["work.ttp"])["sections"][0]["causes"][0]["line"]);
    assert_eq!(result["counters"]["page-faults"]["max"], 900.0);
    let text = stdout(&["work.ttp", "--by", "page-faults"]);
    assert!(text.contains("page-faults, as the processor or the kernel counted them"), "{text}");
    assert!(text.contains("Counted by the processor and the kernel (per thread, the whole run)"), "{text}");
}

#[test]
fn mistakes_are_one_line_each() {
    let run = |args: &[&str]| scratch().tool().arg("imbalance").args(args).output().unwrap();
    assert_error(&run(&["plain.ttp", "--by", "work"]), 2, &["--by work", "--threadtalk=memory,control"]);
    let missing = ["no counts of cache-misses", "--by cache-misses", "THREADTALK_OPTIONS=counters=cache-misses"];
    assert_error(&run(&["work.ttp", "--by", "cache-misses"]), 2, &missing);
    assert_error(&run(&["none.ttp", "--format", "svg"]), 1, &["no parallel section to draw", "threadtalk imbalance"]);
    assert_error(&run(&["work.ttp", "--correlation", "2"]), 2, &["--correlation", "0 to 1"]);
    assert_error(&run(&["work.ttp", "-f", "csv", "-f", "json"]), 2, &["several formats"]);
    assert_error(&run(&["missing.ttp"]), 1, &["missing.ttp"]);
}

#[track_caller]
fn golden(name: &str, picture: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("THREADTALK_BLESS").is_some() {
        std::fs::write(&path, picture).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == picture, "{name} changed; if that is meant, run with THREADTALK_BLESS=1 and look at it");
}

#[test]
fn pictures_are_as_they_were() {
    let scratch = scratch();
    let output = scratch.tool().args(["imbalance", "work.ttp", "-o", "made", "-f", "svg"]).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    for name in ["section-1", "calls", "blocks-by-functions", "blocks-by-lines", "hot-spots"] {
        let name = format!("imbalance-{name}.svg");
        golden(&name, &std::fs::read_to_string(scratch.path("made").join(&name)).unwrap());
    }
}
