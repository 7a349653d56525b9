//! Arguments of `threadtalk map`.

use crate::error::{Error, Result};
use crate::{output, placement, profile, text};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `threadtalk map`.
#[derive(Args, Debug)]
pub struct MapArgs {
    /// The profile
    file: PathBuf,
    /// A machine described in a file, instead of this one
    ///
    /// A level on each line, outermost first: package, node, die, L1 to L9, core or thread, how many of them are in
    /// each group of the line before, and the cost of an event between two of them: `package 2 distance=8`, `core 16
    /// distance=2`, `thread 2 distance=1`. Without distances the innermost level costs 1 and each further out twice as
    /// much. `cpus 0-15,32-47` gives the processors' numbers in this order. # begins a comment.
    #[arg(short, long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// What to print
    #[arg(short, long, value_enum, default_value = "text")]
    format: Format,
    /// Write the plan (JSON) for `threadtalk run --bind`, too
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,
    /// Leave out data that was written while only one thread existed
    #[arg(long)]
    hide_serial: bool,
    /// Replace the plan if it is there
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl MapArgs {
    /// Makes the mapping.
    pub fn run(self) -> Result<ExitCode> {
        let machine = placement::topology(self.topology.as_deref())?;
        let report = profile::analyse(&self.file, None, None, self.hide_serial)?;
        let mapping = threadtalk_crd::placement::map(&report, &machine.topology, &machine.name);
        if let Some(plan) = &self.output {
            write(plan, &placement::json(&mapping), self.force)?;
        }
        let made = match self.format {
            Format::Text => placement::text(&mapping, &self.file, self.output.as_deref(), text::Style::of_stdout()),
            Format::Json => placement::json(&mapping),
        };
        output::to_stdout(made.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn write(plan: &Path, contents: &str, force: bool) -> Result<()> {
    if !force && plan.symlink_metadata().is_ok() {
        let advice = "it exists already: choose another name, or pass --force to replace it".to_string();
        return Err(Error::File { action: "write the plan", path: plan.to_path_buf(), advice });
    }
    std::fs::write(plan, contents).map_err(|e| Error::file("write the plan", plan, &e))
}
