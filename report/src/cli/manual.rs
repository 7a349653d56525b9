//! Manual pages, from the definition of the command line.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use super::Cli;
use crate::error::{Error, Result};

/// Writes `threadtalk.1` and a page for each command, such as `threadtalk-report.1`, replacing what is there.
pub fn write(folder: &Path) -> Result<ExitCode> {
    std::fs::create_dir_all(folder).map_err(|e| Error::file("create the folder", folder, &e))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(|e| Error::file("write manual pages to", folder, &e))?;
    Ok(ExitCode::SUCCESS)
}
