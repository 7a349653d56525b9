//! Builds the test programs in their ways of linkage, runs them and compares with what they announce.

#![allow(dead_code, unused_imports, reason = "each test binary uses its part")]

mod build;
mod expectation;
pub mod profile;

pub use build::{Linkage, Runtime, folder, run};
pub use expectation::Expectation;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Builds and runs one program in each of its ways.
pub fn check(name: &str) {
    let source = folder().join(name);
    let text = fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    let expectation = Expectation::read(name, &text);
    for &linkage in &expectation.linkage {
        if linkage == Linkage::Lld && !build::lld_is_installed() {
            eprintln!("{name}: not linked with lld, which is not installed");
            continue;
        }
        let runtime = Runtime::get();
        let program = runtime.build(&source, &expectation, linkage);
        check_run(&expectation, linkage, runtime, &program);
    }
}

fn check_run(expectation: &Expectation, linkage: Linkage, runtime: &Runtime, program: &Path) {
    let context = format!("{} ({linkage:?})", expectation.name);
    let trace = program.with_extension("trace");
    let _ = fs::remove_file(&trace);
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env("THREADTALK_TRACE", &trace).env("THREADTALK_OPTIONS", "quiet=1");
    let profile = program.with_extension("ttp");
    if expectation.is_about_profile() {
        let _ = fs::remove_file(&profile);
        command.env("THREADTALK_OUT", &profile);
    } else {
        command.env("THREADTALK_OUT", program.with_extension("%p.ttp"));
    }
    if linkage == Linkage::Preload {
        command.env("LD_PRELOAD", runtime.shared());
    }
    if expectation.compiler.is_some() {
        command.env("LD_LIBRARY_PATH", runtime.openmp_for_gcc());
    }
    command.envs(expectation.environment.iter().cloned());
    let output = command.output().unwrap_or_else(|e| panic!("{context}: {e}"));
    let trace = await_trace(&trace, expectation);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let all = format!(
        "{context}: {:?}\n--- stdout\n{stdout}--- stderr\n{}--- trace\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr),
        trace.lines().take(200).collect::<Vec<_>>().join("\n"),
    );
    let status = match output.status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => output.status.code().unwrap_or(-1).to_string(),
    };
    assert_eq!(status, expectation.status, "status of {all}");
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expectation.stdout, "stdout of {all}");
    expectation.check_trace(&trace).unwrap_or_else(|difference| panic!("{difference} in {all}"));
    if expectation.is_about_profile() {
        let lines = profile::lines(&profile);
        let all = || format!("{context}\n--- profile\n{}", lines.join("\n"));
        expectation.check_profile(&lines).unwrap_or_else(|difference| panic!("{difference} in {}", all()));
    }
}

/// The trace. A daemon writes it after its parent has ended, so a line that is announced is waited for, up to 10 s.
fn await_trace(path: &Path, expectation: &Expectation) -> String {
    let mut trace = String::new();
    for _ in 0..200 {
        trace = fs::read_to_string(path).unwrap_or_default();
        if expectation.check_trace(&trace).is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(if expectation.outlives { 50 } else { 0 }));
        if !expectation.outlives {
            break;
        }
    }
    trace
}
