//! Every error that a user can provoke: one line that says what, where and what to do.

mod support;
#[path = "support/synthetic.rs"]
mod synthetic;

use std::process::Stdio;
use support::{Scratch, assert_error, err, out};

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("solver.ttp"), synthetic::profile(4)).unwrap();
    scratch
}

#[track_caller]
fn fails(args: &[&str], status: i32, words: &[&str]) {
    let output = scratch().tool().args(args).output().unwrap();
    assert_error(&output, status, words);
}

#[test]
fn mistakes_in_the_command_line() {
    fails(&["frobnicate"], 2, &["no such command: frobnicate; usage: threadtalk"]);
    fails(&["reprot", "solver.ttp"], 2, &["no such command: reprot; did you mean 'report'?"]);
    fails(&["report"], 2, &["missing argument: <FILE>; usage: threadtalk report"]);
    fails(&["report", "solver.ttp", "--frmat", "json"], 2, &["unknown argument: --frmat; did you mean '--format'?"]);
    fails(
        &["report", "solver.ttp", "--format", "pdf"],
        2,
        &["invalid value 'pdf'", "choose one of: text html svg json csv"],
    );
    fails(&["report", "solver.ttp", "--top", "0"], 2, &["invalid value '0' for '--top <N>'"]);
    fails(&["report", "solver.ttp", "--caches", "big"], 2, &["cache description not understood", ": big; write sizes"]);
    fails(
        &["report", "solver.ttp", "--region", "nowhere"],
        2,
        &["no region matches: nowhere; see threadtalk report FILE"],
    );
    fails(
        &["report", "solver.ttp", "-f", "json", "-f", "csv"],
        2,
        &["several formats: --format; name a folder with -o"],
    );
    let threshold = |setting| ["report", "solver.ttp", "--threshold", setting];
    let not_understood = |reason: &str| format!("threshold not understood ({reason}");
    for (setting, reason) in [
        ("region.events", "it is not of the form RULE.NAME=VALUE)"),
        ("region.colour=5", "there is no threshold region.colour; there are region.events, "),
        ("region.events=many", "many is no number from 0 on)"),
    ] {
        fails(&threshold(setting), 2, &[&not_understood(reason), setting]);
    }
    fails(&["print", "nonsense"], 2, &["invalid value 'nonsense'", "choose one of: plugin ldflags cflags include"]);
    fails(&["completions", "cmd"], 2, &["invalid value 'cmd'", "bash"]);
    fails(&[], 2, &["no command: command line; "]);
}

#[test]
fn profiles_that_are_none() {
    let scratch = scratch();
    scratch.file("empty.ttp", "");
    scratch.file("foreign.ttp", "GIF89a and then a lot of other things that are no profile");
    let whole = synthetic::profile(4);
    std::fs::write(scratch.path("cut.ttp"), &whole[..whole.len() / 2]).unwrap();
    let mut newer = whole;
    newer[8] = 99;
    std::fs::write(scratch.path("newer.ttp"), newer).unwrap();
    for command in ["report", "dump", "validate"] {
        let run = |file: &str| scratch.tool().args([command, file]).output().unwrap();
        assert_error(&run("missing.ttp"), 1, &["missing.ttp cannot be read: No such file"]);
        assert_error(&run("empty.ttp"), 1, &["empty.ttp is empty: ", "run it again"]);
        assert_error(&run("foreign.ttp"), 1, &["foreign.ttp is not a threadtalk profile"]);
        assert_error(&run("cut.ttp"), 1, &["cut.ttp is truncated: ", "copy it again"]);
        assert_error(&run("newer.ttp"), 1, &["newer.ttp has format version 99, which is too new"]);
        assert_error(&run("."), 1, &["threadtalk: . is not a threadtalk profile"]);
    }
}

#[test]
fn folders_that_cannot_be_written() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().args(["report", "solver.ttp"]).args(args).output().unwrap();
    scratch.file("file", "");
    assert_error(&run(&["-o", "file"]), 1, &["cannot create the folder: file; it exists already"]);
    assert_error(
        &run(&["-o", "file/below"]),
        1,
        &["cannot create the folder: file/below; a part of its path is a file"],
    );
    scratch.file("mine/index.html", "my own page");
    assert_error(&run(&["-o", "mine"]), 1, &["cannot write: mine/index.html; no report wrote this file: ", "--force"]);
    assert_eq!(std::fs::read_to_string(scratch.path("mine/index.html")).unwrap(), "my own page");
    assert!(!scratch.path("mine/report.json").exists(), "nothing is written after a refusal");
    assert!(run(&["-o", "mine", "--force"]).status.success());
    assert!(std::fs::read_to_string(scratch.path("mine/index.html")).unwrap().contains("<!DOCTYPE html>"));
}

