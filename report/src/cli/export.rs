//! Arguments of `threadtalk export`.

use super::reporting::AnalysisArgs;
use crate::error::{Error, Result};
use crate::{csv, json, output, parquet, profile, trace};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadtalk_crd::imbalance::profile::observed::Observed;

/// Arguments of `threadtalk export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The profile
    file: PathBuf,
    /// For which programs: json (one document), csv and parquet (a folder of tables), perfetto (a trace for
    /// ui.perfetto.dev)
    #[arg(short, long, value_enum)]
    format: Format,
    /// File or folder to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace files that are in the way
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    analysis: AnalysisArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Csv,
    Perfetto,
    Parquet,
}

impl ExportArgs {
    /// Writes the profile in another program's format.
    pub fn run(self) -> Result<ExitCode> {
        let caches = self.analysis.caches()?;
        let report = profile::analyse(&self.file, caches, None, self.analysis.hide_serial)?;
        match self.format {
            Format::Json => self.one_file(json::report(&report), |text| text.contains("\"threadtalk.report/"))?,
            Format::Perfetto => {
                let observed = Observed::of(&profile::open(&self.file)?);
                let trace = trace::trace(&report, &observed.parts);
                self.one_file(trace, |text| text.contains("\"tool\":\"threadtalk"))?
            }
            Format::Csv => {
                let mut folder = output::Folder::open(&self.output, self.force)?;
                for (name, table) in csv::all(&report) {
                    folder.add(name, table)?;
                }
                output::to_stdout(folder.write()?.as_bytes())?;
            }
            Format::Parquet => {
                let mut folder = output::Folder::open(&self.output, self.force)?;
                for (name, table) in parquet::tables(&profile::open(&self.file)?, &report) {
                    folder.add(name, table)?;
                }
                output::to_stdout(folder.write()?.as_bytes())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn one_file(&self, text: String, is_own: fn(&str) -> bool) -> Result<()> {
        if self.output.is_dir() {
            let advice = "this format is one file: name one in it";
            return Err(Error::usage("the output is a folder", self.output.display().to_string(), advice));
        }
        let may_go = |path: &Path| std::fs::read_to_string(path).is_ok_and(|text| is_own(&text));
        output::to_file(&self.output, text.as_bytes(), self.force, may_go)?;
        output::to_stdout(format!("{}\n", self.output.display()).as_bytes())
    }
}
