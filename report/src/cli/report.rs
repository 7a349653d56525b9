//! Arguments of `threadtalk report`.

use super::reporting::{ReportingArgs, TOP_SVG, TOP_TEXT};
use crate::error::{Error, Result};
use crate::imbalance::View;
use crate::output;
use crate::{csv, html, json, profile, svg, text};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_crd::imbalance::profile as imbalance;
use threadtalk_crd::model::Report;

/// Arguments of `threadtalk report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The profile
    file: PathBuf,
    /// Folder to write to: the page, pictures, JSON and CSV, or what --format names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What to make; without -o it goes to standard output
    #[arg(short, long, value_enum)]
    format: Vec<Format>,
    /// Only regions whose name or file:line matches; * and ? as in a shell, plain text matches anywhere
    #[arg(short, long, value_name = "PATTERN")]
    region: Option<String>,
    /// At most so many regions in the text, and so many pictures
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// From which figure on a rule makes a suggestion: false-sharing.share=0.5; may be repeated
    #[arg(long, value_name = "RULE.NAME=VALUE")]
    threshold: Vec<String>,
    #[command(flatten)]
    reporting: ReportingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Html,
    Svg,
    Json,
    Csv,
}

impl ReportArgs {
    /// Makes the report.
    pub fn run(self) -> Result<ExitCode> {
        let caches = self.reporting.caches.as_deref().map(profile::caches).transpose()?;
        let thresholds = profile::thresholds(&self.threshold)?;
        let (region, hide_serial) = (self.region.clone(), self.reporting.hide_serial);
        let report = profile::analyse_with(&self.file, caches, region, hide_serial, thresholds)?;
        match &self.output {
            None => self.to_stdout(&report)?,
            Some(folder) => self.to_folder(&report, folder.clone())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn top(&self, default: usize) -> usize {
        self.top.map_or(default, |top| top as usize)
    }

    fn text(&self, report: &Report, style: text::Style) -> String {
        let next = format!("threadtalk report {} -o report", self.file.display());
        let next = self.output.is_none().then_some(next);
        text::report(report, &self.file, &text::Shape { top: self.top(TOP_TEXT), style, next })
    }

    fn page(&self, report: &Report) -> Result<String> {
        let imbalance = profile::imbalance(&self.file, &imbalance::Options::default())?;
        Ok(html::page_of_both(View { report, imbalance: &imbalance }, self.top(TOP_SVG)))
    }

    fn to_stdout(&self, report: &Report) -> Result<()> {
        let format = match self.format[..] {
            [] => Format::Text,
            [one] => one,
            _ => return Err(Error::usage("several formats", "--format", "name a folder with -o, or one format")),
        };
        match format {
            Format::Text => output::to_stdout(self.text(report, text::Style::of_stdout()).as_bytes()),
            Format::Html => output::to_stdout(self.page(report)?.as_bytes()),
            Format::Json => output::to_stdout(json::report(report).as_bytes()),
            Format::Svg => output::to_stdout(svg::first(report, self.region.is_some())?.as_bytes()),
            Format::Csv => output::to_stdout(csv::regions(report).as_bytes()),
        }
    }

    fn to_folder(&self, report: &Report, folder: PathBuf) -> Result<()> {
        const ALL: [Format; 5] = [Format::Text, Format::Html, Format::Svg, Format::Json, Format::Csv];
        let formats = if self.format.is_empty() { &ALL[..] } else { &self.format[..] };
        let mut files = output::Folder::open(&folder, self.reporting.force)?;
        for format in formats {
            match format {
                Format::Text => files.add("report.txt", self.text(report, text::Style::plain()))?,
                Format::Html => files.add("index.html", self.page(report)?)?,
                Format::Json => files.add("report.json", json::report(report))?,
                Format::Svg => {
                    for (name, picture) in svg::all(report, self.top(TOP_SVG)) {
                        files.add(&name, picture)?;
                    }
                }
                Format::Csv => {
                    for (name, table) in csv::all(report) {
                        files.add(name, table)?;
                    }
                }
            }
        }
        output::to_stdout(files.write()?.as_bytes())
    }
}
