//! Optimisations change no count: for each program of `programs/` and each kernel and pattern of the benchmarks, the
//! matrices of exact mode with all optimisations of the pass, with calls instead of inlined code, and with calls around
//! inlined loops, as huge functions have them, equal those with `opt=0`.
//!
//! `cargo test -p threadtalk-tests --test equal_counts -- --ignored` runs all of them, some minutes.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use threadtalk_benchmarks::kernels::{self, Kernel};
use threadtalk_tests::check::exact_report;
use threadtalk_tests::compile::{Compiler, compile_with};
use threadtalk_tests::difference::{Determined, first};
use threadtalk_tests::distribution::{Distribution, programs};
use threadtalk_tests::expectation::Expectation;
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

/// What is compared with `opt=0`.
const VARIANTS: [&str; 3] = ["opt=1", "opt=1:inline_limit=0", "opt=1:inline_limit=12"];

/// Families of kernels whose nests of short loops keep what they know in windows.
const NESTS: [&str; 2] = ["lu", "matmul"];

fn main() {
    let mut sources = Vec::new();
    for folder in ["communication", "objects", "regions", "openmp", "lifecycle"] {
        let entries = std::fs::read_dir(programs().join(folder)).expect("the folders of programs can be read");
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        sources.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp")));
    }
    sources.sort();
    let programs = sources.into_iter().map(|source| {
        let name = source.strip_prefix(programs()).unwrap_or(&source).with_extension("").display().to_string();
        Trial::test(format!("program::{name}"), move || program(&source).map_err(Failed::from))
    });
    let kernels = kernels::ALL.iter().chain(kernels::PATTERNS).map(|kernel| {
        Trial::test(format!("kernel::{}", kernel.name), move || {
            compare_kernel(kernel, kernel.tiny).map_err(Failed::from)
        })
    });
    // Samples of reuse distances fall due in all kinds of loops only after some millions of events: here those of nests
    // with windows.
    let nests = kernels::ALL.iter().filter(|kernel| NESTS.contains(&kernel.family));
    let longer = nests.map(|kernel| {
        let compare = move || compare_kernel(kernel, kernel.small).map_err(Failed::from);
        Trial::test(format!("longer::{}", kernel.name), compare)
    });
    let trials = programs.chain(kernels).chain(longer).map(|trial| trial.with_ignored_flag(true)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Programs that run only once in their own test depend on the schedule: of these the counts that they expect are
/// compared, all entries of the others.
fn program(source: &Path) -> Result<(), String> {
    let expectation = Expectation::read(source).map_err(|e| e.to_string())?;
    let tool = Distribution::find().map_err(|e| e.to_string())?;
    // The highest level is the one that is optimised most.
    let level = expectation.levels.last().ok_or("no level")?;
    let report = |options: &str| {
        exact_report(&tool, &expectation, level, options).map_err(|e| format!("{level} with {options}: {e}"))
    };
    let expected = report("opt=0")?;
    for variant in VARIANTS {
        let found = report(variant)?;
        if expectation.runs > 1
            && let Some(difference) = first(&found, &expected, |_| Determined::Entries)
        {
            return Err(format!("{level} with {variant} against opt=0: {difference}"));
        }
    }
    Ok(())
}

fn compare_kernel(kernel: &'static Kernel, input: &[&str]) -> Result<(), String> {
    let scene = Scene::new();
    let text = std::fs::read_to_string(kernel.path()).map_err(|e| e.to_string())?;
    let lines: Vec<&str> = text.lines().collect();
    let expected = kernel_report(&scene, (kernel, input), "opt=0")?;
    for variant in VARIANTS {
        let found = kernel_report(&scene, (kernel, input), variant)?;
        let determined = |region: &Value| determined(kernel, region, &lines);
        if let Some(difference) = first(&found, &expected, determined) {
            return Err(format!("{variant} against opt=0: {difference}"));
        }
    }
    Ok(())
}

fn kernel_report(scene: &Scene, (kernel, input): (&Kernel, &[&str]), options: &str) -> Result<Report, String> {
    let program = scene.path("kernel");
    let flags: Vec<OsString> = kernel.flags().iter().map(OsString::from).chain([OsString::from("-lm")]).collect();
    let built = compile_with(scene.tool(), Compiler::Instrumented, &kernel.path(), &program, &flags, options)
        .map_err(|e| e.to_string())?;
    if !built.status.success() {
        return Err(format!("{options}: {}", built.stderr_text()));
    }
    let mut command = scene.command(&program);
    command.args(input).args(["-t", "4"]);
    scene.profiled(command, "mode=exact").map(|(_, report)| report).map_err(|why| format!("{options}: {why}"))
}

/// Regions whose counts depend on the schedule: kernel, beginning of the region's name, what its source line contains,
/// what is determined all the same.
const SCHEDULED: &[(&str, &str, &str, Determined)] = &[
    // The energies are added up under a mutex: whoever comes second reads what the first wrote, and main the last
    // one's, if that was not main itself.
    ("water-nsquared", "energy", "", Determined::Nothing),
    ("water-nsquared", "main", "", Determined::Nothing),
    ("water-spatial", "energy", "", Determined::Nothing),
    ("water-spatial", "main", "", Determined::Nothing),
    // Molecules that move to another cell enter its list in the order in which their senders arrived: who reads a
    // molecule first through which of its fields depends on it.
    ("water-spatial", "cell_of", "", Determined::Readers),
    ("water-spatial", "water_pair", "", Determined::Readers),
    // libomp's reduction: threads combine in the order in which they come.
    ("jacobi", "sweep", "static double sweep", Determined::Nothing),
    ("jacobi", "sweep", "#pragma omp parallel for", Determined::Nothing),
    // std::barrier spins and waits on tree nodes whose owners change; its inlined parts are regions of main and of its
    // lambda.
    ("kmeans", "std::", "", Determined::Nothing),
    ("kmeans", "bool std::", "", Determined::Nothing),
    ("kmeans", "void std::", "", Determined::Nothing),
    ("kmeans", "main", "", Determined::Nothing),
    // The workers' sums meet under a mutex.
    ("kmeans", "Clustering::recentre", "", Determined::Nothing),
    // Who wrote what its loops read (centres, the memory of vectors) depends on the order of the threads.
    ("kmeans", "Clustering::assign", "", Determined::Nothing),
    // Who takes what from a queue, and who is the next to hold a lock or to get a portion of the work.
    ("exchange-queue", "", "", Determined::Nothing),
    ("exchange-bins", "", "", Determined::Nothing),
    ("exchange-atomics", "", "", Determined::Nothing),
];

fn determined(kernel: &Kernel, region: &Value, lines: &[&str]) -> Determined {
    let name = region["name"].as_str().unwrap_or("");
    let here = region["file"].as_str().is_some_and(|file| file.ends_with(kernel.source));
    let line = region["line"].as_u64().filter(|_| here).and_then(|n| lines.get(n as usize - 1)).copied().unwrap_or("");
    let matches = |(of, begin, contains, _): &&(&str, &str, &str, Determined)| {
        *of == kernel.name && name.starts_with(begin) && line.contains(contains)
    };
    SCHEDULED.iter().find(matches).map_or(Determined::Entries, |entry| entry.3)
}
