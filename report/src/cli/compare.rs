//! Arguments of `threadtalk compare`.

use super::destination::{Destination, Product};
use super::reporting::{AnalysisArgs, TopArgs};
use crate::compare::{self, View};
use crate::error::{Error, Result};
use crate::output::Folder;
use crate::{profile, text};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_crd::RegionFilter;
use threadtalk_crd::compare::{CompareOptions, Condition, NOISE};

/// Arguments of `threadtalk compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// The profile before
    base: PathBuf,
    /// The profile after
    new: PathBuf,
    /// Only regions whose name or file:line matches in either profile; * and ? as in a shell
    #[arg(short, long, value_name = "PATTERN")]
    region: Option<String>,
    /// Changes up to so many percent count as none [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = noise)]
    noise: Option<f64>,
    /// Exit with status 1 if one of these holds in any region or in the program: 'raw>+10%,crd_median>+20%'
    ///
    /// METRIC>LIMIT or METRIC<LIMIT, separated by commas. A limit with a sign and % is a change relative to the base,
    /// with a sign alone a difference, without either a bound of the new value. Metrics: raw, rar, sync, crr,
    /// crd_median and crd_p90 (in elements), homogeneity, homogeneity_scaled, balance, definite_miss and probable_miss
    /// (shares of the nearest cache; _l1, _l2, ... for a level), visits, and of the program imbalance, duration_s and
    /// cpu_s. With --region the program is not checked.
    #[arg(long, value_name = "CONDITIONS")]
    fail_on: Option<String>,
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
}

fn noise(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end().parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "write a percentage, for example 5".to_string())
}

impl CompareArgs {
    /// Makes the comparison.
    pub fn run(self) -> Result<ExitCode> {
        let conditions = self.fail_on.as_deref().map(conditions).transpose()?.unwrap_or_default();
        let caches = self.analysis.caches()?;
        // The filter comes after the matching, which needs the enclosing regions.
        let base = profile::analyse(&self.base, caches.clone(), None, self.analysis.hide_serial)?;
        let new = profile::analyse(&self.new, caches, None, self.analysis.hide_serial)?;
        let options = CompareOptions {
            noise: self.noise.map_or(NOISE, |percent| percent / 100.0),
            region: self.region.as_deref().map(RegionFilter::new),
        };
        let comparison = threadtalk_crd::compare::compare(&base, &new, &options);
        let unmatched = &comparison.unmatched;
        if let Some(pattern) = &self.region
            && comparison.regions.is_empty()
            && unmatched.base.is_empty()
            && unmatched.new.is_empty()
        {
            let advice = "see threadtalk compare BASE NEW for the names of those that communicate";
            return Err(Error::usage("no region matches", pattern, advice));
        }
        let view = View { base: &base, new: &new, comparison: &comparison };
        self.destination.deliver(&Comparison { arguments: &self, view })?;
        compare::verdict(view, &comparison.check(&conditions, self.region.is_none()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn conditions(list: &str) -> Result<Vec<Condition>> {
    Condition::parse(list).map_err(|error| {
        let advice = "write for example 'raw>+10%,crd_median>+20%'; compare --help has the names";
        Error::usage(format!("condition not understood ({error})"), list, advice)
    })
}

struct Comparison<'a> {
    arguments: &'a CompareArgs,
    view: View<'a>,
}

impl Comparison<'_> {
    fn text(&self, style: text::Style) -> String {
        let CompareArgs { base, new, top, .. } = self.arguments;
        compare::text(self.view, [base, new], top.in_text(), style)
    }

    fn page(&self) -> String {
        compare::page(self.view, self.arguments.top.with_pictures())
    }
}

impl Product<Format> for Comparison<'_> {
    fn single(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Text => self.text(text::Style::of_stdout()),
            Format::Html => self.page(),
            Format::Json => compare::json(self.view.comparison),
            Format::Svg => compare::first_picture(self.view, self.arguments.region.is_some())?,
        })
    }

    fn files(&self, format: Format, folder: &mut Folder) -> Result<()> {
        match format {
            Format::Text => folder.add("compare.txt", self.text(text::Style::plain())),
            Format::Html => folder.add("index.html", self.page()),
            Format::Json => folder.add("compare.json", compare::json(self.view.comparison)),
            Format::Svg => folder.add_all(compare::pictures(self.view, self.arguments.top.with_pictures())),
        }
    }
}
