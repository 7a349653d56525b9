//! Each kernel computes the same bits whatever the number of threads, and in each variant of its family.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use threadtalk_benchmarks::build::{Compilers, Tool};
use threadtalk_benchmarks::evaluation::{self, Pair};
use threadtalk_benchmarks::kernels::{self, Kernel};

fn build(kernel: &Kernel, folder: &Path) -> std::path::PathBuf {
    let program = folder.join(kernel.name);
    let mut command = Compilers::find().command(kernel, Tool::Native, false, &program).unwrap();
    let output = command.args(["-Wall", "-Wextra", "-Werror"]).output().unwrap();
    assert!(output.status.success(), "{}: {}", kernel.name, String::from_utf8_lossy(&output.stderr));
    program
}

fn checksum(kernel: &Kernel, program: &Path, threads: u32) -> String {
    let output = Command::new(program).args(kernel.tiny).args(["-t", &threads.to_string()]).output().unwrap();
    assert!(output.status.success(), "{} -t {threads}: {output:?}", kernel.name);
    let text = String::from_utf8(output.stdout).unwrap();
    let digits = text.strip_prefix("checksum ").and_then(|rest| rest.strip_suffix('\n')).unwrap_or_default();
    assert!(digits.len() == 16 && digits != "0000000000000000", "{}: {text:?}", kernel.name);
    text
}

#[test]
fn the_checksum_does_not_depend_on_threads_or_variant() {
    let folder = tempfile::tempdir().unwrap();
    let mut families = BTreeMap::new();
    for kernel in kernels::ALL.iter().chain(evaluation::ALL.iter().flat_map(Pair::kernels)) {
        let program = build(kernel, folder.path());
        for threads in [1, 2, 3, 4, 8] {
            let found = checksum(kernel, &program, threads);
            let expected = families.entry(kernel.family).or_insert_with(|| found.clone());
            assert_eq!(&found, expected, "{} with {threads} threads", kernel.name);
        }
    }
}

#[test]
fn the_checksum_depends_on_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = Kernel::named("radix").unwrap();
    let program = build(kernel, folder.path());
    let other = Command::new(&program).args(["-n", "5002", "-s", "1"]).output().unwrap();
    assert_ne!(checksum(kernel, &program, 2).as_bytes(), other.stdout);
}

#[test]
fn bad_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = build(Kernel::named("lu").unwrap(), folder.path());
    for (arguments, message) in [
        (["-t", "0"], "option values are positive integers"),
        (["-n", "100x"], "option values are positive integers"),
        (["-t", "5000"], "at most 1024 threads"),
        (["-n", "100"], "the size must be a multiple of the block"),
    ] {
        let output = Command::new(&program).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with(message), "{arguments:?}: {output:?}");
    }
}
