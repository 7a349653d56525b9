//! Sampled reuse distances against exact ones, in programs whose distances are known.

use serde_json::Value;
use threadtalk_tests::scene::Scene;

/// The reuse distances of the whole program.
fn distances(scene: &Scene, crd: &str) -> Value {
    let profile = format!("{crd}.ttp");
    let done = scene.threadtalk(&["run", "--quiet", "--crd", crd, "-o", &profile, "--", "./program"]);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    let report = scene.threadtalk(&["report", &profile, "--format", "json"]).stdout_text();
    let report: Value = serde_json::from_str(&report).unwrap();
    report["program_total"]["crd"].clone()
}

/// Median, p90 and p99.
fn quantiles(crd: &Value) -> [f64; 3] {
    ["median", "p90", "p99"].map(|name| crd[name].as_f64().unwrap_or_else(|| panic!("{crd:#}")))
}

/// Of 1 070 000 usages 320 000 are 7 999 elements apart, the others 2 999: times of one trace are no mixture.
#[test]
fn times_with_other_distances_are_told_apart() {
    let scene = Scene::with("two_distances.c", &["-pthread"]);
    let expected = [2999.0, 7999.0, 7999.0];
    for crd in ["exact", "auto"] {
        let found = quantiles(&distances(&scene, crd));
        for (found, expected) in found.iter().zip(expected) {
            // Half of the bound for sampled distances: a bucket is 6 % wide.
            assert!((found / expected - 1.0f64).abs() < 0.075, "{crd}: {found} for {expected}");
        }
    }
}

/// Loops over structures that are counted as a whole: samples begin and end inside of them. Each element that the
/// thread reads it reads again in the next round, after all the others: 700 of each of three writers.
#[test]
fn distances_are_found_in_loops_that_are_counted_as_a_whole() {
    let scene = Scene::with("../regions/array_of_structures.c", &["-O2", "-pthread"]);
    for crd in ["exact", "auto"] {
        for found in quantiles(&distances(&scene, crd)) {
            assert!((found / 699.0 - 1.0f64).abs() < 0.075, "{crd}: {found}");
        }
    }
}

/// The same of what a loop reads in each iteration: each of ten granules after the nine others.
#[test]
fn distances_are_found_of_what_a_loop_reads_in_each_iteration() {
    let scene = Scene::with("../regions/factors.c", &["-O2", "-fno-vectorize", "-pthread"]);
    for crd in ["exact", "auto"] {
        for found in quantiles(&distances(&scene, crd)) {
            assert!((found / 9.0 - 1.0f64).abs() < 0.075, "{crd}: {found}");
        }
    }
}

/// Each of 24 readers reads its 4 096 elements 36 times, one after the other, of values that are opened.
#[test]
fn distances_are_found_where_readers_keep_to_themselves_what_they_have_read() {
    let scene = Scene::with("../communication/gather_by_many.c", &["-O2", "-pthread"]);
    for crd in ["exact", "auto"] {
        let found = distances(&scene, crd);
        if crd == "exact" {
            assert_eq!(found["count"].as_f64(), Some(24.0 * 35.0 * 4096.0));
        }
        for found in quantiles(&found) {
            assert!((found / 4095.0 - 1.0f64).abs() < 0.075, "{crd}: {found}");
        }
    }
}
