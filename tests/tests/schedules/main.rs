//! Random schedules of kernels, compiled at all levels, against an exact model: every entry of every kernel's matrices.

mod kernels;

use kernels::{KERNELS, MEMORY, Step};
use std::fmt::Write;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::execute::Run;
use threadtalk_tests::expectation::Selector;
use threadtalk_tests::oracle::{Counts, Oracle};
use threadtalk_tests::scene::Scene;

/// Kernels over elements smaller than a granule. Vectorised, they read a granule once and not once for each element in
/// it: the scalar loop's count of reuse is an upper bound.
const NARROW: [&str; 3] = ["sum1", "sum2", "backwards"];

/// A schedule for workers 1 to `workers`.
struct Schedule {
    workers: usize,
    steps: Vec<(usize, Step)>,
}

impl Schedule {
    fn random(seed: u64, steps: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let workers = random.usize(2..6);
        let steps = (0..steps).map(|_| (random.usize(1..=workers), Step::random(&mut random))).collect();
        Self { workers, steps }
    }

    fn text(&self) -> String {
        self.steps.iter().fold(String::new(), |mut text, (thread, s)| {
            writeln!(text, "{thread} {} {} {} {} {}", s.kernel, s.a, s.b, s.n, s.s).expect("a string takes all");
            text
        })
    }

    /// What each kernel must have counted.
    fn expected(&self) -> Vec<Counts> {
        let mut oracle = Oracle::new(MEMORY, self.workers + 1);
        let mut counts = vec![Counts::none(self.workers + 1); KERNELS.len()];
        for (thread, step) in &self.steps {
            step.apply(&mut oracle, *thread);
            counts[step.kernel].add(&oracle.take_counts());
        }
        counts
    }
}

fn check(scene: &Scene, seed: u64, steps: usize, options: &str) {
    let schedule = Schedule::random(seed, steps);
    std::fs::write(scene.path("schedule"), schedule.text()).unwrap();
    let mut command = scene.command("program");
    let profile = format!("{seed}.ttp");
    command.arg(schedule.workers.to_string()).env("THREADTALK_OUT", scene.path(&profile));
    let options = format!("quiet=1:{options}");
    command.env("THREADTALK_OPTIONS", options.trim_end_matches(':'));
    let done = Run::new(command).finish().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    assert_eq!(done.ending(), "exit 0", "seed {seed}: {}", done.stderr_text());
    let report = scene.report(&profile);
    for (kernel, expected) in KERNELS.iter().zip(schedule.expected()) {
        let selector = Selector { of: Some(("function".to_owned(), (*kernel).to_owned(), None)), own: false };
        let regions = match report.select(&selector, &Default::default()) {
            Ok(regions) => regions,
            // A kernel that only calls the C library has no loads or stores of its own, but then it must not have
            // counted.
            Err(why) if expected == Counts::none(schedule.workers + 1) => {
                drop(why);
                continue;
            }
            Err(why) => panic!("seed {seed}: {why}"),
        };
        let matrix = |key: &str| report.matrix(&regions, key, schedule.workers + 1).unwrap();
        let found = Counts { raw: matrix("total_raw"), rar: matrix("total_rar") };
        if NARROW.contains(kernel) {
            assert_eq!(found.raw, expected.raw, "seed {seed}, {options}: kernel {kernel}");
            let pairs = found.rar.iter().flatten().zip(expected.rar.iter().flatten());
            assert!(
                pairs.clone().all(|(f, e)| f <= e),
                "seed {seed}, {options}: kernel {kernel}: {found:?} {expected:?}"
            );
        } else {
            assert_eq!(found, expected, "seed {seed}, {options}: kernel {kernel}");
        }
    }
}

fn at(flags: &[&str], seeds: std::ops::Range<u64>) {
    let scene = Scene::new();
    scene.compile(Compiler::Instrumented, "kernels.c", "program", flags);
    for seed in seeds {
        let options = ["", "mode=exact", "crd=off", "crd=exact"][seed as usize % 4];
        check(&scene, seed, 60, options);
    }
}

#[test]
fn unoptimised() {
    at(&["-O0"], 0..12);
}

#[test]
fn optimised() {
    at(&["-O2"], 0..12);
}

#[test]
fn optimised_more() {
    at(&["-O3"], 12..24);
}

#[test]
fn vectorised_wide() {
    at(&["-O3", "-mavx2"], 24..36);
}

/// Whatever this machine has, mask registers included.
#[test]
fn vectorised_natively() {
    at(&["-O3", "-march=native", "-mprefer-vector-width=512"], 52..60);
}

#[test]
fn small() {
    at(&["-Os"], 36..44);
}

#[test]
fn with_link_time_optimisation() {
    at(&["-O3", "-flto"], 44..52);
}

#[test]
#[ignore = "long: a thousand schedules"]
fn many_schedules() {
    for flags in [&["-O1"][..], &["-O2"], &["-O3", "-funroll-loops"], &["-O3", "-mavx2"]] {
        at(flags, 1000..1250);
    }
}

#[test]
#[ignore = "long: schedules of ten thousand steps"]
fn long_schedules() {
    let scene = Scene::new();
    scene.compile(Compiler::Instrumented, "kernels.c", "program", &["-O3"]);
    for seed in 5000..5008 {
        check(&scene, seed, 10_000, "");
    }
}
