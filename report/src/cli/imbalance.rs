//! Arguments of `threadtalk imbalance`.

use super::destination::{Destination, Product};
use super::reporting::{AnalysisArgs, TopArgs};
use crate::error::{Error, Result};
use crate::imbalance::{self, Shape, View};
use crate::output::Folder;
use crate::{profile, text};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_crd::imbalance::lime::Significance;
use threadtalk_crd::imbalance::profile::Options;
use threadtalk_crd::imbalance::profile::model::Dependent;
use threadtalk_crd::suggest::Thresholds;
use threadtalk_profile::layout::CounterEvent;

/// Arguments of `threadtalk imbalance`.
#[derive(Args, Debug)]
pub struct ImbalanceArgs {
    /// The profile
    file: PathBuf,
    /// What of the threads is compared in parallel sections [default: work if control flow was counted, else time]
    #[arg(long, value_enum)]
    by: Option<By>,
    /// When a cause is significant: p under 0.05 divided by the number of predictors, or under 0.05
    #[arg(long, value_enum, default_value = "bonferroni")]
    alpha: Alpha,
    /// Least mean correlation of events that count as one, 0 to 1
    #[arg(long, value_name = "R", default_value = "0.9", value_parser = correlation)]
    correlation: f64,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Executed instructions
    Work,
    /// CPU time
    Time,
    /// Instructions, as the processor counted them (of programs that ran with THREADTALK_OPTIONS=counters=instructions,
    /// and so on with the others)
    Instructions,
    /// Cycles of the processor
    Cycles,
    /// Misses of the last-level cache
    CacheMisses,
    /// Branches predicted wrongly
    BranchMisses,
    /// Page faults
    PageFaults,
    /// Switches to other threads
    ContextSwitches,
    /// Moves to other processors
    CpuMigrations,
    /// Nanoseconds on a processor
    TaskClock,
}

impl By {
    fn dependent(self) -> Dependent {
        Dependent::Counter(match self {
            By::Work => return Dependent::Work,
            By::Time => return Dependent::Time,
            By::Instructions => CounterEvent::Instructions,
            By::Cycles => CounterEvent::Cycles,
            By::CacheMisses => CounterEvent::CacheMisses,
            By::BranchMisses => CounterEvent::BranchMisses,
            By::PageFaults => CounterEvent::PageFaults,
            By::ContextSwitches => CounterEvent::ContextSwitches,
            By::CpuMigrations => CounterEvent::Migrations,
            By::TaskClock => CounterEvent::TaskClock,
        })
    }
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
        let caches = self.analysis.caches()?;
        let profile = profile::open(&self.file)?;
        let hide_serial = self.analysis.hide_serial;
        let report = profile::analyse_with(&profile, caches, None, hide_serial, Thresholds::default())?;
        let imbalance = profile::imbalance(&profile, &self.options());
        if self.by == Some(By::Work) && !imbalance.control_flow {
            let advice = "compile with threadtalk cc --threadtalk=memory,control, or use --by time";
            return Err(Error::usage("the profile has no counts of work", "--by work", advice));
        }
        if let Some(Dependent::Counter(event)) = self.by.map(By::dependent)
            && imbalance.dependent != Dependent::Counter(event)
        {
            let (name, by) = (event.name(), format!("--by {}", event.name()));
            let problem = format!("the profile has no counts of {name} in parallel sections");
            let advice = format!(
                "run the program with THREADTALK_OPTIONS=counters={name}; threadtalk doctor says whether this machine \
                 counts them"
            );
            return Err(Error::usage(problem, by, advice));
        }
        let view = View { report: &report, imbalance: &imbalance };
        self.destination.deliver(&Analysis { arguments: &self, view })?;
        Ok(ExitCode::SUCCESS)
    }

    fn options(&self) -> Options {
        let mut options = Options { dependent: self.by.map(By::dependent), ..Options::default() };
        options.lime.threshold = self.correlation;
        options.lime.significance = match self.alpha {
            Alpha::Bonferroni => Significance::Divided(ALPHA),
            Alpha::Raw => Significance::Raw(ALPHA),
        };
        options
    }
}

struct Analysis<'a> {
    arguments: &'a ImbalanceArgs,
    view: View<'a>,
}

impl Analysis<'_> {
    fn text(&self, style: text::Style) -> String {
        let ImbalanceArgs { file, destination, top, .. } = self.arguments;
        let next = format!("threadtalk imbalance {} -o imbalance", file.display());
        let next = destination.is_stdout().then_some(next);
        imbalance::text(self.view, file, &Shape { top: top.in_text(), style, next })
    }

    fn page(&self) -> String {
        imbalance::page(self.view, self.arguments.top.with_pictures())
    }
}

impl Product<Format> for Analysis<'_> {
    fn single(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Text => self.text(text::Style::of_stdout()),
            Format::Html => self.page(),
            Format::Json => imbalance::json(self.view.imbalance),
            Format::Svg => imbalance::first_picture(self.view)?,
            Format::Csv => imbalance::causes(self.view),
        })
    }

    fn files(&self, format: Format, folder: &mut Folder) -> Result<()> {
        match format {
            Format::Text => folder.add("imbalance.txt", self.text(text::Style::plain())),
            Format::Html => folder.add("index.html", self.page()),
            Format::Json => folder.add("imbalance.json", imbalance::json(self.view.imbalance)),
            Format::Svg => folder.add_all(imbalance::pictures(self.view, self.arguments.top.with_pictures())),
            Format::Csv => {
                folder.add("causes.csv", imbalance::causes(self.view))?;
                folder.add("imbalance.csv", imbalance::regions(self.view))?;
                folder.add("blocks.csv", imbalance::blocks(self.view))
            }
        }
    }
}
