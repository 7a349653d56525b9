//! The two layouts of blocked LU (Mazaheri et al., section 4.1.1): what the pair of reports must show.

use serde_json::Value;
use std::collections::BTreeMap;
use threadtalk_tests::compile::{Compiler, compile_silently};
use threadtalk_tests::distribution::workspace;
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

/// The report of LU with these compiler flags: 4 threads, 256 x 256 in blocks of 16, all distances exact.
fn report(flags: &[&str]) -> Report {
    let scene = Scene::new();
    let kernel = workspace().join("benchmarks/kernels/lu.c");
    let flags: Vec<&str> = ["-O2", "-g", "-pthread", "-lm"].iter().chain(flags).copied().collect();
    compile_silently(scene.tool(), Compiler::Instrumented, &kernel, &scene.path("lu"), &flags);
    let done = scene.threadtalk(&["run", "--crd", "exact", "-o", "lu.ttp", "--", "./lu", "-t", "4", "-n", "256"]);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    scene.report("lu.ttp")
}

/// The loop of the block update: most communication of all regions of that function.
fn block_update(report: &Report) -> &Value {
    let of_bmod = report.regions().iter().filter(|r| r["name"] == "bmod" && r["crd"]["count"].as_f64() > Some(0.0));
    of_bmod.max_by_key(|r| r["crd"]["count"].as_f64().unwrap_or(0.0) as u64).expect("the block update communicates")
}

/// Share of distances at or above each bucket's lower bound.
fn share_from(region: &Value) -> BTreeMap<u64, f64> {
    let buckets = region["crd"]["buckets"].as_array().expect("a histogram");
    let count = |b: &Value| b["count"].as_f64().expect("a count");
    let all: f64 = buckets.iter().map(count).sum();
    let mut above = all;
    let mut shares = BTreeMap::new();
    for bucket in buckets {
        shares.insert(bucket["lo"].as_u64().expect("a bound"), above / all);
        above -= count(bucket);
    }
    shares
}

#[test]
fn the_contiguous_layout_has_no_longer_distances_in_the_block_update() {
    let (scattered, contiguous) = (report(&[]), report(&["-DCONTIGUOUS"]));
    let (before, after) = (block_update(&scattered), block_update(&contiguous));
    for quantile in ["median", "p90", "p99"] {
        let value = |r: &Value| r["crd"][quantile].as_f64().expect("a quantile");
        assert!(value(before) > 0.0, "{quantile} of an exact run");
        assert!(value(after) <= value(before), "{quantile}: {} after {}", value(after), value(before));
    }
    let (before, after) = (share_from(before), share_from(after));
    for (distance, share) in &after {
        let reached = before.range(distance..).next().map_or(0.0, |(_, s)| *s);
        assert!(*share <= reached + 1e-9, "from {distance} elements on: {share} after {reached}");
    }
    // The layout moves no data between threads.
    assert_eq!(block_update(&scattered)["raw"], block_update(&contiguous)["raw"]);
}
