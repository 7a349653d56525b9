//! One test for each program of `programs/suggest/`: a rule must speak of it (`// SUGGEST: RULE`), or must not (`//
//! REFUSE: RULE`).
//!
//! More lines: `// OBJECT: NAME` is among the objects with communication, or the object that is shared falsely; `//
//! KIND: KIND` is its kind; `// SAYS: TEXT` is part of what is suggested; `// TEXT: TEXT` is part of the report as a
//! text; `// CACHES: SPEC` goes to `--caches`; `// THREADTALK: PARTS` says what is compiled in.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use threadtalk_tests::compile::{Compiler, compile_silently};
use threadtalk_tests::distribution::programs;
use threadtalk_tests::scene::Scene;

fn main() {
    let entries = std::fs::read_dir(programs().join("suggest")).expect("the folder of programs can be read");
    let mut sources: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sources.sort();
    let trials = sources.into_iter().flat_map(|source| {
        ["-O2", "-O3"].map(|level| {
            let source = source.clone();
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            Trial::test(format!("{name}::{level}"), move || check(&source, level).map_err(Failed::from))
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

/// The value of a comment line.
fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn check(source: &Path, level: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
    let scene = Scene::new();
    let parts = format!("--threadtalk={}", line(&text, "THREADTALK").unwrap_or("memory"));
    compile_silently(
        scene.tool(),
        Compiler::Instrumented,
        source,
        &scene.path("program"),
        &["-fopenmp", level, &parts],
    );
    let done = scene.profile("a.ttp");
    if !done.status.success() {
        return Err(format!("the program: {}: {}", done.ending(), done.stderr_text()));
    }
    let caches = line(&text, "CACHES").unwrap_or("48K,1M");
    let report = scene.threadtalk(&["report", "a.ttp", "--format", "json", "--caches", caches]);
    let report: Value = serde_json::from_slice(&report.stdout).map_err(|e| format!("{e}: {}", report.stderr_text()))?;
    let regions = report["regions"].as_array().ok_or("no regions")?;
    let suggestions = || regions.iter().flat_map(|r| r["suggestions"].as_array().into_iter().flatten());
    let rules: Vec<&str> = suggestions().filter_map(|s| s["rule"].as_str()).collect();
    match (line(&text, "SUGGEST"), line(&text, "REFUSE")) {
        (Some(rule), None) => {
            let found = suggestions().find(|s| s["rule"] == rule).ok_or(format!("no {rule} among {rules:?}"))?;
            let about = found["lines"].as_array().map_or(0, Vec::len);
            let numbers = found["evidence"].as_object().map_or(0, serde_json::Map::len);
            if about == 0 || numbers == 0 {
                return Err(format!("neither lines nor evidence: {found}"));
            }
            let says = line(&text, "SAYS").unwrap_or_default();
            if !found["text"].as_str().is_some_and(|text| text.contains(says)) {
                return Err(format!("it does not say \"{says}\": {found}"));
            }
        }
        (None, Some(rule)) if rules.contains(&rule) => {
            return Err(format!("{rule} should not be suggested: {rules:?}"));
        }
        (None, Some(_)) => {}
        _ => return Err("the program says neither what must be suggested nor what must not".into()),
    }
    if let Some(part) = line(&text, "TEXT") {
        let report = scene.threadtalk(&["report", "a.ttp"]).stdout;
        let report = String::from_utf8_lossy(&report);
        let words: Vec<&str> = report.split_whitespace().collect();
        if !words.join(" ").contains(part) {
            return Err(format!("the text does not say \"{part}\":\n{report}"));
        }
    }
    match line(&text, "OBJECT") {
        Some(name) => object(&report, regions, name, line(&text, "KIND")),
        None => Ok(()),
    }
}

fn object(report: &Value, regions: &[Value], name: &str, kind: Option<&str>) -> Result<(), String> {
    let objects = report["program_total"]["objects"].as_array().map_or(&[][..], Vec::as_slice);
    let shared = regions.iter().flat_map(|r| r["false_sharing"].as_array().into_iter().flatten());
    let is_first = objects.first().is_some_and(|o| o["name"] == name && kind.is_none_or(|kind| o["kind"] == kind));
    if is_first || shared.into_iter().any(|f| f["object"] == name) {
        return Ok(());
    }
    Err(format!("{name} is not the object with the most communication: {objects:?}"))
}