#[test]
fn an_earlier_report_is_replaced_and_nothing_else() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().args(["report", "solver.ttp", "-o", "r"]).args(args).output().unwrap();
    assert!(run(&[]).status.success());
    scratch.file("r/notes.txt", "mine");
    scratch.file("elsewhere.txt", "mine");
    assert!(scratch.path("r/crd-program.svg").exists());
    // A manifest that somebody edited removes nothing outside.
    let manifest = std::fs::read_to_string(scratch.path("r/.threadtalk-report")).unwrap();
    scratch.file("r/.threadtalk-report", &format!("{manifest}../elsewhere.txt\n"));
    assert!(run(&["--format", "json"]).status.success());
    assert!(!scratch.path("r/crd-program.svg").exists(), "stale pictures mislead");
    assert!(scratch.path("r/notes.txt").exists() && scratch.path("r/report.json").exists());
    assert!(scratch.path("elsewhere.txt").exists());
}

#[test]
fn a_profile_without_communication_cannot_be_drawn() {
    let scratch = scratch();
    let mut contents = synthetic::contents(1, 0);
    contents.events.clear();
    contents.traces.clear();
    std::fs::write(scratch.path("one.ttp"), contents.encode()).unwrap();
    let output = scratch.tool().args(["report", "one.ttp", "--format", "svg"]).output().unwrap();
    assert_error(&output, 1, &["no communication to draw: solver; see `threadtalk report FILE`"]);
    let text = out(&scratch.tool().args(["report", "one.ttp"]).output().unwrap());
    assert!(text.contains("only one thread ran"), "{text}");
    let output = scratch.tool().args(["report", "one.ttp", "-o", "r"]).output().unwrap();
    assert!(output.status.success() && scratch.path("r/index.html").exists(), "{}", err(&output));
}

#[test]
fn a_reader_that_leaves_is_no_error_to_speak_of() {
    let scratch = Scratch::new();
    // More than a pipe holds, so that the write meets the closed end.
    std::fs::write(scratch.path("large.ttp"), synthetic::contents(64, 400).encode()).unwrap();
    let mut child = scratch
        .tool()
        .args(["report", "large.ttp", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), err(&output)), (Some(141), String::new()));
}

#[test]
fn a_full_disk_is_told() {
    let output = scratch()
        .tool()
        .args(["report", "solver.ttp"])
        .stdout(std::fs::File::create("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_error(&output, 1, &["cannot write: standard output; the disk is full"]);
}

#[test]
fn what_a_build_needs_is_printed() {
    let scratch = scratch();
    let print = |what: &str| out(&scratch.tool().args(["print", what]).output().unwrap());
    assert!(print("plugin").ends_with("/lib/threadtalk/libthreadtalk_pass.so\n"));
    assert!(print("cflags").starts_with("-fpass-plugin="));
    assert!(print("ldflags").contains("libthreadtalk_rt.a -Xlinker --no-whole-archive"));
    assert!(print("include").trim_end().ends_with("include/") || print("include").trim_end().ends_with("include"));
    std::fs::remove_file(scratch.path("include/threadtalk.h")).unwrap();
    let output = scratch.tool().args(["print", "include"]).output().unwrap();
    assert_error(&output, 1, &["header not found: ", "include/threadtalk.h; build it with scripts/build.sh"]);
}

#[test]
fn the_doctor_names_what_is_missing() {
    let scratch = scratch();
    let output = scratch.tool().args(["doctor"]).output().unwrap();
    // The plugin of the scratch installation is an empty file, which the fake compiler refuses.
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("MISSING  plugin loads"), "{}", out(&output));
    std::fs::remove_file(scratch.path("lib/threadtalk/libthreadtalk_rt.a")).unwrap();
    let text = out(&scratch.tool().args(["doctor"]).output().unwrap());
    assert!(text.contains("MISSING  runtime library") && text.contains("scripts/build.sh"), "{text}");
    assert!(text.contains("ok       C compiler"), "{text}");
}

#[test]
fn help_and_completions_come_on_standard_output() {
    let scratch = scratch();
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["report", "--help"],
        &["--version"],
        &["completions", "bash"],
        &["completions", "zsh"],
    ] {
        let output = scratch.tool().args(args).output().unwrap();
        assert!(output.status.success() && err(&output).is_empty() && out(&output).contains("threadtalk"), "{args:?}");
    }
}
