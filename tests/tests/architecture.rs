//! The direction of the dependencies between the crates of the workspace, read from `cargo metadata`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use threadtalk_tests::distribution::workspace;

/// Names of all packages that each package of the workspace depends on, directly or not, without dev-dependencies.
struct Graph {
    reaches: BTreeMap<String, BTreeSet<String>>,
    direct: BTreeMap<String, BTreeSet<String>>,
}

fn graph() -> Graph {
    let done = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(workspace())
        .output()
        .expect("cargo can be started");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let metadata: Value = serde_json::from_slice(&done.stdout).unwrap();
    let names: BTreeMap<&str, &str> =
        list(&metadata["packages"]).iter().map(|p| (p["id"].as_str().unwrap(), p["name"].as_str().unwrap())).collect();
    let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let linked = list(&node["deps"]).iter().filter(|d| list(&d["dep_kinds"]).iter().any(|k| k["kind"].is_null()));
        edges.insert(node["id"].as_str().unwrap(), linked.map(|d| d["pkg"].as_str().unwrap()).collect());
    }
    let mut reaches = BTreeMap::new();
    let mut direct = BTreeMap::new();
    for member in list(&metadata["workspace_members"]) {
        let member = member.as_str().unwrap();
        let mut seen = BTreeSet::new();
        let mut open = edges[member].clone();
        while let Some(id) = open.pop() {
            if seen.insert(names[id].to_owned()) {
                open.extend(&edges[id]);
            }
        }
        direct.insert(names[member].to_owned(), edges[member].iter().map(|id| names[id].to_owned()).collect());
        reaches.insert(names[member].to_owned(), seen);
    }
    Graph { reaches, direct }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Graph {
    fn never(&self, from: &str, to: &[&str]) {
        for to in to {
            assert!(!self.reaches[from].contains(*to), "{from} must not depend on {to}");
        }
    }

    fn of_workspace(&self, from: &str) -> Vec<&str> {
        self.reaches[from].iter().map(String::as_str).filter(|n| self.reaches.contains_key(*n)).collect()
    }
}

#[test]
fn the_contracts_depend_on_nothing_above_them() {
    let graph = graph();
    assert!(graph.reaches["threadtalk-abi"].is_empty(), "{:?}", graph.reaches["threadtalk-abi"]);
    assert_eq!(graph.of_workspace("threadtalk-profile"), ["threadtalk-abi"]);
    assert_eq!(graph.of_workspace("threadtalk-instrument"), ["threadtalk-abi"]);
}

#[test]
fn the_pass_and_the_runtime_never_meet() {
    let graph = graph();
    let above = ["threadtalk-crd", "threadtalk", "clap", "plotters"];
    graph.never("threadtalk-instrument", &["threadtalk-runtime", "threadtalk-sigmem", "threadtalk-profile"]);
    graph.never("threadtalk-instrument", &above);
    graph.never("threadtalk-runtime", &["threadtalk-instrument", "inkwell", "llvm-sys", "serde", "serde_json"]);
    graph.never("threadtalk-runtime", &above);
}

#[test]
fn the_signature_knows_neither_files_nor_the_c_library() {
    graph().never("threadtalk-sigmem", &["libc", "rustix", "memmap2", "threadtalk-profile", "threadtalk-runtime"]);
}

#[test]
fn the_analysis_has_no_compiler_no_runtime_and_no_pictures() {
    let graph = graph();
    graph.never("threadtalk-crd", &["threadtalk-runtime", "threadtalk-sigmem", "threadtalk-instrument"]);
    graph.never("threadtalk-crd", &["inkwell", "llvm-sys", "clap", "plotters"]);
}

#[test]
fn only_the_command_line_has_clap_and_figures() {
    let graph = graph();
    for (member, direct) in &graph.direct {
        for heavy in ["clap", "plotters"] {
            let allowed = matches!(member.as_str(), "threadtalk" | "threadtalk-benchmarks");
            assert!(allowed || !direct.contains(heavy), "{member} must not depend on {heavy}");
        }
    }
    assert!(graph.direct["threadtalk"].contains("clap"));
}

#[test]
fn what_is_linked_into_programs_has_no_standard_library() {
    for file in ["runtime/abi/src/lib.rs", "sigmem/src/lib.rs", "runtime/src/lib.rs", "runtime/archive/src/lib.rs"] {
        let text = std::fs::read_to_string(workspace().join(file)).unwrap();
        // `cfg_attr(not(test), no_std)` leaves the standard library to the unit tests only.
        assert!(text.contains("no_std"), "{file} is not no_std");
    }
}

#[test]
fn the_analysis_forbids_unsafe_code() {
    let text = std::fs::read_to_string(workspace().join("crd/src/lib.rs")).unwrap();
    assert!(text.contains("#![forbid(unsafe_code)]"));
}

/// rustfmt keeps code within 120 columns and leaves comments as they are. A row of a table is one line however long.
#[test]
fn comments_keep_to_120_columns() {
    let mut open = vec![workspace()];
    let (mut files, mut long) = (0, Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                open.push(path);
            } else if name.ends_with(".rs") {
                files += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text.lines().zip(1..).filter(|(line, _)| is_prose(line) && line.chars().count() > 120);
                long.extend(lines.map(|(_, at)| format!("{}:{at}", path.display())));
            }
        }
    }
    assert!(files > 100 && long.is_empty(), "{files} files: {long:#?}");
}

fn is_prose(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") && !line.trim_start_matches(['/', '!', ' ']).starts_with('|')
}
