//! One test for each program of `programs/` and each of its optimisation levels.
//!
//! `cargo test -p threadtalk-tests --test programs ring` runs the ring; `-- --list` lists all.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::PathBuf;
use threadtalk_tests::check::check;
use threadtalk_tests::distribution::{Distribution, programs};
use threadtalk_tests::expectation::Expectation;

fn main() {
    let mut sources: Vec<PathBuf> = std::fs::read_dir(programs())
        .expect("the folder of programs can be read")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    sources.sort();
    let trials = sources.into_iter().flat_map(trials).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trials(source: PathBuf) -> Vec<Trial> {
    let name = source.file_stem().and_then(|n| n.to_str()).expect("program names are ASCII").to_owned();
    match Expectation::read(&source) {
        Err(error) => vec![Trial::test(name, move || Err(Failed::from(error.to_string())))],
        Ok(expectation) => expectation
            .levels
            .clone()
            .into_iter()
            .map(|level| {
                let expectation = expectation.clone();
                Trial::test(format!("{name}::{}", level.replace(' ', "")), move || {
                    let tool = Distribution::find().map_err(|e| e.to_string())?;
                    check(&tool, &expectation, &level).map_err(Failed::from)
                })
            })
            .collect(),
    }
}
