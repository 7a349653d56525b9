//! Arguments of `threadtalk compare`.

use super::reporting::{ReportingArgs, TOP_SVG, TOP_TEXT};
use crate::compare::{self, View};
use crate::error::{Error, Result};
use crate::{output, profile, text};
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
    /// Folder to write to: the page, pictures, text and JSON, or what --format names
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What to make; without -o it goes to standard output
    #[arg(short, long, value_enum)]
    format: Vec<Format>,
    /// Only regions whose name or file:line matches in either profile; * and ? as in a shell
    #[arg(short, long, value_name = "PATTERN")]
    region: Option<String>,
    /// At most so many regions in the text, and so many with pictures
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Changes up to so many percent count as none [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = noise)]
    noise: Option<f64>,
    /// Exit with status 1 if one of these holds in any region or in the program: 'raw>+10%,crd_median>+20%'
    ///
    /// METRIC>LIMIT or METRIC<LIMIT, separated by commas. A limit with a sign and % is a change relative to the base,
    /// with a sign alone a difference, without either a bound of the new value. Metrics: raw, rar, sync, crr,
    /// crd_median and crd_p90 (in elements), homogeneity, homogeneity_scaled, balance, definite_miss and probable_miss (shares of the nearest
    /// cache; _l1, _l2, ... for a level), visits, duration_s and cpu_s. With --region the program is not checked.
    #[arg(long, value_name = "CONDITIONS")]
    fail_on: Option<String>,
    #[command(flatten)]
    reporting: ReportingArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
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
        let caches = self.reporting.caches.as_deref().map(profile::caches).transpose()?;
        // The filter comes after the matching, which needs the enclosing regions.
        let base = profile::analyse(&self.base, caches.clone(), None, self.reporting.hide_serial)?;
        let new = profile::analyse(&self.new, caches, None, self.reporting.hide_serial)?;
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
        match &self.output {
            None => self.to_stdout(view)?,
            Some(folder) => self.to_folder(view, folder.clone())?,
        }
        compare::verdict(view, &comparison.check(&conditions, self.region.is_none()))?;
        Ok(ExitCode::SUCCESS)
    }

    fn top(&self, default: usize) -> usize {
        self.top.map_or(default, |top| top as usize)
    }

    fn text(&self, view: View, style: text::Style) -> String {
        compare::text(view, [&self.base, &self.new], self.top(TOP_TEXT), style)
    }

    fn to_stdout(&self, view: View) -> Result<()> {
        let format = match self.format[..] {
            [] => Format::Text,
            [one] => one,
            _ => return Err(Error::usage("several formats", "--format", "name a folder with -o, or one format")),
        };
        let made = match format {
            Format::Text => self.text(view, text::Style::of_stdout()),
            Format::Html => compare::page(view, self.top(TOP_SVG)),
            Format::Json => compare::json(view.comparison),
            Format::Svg => compare::first_picture(view, self.region.is_some())?,
        };
        output::to_stdout(made.as_bytes())
    }

    fn to_folder(&self, view: View, folder: PathBuf) -> Result<()> {
        const ALL: [Format; 4] = [Format::Text, Format::Html, Format::Svg, Format::Json];
        let formats = if self.format.is_empty() { &ALL[..] } else { &self.format[..] };
        let mut files = output::Folder::open(&folder, self.reporting.force)?;
        for format in formats {
            match format {
                Format::Text => files.add("compare.txt", self.text(view, text::Style::plain()))?,
                Format::Html => files.add("index.html", compare::page(view, self.top(TOP_SVG)))?,
                Format::Json => files.add("compare.json", compare::json(view.comparison))?,
                Format::Svg => {
                    for (name, picture) in compare::pictures(view, self.top(TOP_SVG)) {
                        files.add(&name, picture)?;
                    }
                }
            }
        }
        output::to_stdout(files.write()?.as_bytes())
    }
}

fn conditions(list: &str) -> Result<Vec<Condition>> {
    Condition::parse(list).map_err(|error| {
        let advice = "write for example 'raw>+10%,crd_median>+20%'; compare --help has the names";
        Error::usage(format!("condition not understood ({error})"), list, advice)
    })
}
