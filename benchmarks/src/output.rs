//! How the table programs end.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use crate::error::during;
use crate::{Error, Result};

/// Writes `table` as JSON if a file was asked for.
pub fn write_json(table: &impl Serialize, file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let json = serde_json::to_string_pretty(table).expect("numbers and strings are always JSON");
    during(|| format!("writing {}", file.display()), std::fs::write(file, json))
}

/// The exit status: 2 for a bad command line, 1 for other errors, which are printed in one line.
pub fn exit(program: &str, outcome: Result<()>) -> ExitCode {
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
