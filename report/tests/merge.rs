//! `threadtalk merge`: what it writes, what it says, and what it refuses.

mod support;
#[path = "support/synthetic.rs"]
mod synthetic;

use support::{Scratch, assert_error, err, out};
use threadtalk_profile::Profile;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("a.ttp"), synthetic::profile(2)).unwrap();
    std::fs::write(scratch.path("b.ttp"), synthetic::profile(4)).unwrap();
    scratch
}

fn totals(scratch: &Scratch, file: &str) -> (u64, u64) {
    let events = Profile::open(scratch.path(file)).unwrap().events().collect::<Vec<_>>();
    (events.iter().map(|e| e.raw).sum(), events.iter().map(|e| e.rar).sum())
}

#[test]
fn ranks_stand_side_by_side() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().args(args).output().unwrap();
    let output = run(&["merge", "a.ttp", "b.ttp", "-o", "m.ttp"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).starts_with("m.ttp: 2 ranks, 6 threads, "), "{}", out(&output));
    let (a, b) = (totals(&scratch, "a.ttp"), totals(&scratch, "b.ttp"));
    assert_eq!(totals(&scratch, "m.ttp"), (a.0 + b.0, a.1 + b.1));
    let text = out(&run(&["report", "m.ttp"]));
    assert!(text.contains("solver  (2 ranks, ended normally"), "{text}");
    assert!(text.contains("merged         r0 a.ttp, r1 b.ttp\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&out(&run(&["report", "m.ttp", "-f", "json"]))).unwrap();
    let names: Vec<_> = json["threads"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["r0 main", "r0 worker 1", "r1 main", "r1 worker 1", "r1 worker 2", "r1 worker 3"]);
    assert!(out(&run(&["report", "m.ttp", "-f", "svg"])).contains("2 r1 main"));
    // What was merged may be merged again, and an earlier result may be replaced.
    assert!(run(&["merge", "m.ttp", "a.ttp", "-o", "n.ttp"]).status.success());
    assert!(run(&["merge", "m.ttp", "b.ttp", "-o", "n.ttp"]).status.success());
    assert!(out(&run(&["report", "n.ttp", "-f", "json"])).contains("r0 r1 worker 3"));
    assert!(out(&run(&["validate", "n.ttp"])).contains("valid"));
}

#[test]
fn runs_add_up() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().args(args).output().unwrap();
    let output = run(&["merge", "--sum", "b.ttp", "b.ttp", "a.ttp", "-o", "m.ttp"]);
    assert!(out(&output).starts_with("m.ttp: 3 runs, 4 threads, "), "{}{}", out(&output), err(&output));
    let (a, b) = (totals(&scratch, "a.ttp"), totals(&scratch, "b.ttp"));
    assert_eq!(totals(&scratch, "m.ttp"), (a.0 + 2 * b.0, a.1 + 2 * b.1));
    let text = out(&run(&["report", "m.ttp"]));
    assert!(text.contains("3 runs added up") && text.contains("from b.ttp ... a.ttp\n"), "{text}");
}

#[test]
fn what_is_refused() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().arg("merge").args(args).output().unwrap();
    scratch.file("notes.txt", "mine");
    assert_error(&run(&["a.ttp"]), 2, &["missing argument: --output <FILE>"]);
    assert_error(&run(&["-o", "m.ttp"]), 2, &["missing argument: <FILES>..."]);
    assert_error(&run(&["a.ttp", "notes.txt", "-o", "m.ttp"]), 1, &["notes.txt is not a threadtalk profile"]);
    assert_error(&run(&["a.ttp", "c.ttp", "-o", "m.ttp"]), 1, &["c.ttp cannot be read: No such file"]);
    assert!(!scratch.path("m.ttp").exists());
    assert_error(
        &run(&["a.ttp", "b.ttp", "-o", "./b.ttp"]),
        2,
        &["the output is one of the profiles: b.ttp; choose another name with -o"],
    );
    assert_error(
        &run(&["a.ttp", "-o", "notes.txt"]),
        1,
        &["cannot write: notes.txt; threadtalk did not write this file: choose another name, or pass --force"],
    );
    assert_eq!(std::fs::read_to_string(scratch.path("notes.txt")).unwrap(), "mine");
    assert_error(&run(&["a.ttp", "-o", "no/m.ttp"]), 1, &["cannot write: no/m.ttp; there is no such file or folder"]);
    assert_error(&run(&["a.ttp", "-o", "lib"]), 1, &["cannot write: lib; it is a folder"]);
    assert!(run(&["a.ttp", "-o", "notes.txt", "--force"]).status.success());
    let mut other = synthetic::contents(2, 0);
    other.header.granule = 8;
    std::fs::write(scratch.path("wide.ttp"), other.encode()).unwrap();
    assert_error(&run(&["a.ttp", "wide.ttp", "-o", "m.ttp"]), 1, &["cannot merge: a.ttp counts elements of 4 bytes"]);
}
