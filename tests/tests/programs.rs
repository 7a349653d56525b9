//! One test for each program of `programs/` and each of its optimisation levels.
//!
//! `cargo test -p threadtalk-tests --test programs ring` runs the ring; `-- --list` lists all.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::PathBuf;
use threadtalk_tests::check::check;
use threadtalk_tests::distribution::{Distribution, programs};
use threadtalk_tests::expectation::Expectation;

fn main() {
    let mut sources = Vec::new();
    for folder in ["communication", "objects", "regions", "openmp", "lifecycle"] {
        let entries = std::fs::read_dir(programs().join(folder)).expect("the folders of programs can be read");
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        sources.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp")));
    }
    sources.sort();
    let trials = sources.into_iter().flat_map(trials).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trials(source: PathBuf) -> Vec<Trial> {
    let name = source.strip_prefix(programs()).unwrap_or(&source).with_extension("").display().to_string();
    match Expectation::read(&source) {
        Err(error) => vec![Trial::test(name, move || Err(Failed::from(error.to_string())))],
        Ok(expectation) => expectation
            .levels
            .clone()
            .into_iter()
            .map(|level| {
                let expectation = expectation.clone();
                let slow = expectation.slow.is_some();
                Trial::test(format!("{name}::{}", level.replace(' ', "")), move || {
                    let tool = Distribution::find().map_err(|e| e.to_string())?;
                    check(&tool, &expectation, &level).map_err(Failed::from)
                })
                .with_ignored_flag(slow)
            })
            .collect(),
    }
}
