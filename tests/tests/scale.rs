//! `threadtalk scale` on a real program: what grows with the border of a grid and what with its area.

use serde_json::Value;
use std::process::Command;
use threadtalk_tests::compile::{Compiler, compile_silently};
use threadtalk_tests::distribution::workspace;
use threadtalk_tests::execute::Run;
use threadtalk_tests::scene::Scene;

#[test]
fn borders_grow_with_the_side_and_results_with_the_area() {
    let scene = Scene::new();
    let source = workspace().join("benchmarks/kernels/jacobi.c");
    let program = scene.path("jacobi");
    compile_silently(scene.tool(), Compiler::Instrumented, &source, &program, &["-O2", "-fopenmp", "-lm"]);
    let mut arguments = vec!["scale", "--format", "json", "--hide-serial", "--by", "arg=4", "--caches", "32K,1M"];
    let files = ["256", "64", "128"].map(|n| (n, format!("{n}.ttp")));
    for (n, file) in &files {
        let mut command = Command::new(&program);
        command.args(["-t", "4", "-n", n, "-s", "6"]).current_dir(scene.path(""));
        command.env("THREADTALK_OUT", file).env("THREADTALK_OPTIONS", "quiet=1");
        let done = Run::new(command).finish().unwrap();
        assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
        arguments.push(file);
    }
    let done = scene.threadtalk(&arguments);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    let scaling: Value = serde_json::from_str(&done.stdout_text()).unwrap();
    assert_eq!((&scaling["sizes"], &scaling["axis"]), (&serde_json::json!([64.0, 128.0, 256.0]), &"argument 4".into()));
    let regions = scaling["regions"].as_array().unwrap();
    // The loop with most communication in each function.
    let largest = |name: &str| {
        let last = |region: &Value| region["raw"]["values"][2].as_f64().unwrap();
        let loops = regions.iter().filter(|r| r["name"] == name && r["kind"] == "loop");
        loops.max_by(|a, b| last(a).total_cmp(&last(b))).unwrap_or_else(|| panic!("no loop in {name}: {scaling}"))
    };
    let growth = |region: &Value, key: &str| {
        let values = region[key]["values"].as_array().unwrap();
        let values: Vec<f64> = values.iter().map(|value| value.as_f64().unwrap()).collect();
        (values[2] / values[1], region[key]["law"].clone())
    };
    // main reads the other threads' parts of the area once: (4 - 1) / 4 of n * n doubles.
    let (ratio, law) = growth(largest("main"), "raw");
    assert!((3.9..4.1).contains(&ratio), "{ratio}");
    assert_eq!((law["exponent"].as_f64(), law["log_exponent"].as_f64()), (Some(2.0), Some(0.0)), "{law}");
    // Each sweep reads the rows of the neighbours: twice the side, twice as much. Its distances are those of two rows.
    let sweep = largest("sweep");
    let (ratio, law) = growth(sweep, "raw");
    assert!((1.8..2.3).contains(&ratio), "{ratio}");
    assert!((0.75..=1.25).contains(&law["exponent"].as_f64().unwrap()), "{law}");
    let (ratio, _) = growth(sweep, "crd_median");
    assert!((1.6..2.5).contains(&ratio), "{ratio}");
    let crossings = sweep["crossings"].as_array().unwrap();
    let certain = crossings.iter().find(|c| c["level"] == 1 && c["cutoff"] == "max").unwrap();
    assert_eq!(certain["seen"], "predicted", "{crossings:?}");
    assert!(certain["at"].as_f64().unwrap() > 256.0, "{certain}");
}
