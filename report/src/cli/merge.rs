//! Arguments of `threadtalk merge`.

use crate::error::{Error, Result};
use crate::{output, profile};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_profile::Profile;
use threadtalk_profile::merge::{How, Part, merge};
use threadtalk_profile::write::Contents;

/// Arguments of `threadtalk merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The profiles: in their order they become rank 0, 1, ...
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Profile to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The profiles are runs of one program: add up what threads of the same number did, instead of keeping ranks apart
    #[arg(long)]
    sum: bool,
    /// Replace a file that is no profile
    #[arg(long)]
    force: bool,
}

impl MergeArgs {
    /// Writes the merged profile.
    pub fn run(self) -> Result<ExitCode> {
        let is_output = |file: &PathBuf| same_file(file, &self.output);
        if let Some(part) = self.files.iter().find(|file| is_output(file)) {
            let advice = "choose another name with -o: this one would be lost";
            return Err(Error::usage("the output is one of the profiles", part.display().to_string(), advice));
        }
        let parts = self.files.iter().map(|file| {
            let contents = Contents::from(&profile::open(file)?);
            Ok(Part { name: file.display().to_string(), contents })
        });
        let how = if self.sum { How::Sum } else { How::Ranks };
        let merged = merge(&parts.collect::<Result<Vec<_>>>()?, how)?;
        let may_go = |path: &std::path::Path| Profile::open(path).is_ok();
        output::to_file(&self.output, &merged.encode(), self.force, may_go)?;
        let what = if self.sum { "runs" } else { "ranks" };
        let text = format!(
            "{}: {} {what}, {} threads, {} event records; see it with: threadtalk report {}\n",
            self.output.display(),
            self.files.len(),
            merged.threads.len(),
            merged.events.len(),
            self.output.display()
        );
        output::to_stdout(text.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether two paths lead to the same file, however they are written.
fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
