//! Communication over time of a program with two planted phases.

use serde_json::Value;
use threadtalk_tests::execute::Run;
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

const WORKERS: usize = 4;
const N: u64 = 1000;
const ROUNDS: u64 = 3;

fn report(options: &str) -> Report {
    report_of("two_phases.c", "-pthread", options)
}

fn report_of(program: &str, flag: &str, options: &str) -> Report {
    let scene = Scene::with(program, &["-g", flag]);
    let mut command = scene.command("program");
    command.env("THREADTALK_OUT", scene.path("two.ttp")).env("THREADTALK_OPTIONS", format!("quiet=1:{options}"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    scene.report("two.ttp")
}

/// A phase's matrix over all threads, main included.
fn matrix(phase: &Value, key: &str) -> [[u64; WORKERS + 1]; WORKERS + 1] {
    let mut all = [[0; WORKERS + 1]; WORKERS + 1];
    let threads: Vec<usize> =
        phase["threads"].as_array().unwrap().iter().map(|t| t.as_u64().unwrap() as usize).collect();
    for (writer, row) in threads.iter().zip(phase[key].as_array().unwrap()) {
        for (reader, value) in threads.iter().zip(row.as_array().unwrap()) {
            all[*writer][*reader] = value.as_u64().unwrap();
        }
    }
    all
}

fn sum(phases: &Value, key: &str) -> u64 {
    let phases = phases["phases"].as_array().unwrap();
    phases.iter().map(|p| matrix(p, key).iter().flatten().sum::<u64>()).sum()
}

fn total(report: &Report, key: &str) -> u64 {
    let pairs = (0..=WORKERS).flat_map(|w| (0..=WORKERS).map(move |r| (w, r)));
    pairs.map(|(w, r)| u64::try_from(report.total(key, w, r)).unwrap()).sum()
}

#[test]
fn phases_between_barriers_are_what_was_planted() {
    let report = report("phases=0");
    let phases = &report.json()["phases"];
    let found: Vec<_> = phases["phases"].as_array().unwrap().iter().map(|p| matrix(p, "raw")).collect();
    let mut ring = [[0; WORKERS + 1]; WORKERS + 1];
    let mut star = ring;
    for worker in 1..=WORKERS {
        ring[worker][worker % WORKERS + 1] = ROUNDS * N;
        star[1][worker] = if worker > 1 { ROUNDS * N } else { 0 };
    }
    assert_eq!(found, [ring, star], "{phases:#}");
    let slices = phases["slices"].as_array().unwrap();
    let at_barriers = slices.iter().filter(|s| s["at_barrier"] == true && s["raw"] != 0).count();
    assert_eq!(at_barriers as u64, 2 * ROUNDS, "{slices:#?}");
    assert_eq!(slices.iter().map(|s| s["raw"].as_u64().unwrap()).sum::<u64>(), total(&report, "raw"));
}

#[test]
fn barriers_of_openmp_cut_as_those_of_posix_do() {
    const TEAM: usize = 4;
    let report = report_of("two_phases_omp.c", "-fopenmp", "phases=0");
    let phases = &report.json()["phases"];
    let found: Vec<_> = phases["phases"].as_array().unwrap().iter().map(|p| matrix(p, "raw")).collect();
    let mut ring = [[0; WORKERS + 1]; WORKERS + 1];
    let mut star = ring;
    for member in 0..TEAM {
        ring[member][(member + 1) % TEAM] = ROUNDS * N;
        star[0][member] = if member > 0 { ROUNDS * N } else { 0 };
    }
    assert_eq!(found, [ring, star], "{phases:#}");
    let slices = phases["slices"].as_array().unwrap();
    let talking: Vec<_> = slices.iter().filter(|s| s["raw"] != 0).collect();
    // Turns of one phase are one slice: their meeting says so.
    assert_eq!(talking.len() as u64, 2 * ROUNDS, "{slices:#?}");
    assert!(talking.iter().all(|s| s["at_barrier"] == true), "{slices:#?}");
}

#[test]
fn sums_over_phases_are_the_totals_whatever_the_slices() {
    for options in ["phases=1", "phases=0:phases_bytes=4K", "phases=0:mode=exact"] {
        let report = report(options);
        let phases = &report.json()["phases"];
        // A run shorter than a slice may have none.
        if !phases.is_null() {
            assert_eq!(sum(phases, "raw"), total(&report, "raw"), "{options}");
            assert_eq!(sum(phases, "rar"), total(&report, "rar"), "{options}");
        }
    }
    assert!(report("phases=off").json()["phases"].is_null());
}
