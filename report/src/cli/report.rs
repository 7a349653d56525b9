//! Arguments of `threadtalk report`.

use super::destination::{Destination, Product};
use super::reporting::{AnalysisArgs, TopArgs};
use crate::error::Result;
use crate::imbalance::View;
use crate::output::{self, Folder};
use crate::{csv, html, json, profile, svg, text};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_crd::imbalance::profile as imbalance;
use threadtalk_crd::model::Report;
use threadtalk_profile::Profile;

/// Arguments of `threadtalk report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The profile
    file: PathBuf,
    /// Only regions whose name or file:line matches; * and ? as in a shell, plain text matches anywhere
    #[arg(short, long, value_name = "PATTERN")]
    region: Option<String>,
    /// From which figure on a rule makes a suggestion: false-sharing.share=0.5; may be repeated
    #[arg(long, value_name = "RULE.NAME=VALUE")]
    threshold: Vec<String>,
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
    Html,
    Svg,
    Json,
    Csv,
}

impl ReportArgs {
    /// Makes the report.
    pub fn run(self) -> Result<ExitCode> {
        let caches = self.analysis.caches()?;
        let thresholds = profile::thresholds(&self.threshold)?;
        let (region, hide_serial) = (self.region.clone(), self.analysis.hide_serial);
        let profile = profile::open(&self.file)?;
        let report = profile::analyse_with(&profile, caches, region, hide_serial, thresholds)?;
        self.destination.deliver(&Analysis { arguments: &self, profile: &profile, report: &report })?;
        Ok(ExitCode::SUCCESS)
    }
}

struct Analysis<'a> {
    arguments: &'a ReportArgs,
    profile: &'a Profile,
    report: &'a Report,
}

impl Analysis<'_> {
    fn text(&self, style: text::Style) -> String {
        let ReportArgs { file, destination, top, .. } = self.arguments;
        let next = format!("threadtalk report {} -o report", file.display());
        let next = destination.is_stdout().then_some(next);
        text::report(self.report, file, &text::Shape { top: top.in_text(), style, next })
    }

    fn page(&self, out: impl Write) -> std::io::Result<()> {
        let imbalance = profile::imbalance(self.profile, &imbalance::Options::default());
        let view = View { report: self.report, imbalance: &imbalance };
        html::write(view, self.arguments.top.with_pictures(), out)
    }
}

impl Product<Format> for Analysis<'_> {
    fn single(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Text => self.text(text::Style::of_stdout()),
            Format::Html => output::in_memory(|out| self.page(out)),
            Format::Json => json::report(self.report),
            Format::Svg => svg::first(self.report, self.arguments.region.is_some())?,
            Format::Csv => csv::regions(self.report),
        })
    }

    fn print(&self, format: Format) -> Result<()> {
        match format {
            Format::Html => output::stream(|out| self.page(out)),
            Format::Json => output::stream(|out| json::write(self.report, out)),
            _ => output::to_stdout(self.single(format)?.as_bytes()),
        }
    }

    fn files(&self, format: Format, folder: &mut Folder) -> Result<()> {
        match format {
            Format::Text => folder.add("report.txt", self.text(text::Style::plain())),
            Format::Html => folder.add("index.html", output::in_memory(|out| self.page(out))),
            Format::Json => folder.add("report.json", json::report(self.report)),
            Format::Svg => folder.add_all(svg::all(self.report, self.arguments.top.with_pictures())),
            Format::Csv => folder.add_all(csv::all(self.report)),
        }
    }
}
