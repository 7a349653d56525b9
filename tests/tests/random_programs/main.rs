//! Random programs: with all optimisations of the pass they compute what they compute natively, and have the counts of
//! `opt=0`, exact and hashed, and enter each region as often.
//!
//! `cargo test -p threadtalk-tests --test random_programs -- --ignored` runs more of them;
//! `THREADTALK_PROGRAMS=1000..2000` others. A program that fails is kept where its message says.

mod function;
mod index;
mod memory;
mod program;

use fastrand::Rng;
use libtest_mimic::{Arguments, Failed, Trial};
use program::Program;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use threadtalk_tests::compile::{Compiler, compile_with};
use threadtalk_tests::difference::{Determined, first, first_line, first_visit};
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

/// Those that run each time, and those that run with `--ignored`.
const NUMBERS: [Range<u64>; 2] = [0..12, 12..150];

/// What is compared with `opt=0`: options of the pass, and of the runtime.
const VARIANTS: [(&str, &str); 4] = [
    ("opt=1", "mode=exact"),
    ("opt=1", "mode=hashed"),
    ("opt=1:inline_limit=0", "mode=exact"),
    ("opt=1:inline_limit=12", "mode=exact"),
];

fn main() {
    let [short, long] = NUMBERS;
    let trials = match others() {
        Some(numbers) => numbers.map(|number| trial(number, false)).collect(),
        None => short.map(|number| trial(number, false)).chain(long.map(|number| trial(number, true))).collect(),
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn others() -> Option<Range<u64>> {
    let wish = std::env::var("THREADTALK_PROGRAMS").ok()?;
    let ends = wish.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    Some(ends.unwrap_or_else(|| panic!("THREADTALK_PROGRAMS={wish}: two numbers are wanted, such as 1000..2000")))
}

/// Any of them, each as often as it is there.
fn one_of<T: Copy>(random: &mut Rng, of: &[T]) -> T {
    of[random.usize(0..of.len())]
}

fn trial(number: u64, long: bool) -> Trial {
    Trial::test(format!("program::{number}"), move || check(number).map_err(Failed::from)).with_ignored_flag(long)
}

fn check(number: u64) -> Result<(), String> {
    let scene = Scene::new();
    let program = Program::random(number);
    let source = scene.path("program.c");
    std::fs::write(&source, &program.text).map_err(|e| e.to_string())?;
    compare(&scene, &source, &program.flags).map_err(|why| {
        let kept = kept(number);
        match std::fs::copy(&source, &kept) {
            Ok(_) => format!("{why}\n{} is the program, compiled with {}", kept.display(), program.flags),
            Err(e) => format!("{why}\nthe program cannot be kept in {}: {e}", kept.display()),
        }
    })
}

fn kept(number: u64) -> PathBuf {
    std::env::temp_dir().join(format!("threadtalk-random-{number}.c"))
}

fn compare(scene: &Scene, source: &Path, flags: &str) -> Result<(), String> {
    let flags: Vec<OsString> = flags.split(' ').map(OsString::from).collect();
    let compile = |which, output: &str, options: &str| {
        let done = compile_with(scene.tool(), which, source, &scene.path(output), &flags, options);
        let done = done.map_err(|e| e.to_string())?;
        if done.status.success() { Ok(()) } else { Err(format!("{output}, {options}: {}", done.stderr_text())) }
    };
    compile(Compiler::Native, "native", "")?;
    let output = scene.output(scene.command("native")).map_err(|why| format!("native: {why}"))?;
    compile(Compiler::Instrumented, "plain", "opt=0")?;
    let expected = profile(scene, "plain", "mode=exact", &output)?;
    let mut compiled = "";
    for (pass, runtime) in VARIANTS {
        if pass != compiled {
            compile(Compiler::Instrumented, "program", pass)?;
            compiled = pass;
        }
        let at = |why: String| format!("{pass} with {runtime}: {why}");
        let found = profile(scene, "program", runtime, &output).map_err(at)?;
        let difference = first(&found, &expected, |_| Determined::Entries)
            .or_else(|| first_line(&found, &expected))
            .or_else(|| first_visit(&found, &expected));
        if let Some(difference) = difference {
            return Err(at(difference));
        }
    }
    Ok(())
}

/// The report of a program that prints what is expected.
fn profile(scene: &Scene, program: &str, options: &str, expected: &str) -> Result<Report, String> {
    let profiled = scene.profiled(scene.command(program), options);
    let (output, report) = profiled.map_err(|why| format!("{program}: {why}"))?;
    if output != expected {
        return Err(format!("{program} prints {output} instead of {expected}"));
    }
    Ok(report)
}
