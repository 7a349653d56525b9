//! Arguments of `threadtalk scale`.

use super::reporting::{ReportingArgs, TOP_SVG, TOP_TEXT};
use crate::error::{Error, Result};
use crate::{output, profile, scale, text};
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
    /// What differs, read from the profiles: the number of threads, or the program's argument of a number (arg=2) [default: threads]
    #[arg(long, value_name = "threads|arg=N", value_parser = by)]
    by: Option<By>,
    /// Folder to write to: pictures, text and JSON, or what --format names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What to make; without -o it goes to standard output
    #[arg(short, long, value_enum)]
    format: Vec<Format>,
    /// At most so many regions in the text, and so many pictures
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    #[command(flatten)]
    reporting: ReportingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
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
        let caches = self.reporting.caches.as_deref().map(profile::caches).transpose()?;
        let analyse = |file: &PathBuf| profile::analyse(file, caches.clone(), None, self.reporting.hide_serial);
        let reports: Vec<Report> = self.files.iter().map(analyse).collect::<Result<_>>()?;
        let (sizes, axis) = self.sizes(&reports)?;
        let scaling = threadtalk_crd::scaling::scale(&reports, &sizes, &axis).map_err(|e| self.refused(&e))?;
        match &self.output {
            None => self.to_stdout(&scaling)?,
            Some(folder) => self.to_folder(&scaling, folder)?,
        }
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

    fn top(&self, default: usize) -> usize {
        self.top.map_or(default, |top| top as usize)
    }

    fn to_stdout(&self, scaling: &Scaling) -> Result<()> {
        let format = match self.format[..] {
            [] => Format::Text,
            [one] => one,
            _ => return Err(Error::usage("several formats", "--format", "name a folder with -o, or one format")),
        };
        let made = match format {
            Format::Text => scale::text(scaling, self.top(TOP_TEXT), text::Style::of_stdout()),
            Format::Svg => scale::first_picture(scaling)?,
            Format::Json => scale::json(scaling),
        };
        output::to_stdout(made.as_bytes())
    }

    fn to_folder(&self, scaling: &Scaling, folder: &Path) -> Result<()> {
        const ALL: [Format; 3] = [Format::Text, Format::Svg, Format::Json];
        let formats = if self.format.is_empty() { &ALL[..] } else { &self.format[..] };
        let mut files = output::Folder::open(folder, self.reporting.force)?;
        for format in formats {
            match format {
                Format::Text => {
                    files.add("scale.txt", scale::text(scaling, self.top(TOP_TEXT), text::Style::plain()))?
                }
                Format::Json => files.add("scale.json", scale::json(scaling))?,
                Format::Svg => {
                    for (name, picture) in scale::pictures(scaling, self.top(TOP_SVG)) {
                        files.add(&name, picture)?;
                    }
                }
            }
        }
        output::to_stdout(files.write()?.as_bytes())
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
