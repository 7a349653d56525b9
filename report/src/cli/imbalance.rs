//! Arguments of `threadtalk imbalance`.

use super::reporting::{ReportingArgs, TOP_SVG, TOP_TEXT};
use crate::error::{Error, Result};
use crate::imbalance::{self, Shape, View};
use crate::{output, profile, text};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_crd::imbalance::lime::Significance;
use threadtalk_crd::imbalance::profile::Options;
use threadtalk_crd::imbalance::profile::model::Dependent;

/// Arguments of `threadtalk imbalance`.
#[derive(Args, Debug)]
pub struct ImbalanceArgs {
    /// The profile
    file: PathBuf,
    /// Folder to write to: the page, pictures, text, JSON and CSV, or what --format names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What to make; without -o it goes to standard output
    #[arg(short, long, value_enum)]
    format: Vec<Format>,
    /// What of the threads is compared in parallel sections [default: work if control flow was counted, else time]
    #[arg(long, value_enum)]
    by: Option<By>,
    /// When a cause is significant: p under 0.05 divided by the number of predictors, or under 0.05
    #[arg(long, value_enum, default_value = "bonferroni")]
    alpha: Alpha,
    /// Least mean correlation of events that count as one, 0 to 1
    #[arg(long, value_name = "R", default_value = "0.9", value_parser = correlation)]
    correlation: f64,
    /// At most so many sections and regions in the text, and so many of each with pictures
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Executed instructions
    Work,
    /// CPU time
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Alpha {
    /// 0.05 divided by the number of predictors
    Bonferroni,
    /// 0.05
    Raw,
}

/// The level of significance, before it is divided.
const ALPHA: f64 = 0.05;

fn correlation(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|r: &f64| (0.0..=1.0).contains(r));
    number.ok_or_else(|| "write a number from 0 to 1, for example 0.9".to_string())
}

impl ImbalanceArgs {
    /// Makes the analysis.
    pub fn run(self) -> Result<ExitCode> {
        let caches = self.reporting.caches.as_deref().map(profile::caches).transpose()?;
        let report = profile::analyse(&self.file, caches, None, self.reporting.hide_serial)?;
        let imbalance = profile::imbalance(&self.file, &self.options())?;
        if self.by == Some(By::Work) && !imbalance.control_flow {
            let advice = "compile with threadtalk cc --threadtalk=memory,control, or use --by time";
            return Err(Error::usage("the profile has no counts of work", "--by work", advice));
        }
        let view = View { report: &report, imbalance: &imbalance };
        match &self.output {
            None => self.to_stdout(view)?,
            Some(folder) => self.to_folder(view, folder.clone())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn options(&self) -> Options {
        let mut options = Options {
            dependent: self.by.map(|by| if by == By::Work { Dependent::Work } else { Dependent::Time }),
            ..Options::default()
        };
        options.lime.threshold = self.correlation;
        options.lime.significance = match self.alpha {
            Alpha::Bonferroni => Significance::Divided(ALPHA),
            Alpha::Raw => Significance::Raw(ALPHA),
        };
        options
    }

    fn top(&self, default: usize) -> usize {
        self.top.map_or(default, |top| top as usize)
    }

    fn text(&self, view: View, style: text::Style) -> String {
        let next = format!("threadtalk imbalance {} -o imbalance", self.file.display());
        let next = self.output.is_none().then_some(next);
        imbalance::text(view, &self.file, &Shape { top: self.top(TOP_TEXT), style, next })
    }

    fn to_stdout(&self, view: View) -> Result<()> {
        let format = match self.format[..] {
            [] => Format::Text,
            [one] => one,
            _ => return Err(Error::usage("several formats", "--format", "name a folder with -o, or one format")),
        };
        let made = match format {
            Format::Text => self.text(view, text::Style::of_stdout()),
            Format::Html => imbalance::page(view, self.top(TOP_SVG)),
            Format::Json => imbalance::json(view.imbalance),
            Format::Svg => imbalance::first_picture(view)?,
            Format::Csv => imbalance::causes(view),
        };
        output::to_stdout(made.as_bytes())
    }

    fn to_folder(&self, view: View, folder: PathBuf) -> Result<()> {
        const ALL: [Format; 5] = [Format::Text, Format::Html, Format::Svg, Format::Json, Format::Csv];
        let formats = if self.format.is_empty() { &ALL[..] } else { &self.format[..] };
        let mut files = output::Folder::open(&folder, self.reporting.force)?;
        for format in formats {
            match format {
                Format::Text => files.add("imbalance.txt", self.text(view, text::Style::plain()))?,
                Format::Html => files.add("index.html", imbalance::page(view, self.top(TOP_SVG)))?,
                Format::Json => files.add("imbalance.json", imbalance::json(view.imbalance))?,
                Format::Svg => {
                    for (name, picture) in imbalance::pictures(view, self.top(TOP_SVG)) {
                        files.add(&name, picture)?;
                    }
                }
                Format::Csv => {
                    files.add("causes.csv", imbalance::causes(view))?;
                    files.add("imbalance.csv", imbalance::regions(view))?;
                    files.add("blocks.csv", imbalance::blocks(view))?;
                }
            }
        }
        output::to_stdout(files.write()?.as_bytes())
    }
}
