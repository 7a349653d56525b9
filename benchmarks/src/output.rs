//! What the table programs have in common, from their arguments to how they end.

use std::env::ArgsOs;
use std::fmt::Display;
use std::iter::Skip;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use crate::build::Compilers;
use crate::error::during;
use crate::{Error, Result};

/// A program that prints a table, and writes it as JSON if its options name a file. `parse` gives no options where help
/// was asked for; `make` is told whom to report each step to.
pub fn program<O, T: Display + Serialize>(
    name: &str,
    usage: &str,
    parse: impl FnOnce(Skip<ArgsOs>) -> Result<Option<O>>,
    make: impl FnOnce(&O, &Compilers, &mut dyn FnMut(&str)) -> Result<(T, Option<PathBuf>)>,
) -> ExitCode {
    let run = || {
        let Some(options) = parse(std::env::args_os().skip(1))? else {
            print!("{usage}");
            return Ok(());
        };
        let (table, json) = make(&options, &Compilers::find(), &mut |step| eprintln!("{step}"))?;
        print!("{table}");
        write_json(&table, json.as_deref())
    };
    exit(name, run())
}

/// Writes `table` as JSON if a file was asked for.
fn write_json(table: &impl Serialize, file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let json = serde_json::to_string_pretty(table).expect("numbers and strings are always JSON");
    during(|| format!("writing {}", file.display()), std::fs::write(file, json))
}

/// The exit status: 2 for a bad command line, 1 for other errors, which are printed in one line.
fn exit(program: &str, outcome: Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    eprintln!("{program}: {error}");
    ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let error = write_json(&1, Some(Path::new("/nowhere/table.json"))).unwrap_err().to_string();
        assert!(error.starts_with("writing /nowhere/table.json: "), "{error}");
    }
}
