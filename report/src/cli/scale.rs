//! Arguments of `threadtalk scale`.

use super::destination::{Destination, Product};
use super::reporting::{AnalysisArgs, TopArgs};
use crate::error::{Error, Result};
use crate::output::Folder;
use crate::{profile, scale, text};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadtalk_crd::model::Report;
use threadtalk_crd::scaling::{Scaling, ScalingError};

/// Arguments of `threadtalk scale`.
#[derive(Args, Debug)]
pub struct ScaleArgs {
    /// Profiles of one program with different inputs or numbers of threads
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Input sizes of the profiles, in their order: 64,128,256
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', conflicts_with = "by")]
    sizes: Vec<f64>,
    /// What differs, read from the profiles: the number of threads, or the program's argument of a number (arg=2)
    /// [default: threads]
    #[arg(long, value_name = "threads|arg=N", value_parser = by)]
    by: Option<By>,
    #[command(flatten)]
    destination: Destination<Format>,
    #[command(flatten)]
    top: TopArgs,
    #[command(flatten)]
    analysis: AnalysisArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Svg,
    Json,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Threads,
    Argument(usize),
}

fn by(text: &str) -> std::result::Result<By, String> {
    let argument = || text.strip_prefix("arg=")?.parse().ok().filter(|n| *n > 0).map(By::Argument);
    match text {
        "threads" => Ok(By::Threads),
        _ => argument().ok_or_else(|| "write threads, or arg=N for the Nth argument".to_string()),
    }
}

impl ScaleArgs {
    /// Makes the analysis.
    pub fn run(self) -> Result<ExitCode> {
        let caches = self.analysis.caches()?;
        let analyse = |file: &PathBuf| profile::analyse(file, caches.clone(), None, self.analysis.hide_serial);
        let reports: Vec<Report> = self.files.iter().map(analyse).collect::<Result<_>>()?;
        let (sizes, axis) = self.sizes(&reports)?;
        let scaling = threadtalk_crd::scaling::scale(&reports, &sizes, &axis).map_err(|e| self.refused(&e))?;
        self.destination.deliver(&Growth { top: &self.top, scaling: &scaling })?;
        Ok(ExitCode::SUCCESS)
    }

    fn sizes(&self, reports: &[Report]) -> Result<(Vec<f64>, String)> {
        if !self.sizes.is_empty() {
            return Ok((self.sizes.clone(), "input size".to_string()));
        }
        match self.by.unwrap_or(By::Threads) {
            By::Threads => {
                Ok((reports.iter().map(|report| report.threads.len() as f64).collect(), "threads".to_string()))
            }
            By::Argument(number) => {
                let sizes = self.files.iter().zip(reports).map(|(file, report)| argument(file, report, number));
                Ok((sizes.collect::<Result<_>>()?, format!("argument {number}")))
            }
        }
    }

    fn refused(&self, error: &ScalingError) -> Error {
        let place = if self.sizes.is_empty() { "the profiles" } else { "--sizes" };
        Error::usage(error.to_string(), place, error.advice())
    }
}

/// The number in the program's argument of this place: `-n64` and `--size=64` are 64.
fn argument(file: &Path, report: &Report, number: usize) -> Result<f64> {
    let arguments = report.program.meta.get("arguments").map_or("", String::as_str);
    let text = arguments.split(' ').nth(number).unwrap_or_default();
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().map_err(|_| {
        let what = format!("argument {number} of the program is no number (`{text}`)");
        Error::usage(what, file.display().to_string(), "state the sizes with --sizes")
    })
}

struct Growth<'a> {
    top: &'a TopArgs,
    scaling: &'a Scaling,
}

impl Growth<'_> {
    fn text(&self, style: text::Style) -> String {
        scale::text(self.scaling, self.top.in_text(), style)
    }
}

impl Product<Format> for Growth<'_> {
    fn single(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Text => self.text(text::Style::of_stdout()),
            Format::Svg => scale::first_picture(self.scaling)?,
            Format::Json => scale::json(self.scaling),
        })
    }

    fn files(&self, format: Format, folder: &mut Folder) -> Result<()> {
        match format {
            Format::Text => folder.add("scale.txt", self.text(text::Style::plain())),
            Format::Json => folder.add("scale.json", scale::json(self.scaling)),
            Format::Svg => folder.add_all(scale::pictures(self.scaling, self.top.with_pictures())),
        }
    }
}
