//! `threadtalk scale` on profiles: what it computes, draws and refuses.

mod support;
#[path = "support/synthetic.rs"]
mod synthetic;

use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;
use support::schema::assert_follows;
use support::{Scratch, assert_error, err, out};
use threadtalk_profile::Histogram;

/// `64.ttp` to `1024.ttp`: communication grows with n, its distances with n squared; `wide.ttp` has 8 threads;
/// `far.ttp` no distances.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for n in [64u64, 128, 256, 512, 1024] {
        let mut contents = synthetic::contents(4, 0);
        for event in &mut contents.events {
            (event.raw, event.rar) = (n, n * n);
        }
        for trace in &mut contents.traces {
            let near = |i: u64| i % 10 < 6;
            trace.distinct = Histogram::of((0..1000).map(|i| if near(i) { n * n / 64 } else { n * n / 16 }));
        }
        for private in &mut contents.private_bytes {
            private.bytes = 16 * n;
        }
        let arguments = ("arguments".to_string(), format!("./solver\u{1f}-v\u{1f}-n{n}"));
        contents.meta.retain(|(key, _)| key != "arguments");
        contents.meta.push(arguments);
        std::fs::write(scratch.path(&format!("{n}.ttp")), contents.encode()).unwrap();
    }
    std::fs::write(scratch.path("wide.ttp"), synthetic::contents(8, 0).encode()).unwrap();
    scratch
}

const FIVE: [&str; 5] = ["64.ttp", "128.ttp", "256.ttp", "512.ttp", "1024.ttp"];

fn run(args: &[&str]) -> Output {
    scratch().tool().arg("scale").args(args).output().unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{}", err(&output));
    out(&output)
}

fn five(args: &[&str]) -> String {
    stdout(&[&FIVE[..], &["--caches", "32K,256K", "--by", "arg=2"], args].concat())
}

#[test]
fn json_follows_its_schema() {
    let parsed = |text: String| -> Value { serde_json::from_str(&text).unwrap() };
    let documents = [
        parsed(five(&["-f", "json"])),
        parsed(stdout(&["64.ttp", "wide.ttp", "-f", "json", "--caches", "1K"])),
        parsed(stdout(&["64.ttp", "128.ttp", "256.ttp", "-f", "json", "--sizes", "1,2.5,3"])),
    ];
    assert_eq!(documents[1]["axis"], "threads");
    assert_eq!(documents[1]["sizes"], serde_json::json!([4.0, 8.0]));
    assert_eq!(documents[2]["sizes"], serde_json::json!([1.0, 2.5, 3.0]));
    let changes = [
        ("/schema", Value::from("threadtalk.scale/2")),
        ("/sizes/0", Value::from(0)),
        ("/total/raw/law/method", Value::from("guessed")),
        ("/regions/0/crossings/0/seen", Value::from("maybe")),
        ("/regions/0/crossings/0/level", Value::from(0)),
        ("/regions/0/cutoffs/0/min_bytes/0", Value::from(-1)),
    ];
    assert_follows(threadtalk::scale::SCHEMA, &documents, &changes);
}

#[test]
fn growth_and_crossings() {
    let scaling: Value = serde_json::from_str(&five(&["-f", "json"])).unwrap();
    assert_eq!((&scaling["axis"], &scaling["sizes"][2]), (&Value::from("argument 2"), &Value::from(256.0)));
    let update = &scaling["regions"][0];
    assert_eq!(update["name"], "solver::update(int)");
    let exponent = |key: &str| update[key]["law"]["exponent"].as_f64().unwrap();
    assert_eq!((exponent("raw"), exponent("rar"), exponent("crd_median")), (1.0, 2.0, 2.0));
    // n * n / 64 elements of 4 bytes are 32 KiB at 724 and 256 KiB at 2048.
    for (level, seen, at) in [(1, "measured", 724.0), (2, "predicted", 2048.0)] {
        let crossings = update["crossings"].as_array().unwrap();
        let found = crossings.iter().find(|c| c["level"] == level && c["cutoff"] == "max").unwrap();
        assert_eq!(found["seen"], seen);
        assert!((found["at"].as_f64().unwrap() / at - 1.0).abs() < 0.05, "{found}");
    }
}

#[test]
fn the_text_says_what_grows_and_when_it_hurts() {
    let text = five(&[]);
    for words in [
        "program   solver",
        "argument 2: 64, 128, 256, 512, 1.02k",
        "Program (all events)",
        "median CRD",
        "~ n^2 (error ",
        "Regions, those that outgrow the caches first in front",
        "(predicted)",
        "loop in solver::update(int)",
        "solver.c:14",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let two = stdout(&["64.ttp", "128.ttp", "--sizes", "64,128"]);
    assert!(two.contains("~ n (two points)") && two.contains("two profiles give an exponent"), "{two}");
}

/// `THREADTALK_BLESS=1` replaces the golden picture: look at the new one.
#[test]
fn the_picture_is_golden() {
    let picture = five(&["-f", "svg"]);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/scale.svg");
    if std::env::var_os("THREADTALK_BLESS").is_some() {
        std::fs::write(&path, &picture).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == picture, "scale.svg changed; if that is meant, run with THREADTALK_BLESS=1 and look at it");
}

#[test]
fn a_folder_has_all_of_it() {
    let scratch = scratch();
    let args = [&["scale"], &FIVE[..], &["--by", "arg=2", "--caches", "32K,256K", "-o", "out"]].concat();
    let output = scratch.tool().args(args).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    for name in ["scale.txt", "scale.json", "scale-program.svg"] {
        assert!(scratch.path("out").join(name).is_file(), "{name}: {}", out(&output));
    }
    assert!(out(&output).contains("pictures)"), "{}", out(&output));
}

#[test]
fn mistakes_are_named() {
    let fails = |args: &[&str], status, words: &[&str]| assert_error(&run(args), status, words);
    fails(&["64.ttp"], 2, &["one profile shows no growth: the profiles; name two or more, of different sizes"]);
    fails(&["64.ttp", "128.ttp"], 2, &["two profiles have the size 4: the profiles; keep one of them, or state what"]);
    fails(&["64.ttp", "128.ttp", "--sizes", "1"], 2, &["1 sizes for 2 profiles: --sizes; state one for each"]);
    fails(&["64.ttp", "128.ttp", "--sizes", "1,x"], 2, &["invalid value 'x' for '--sizes"]);
    fails(&["64.ttp", "128.ttp", "--by", "moon"], 2, &["invalid value 'moon'", "write threads, or arg=N"]);
    fails(&["64.ttp", "128.ttp", "--by", "arg=0"], 2, &["invalid value 'arg=0'"]);
    fails(
        &["64.ttp", "128.ttp", "--by", "arg=1"],
        2,
        &["argument 1 of the program is no number (`-v`): 64.ttp; state the sizes with --sizes"],
    );
    fails(&["64.ttp", "128.ttp", "--by", "arg=9"], 2, &["argument 9 of the program is no number (``)"]);
    fails(&["64.ttp", "none.ttp", "--sizes", "1,2"], 1, &["none.ttp cannot be read"]);
    fails(&["64.ttp", "wide.ttp", "-f", "svg", "-f", "json"], 2, &["several formats: --format"]);
}
