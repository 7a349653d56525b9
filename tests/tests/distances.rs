//! Sampled reuse distances against exact ones, in programs whose distances are known.

use serde_json::Value;
use threadtalk_tests::scene::Scene;

/// Median, p90 and p99 of the reuse distances of the whole program.
fn quantiles(scene: &Scene, crd: &str) -> [f64; 3] {
    let profile = format!("{crd}.ttp");
    let done = scene.threadtalk(&["run", "--quiet", "--crd", crd, "-o", &profile, "--", "./program"]);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    let report = scene.threadtalk(&["report", &profile, "--format", "json"]).stdout_text();
    let report: Value = serde_json::from_str(&report).unwrap();
    let crd = &report["program_total"]["crd"];
    ["median", "p90", "p99"].map(|name| crd[name].as_f64().unwrap_or_else(|| panic!("{crd:#}")))
}

/// Of 1 070 000 usages 320 000 are 7 999 elements apart, the others 2 999: times of one trace are no mixture.
#[test]
fn times_with_other_distances_are_told_apart() {
    let scene = Scene::with("two_distances.c", &["-pthread"]);
    let expected = [2999.0, 7999.0, 7999.0];
    for crd in ["exact", "auto"] {
        let found = quantiles(&scene, crd);
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
        for found in quantiles(&scene, crd) {
            assert!((found / 699.0 - 1.0f64).abs() < 0.075, "{crd}: {found}");
        }
    }
}
