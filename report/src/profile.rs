//! Profiles: opened, analysed, dumped, validated.

mod dump;

use crate::error::{Error, Result};
use std::path::Path;
use std::process::ExitCode;
use threadtalk_crd::imbalance::profile as imbalance;
use threadtalk_crd::machine::{self, Cache};
use threadtalk_crd::model::Report;
use threadtalk_crd::suggest::Thresholds;
use threadtalk_crd::{Options, RegionFilter};
use threadtalk_profile::{Profile, State};

/// Opens a profile.
pub fn open(path: &Path) -> Result<Profile> {
    Ok(Profile::open(path)?)
}

/// Caches described on the command line.
pub fn caches(spec: &str) -> Result<Vec<Cache>> {
    machine::parse(spec).map_err(|error| {
        let advice = "write sizes from the nearest level on, for example 32K,1M,32M:shared=8";
        Error::usage(format!("cache description not understood ({error})"), spec, advice)
    })
}

/// Opens and analyses a profile. Without `caches` those of this machine are taken; where it hides them, there are no
/// cutoffs.
pub fn analyse(path: &Path, caches: Option<Vec<Cache>>, region: Option<String>, hide_serial: bool) -> Result<Report> {
    analyse_with(&open(path)?, caches, region, hide_serial, Thresholds::default())
}

/// Thresholds of the rules, each written as `RULE.NAME=VALUE`.
pub fn thresholds(settings: &[String]) -> Result<Thresholds> {
    let mut thresholds = Thresholds::default();
    for setting in settings {
        let understood = thresholds.set(setting);
        understood.map_err(|error| {
            let what = format!("threshold not understood ({error})");
            Error::usage(what, setting.clone(), "write for example false-sharing.share=0.5")
        })?;
    }
    Ok(thresholds)
}

/// As [`analyse`], of an opened profile and with other thresholds of the rules.
pub fn analyse_with(
    profile: &Profile,
    caches: Option<Vec<Cache>>,
    region: Option<String>,
    hide_serial: bool,
    thresholds: Thresholds,
) -> Result<Report> {
    let caches = caches.unwrap_or_else(|| machine::read(Path::new(machine::SYSFS_CPU)).unwrap_or_default());
    let options = Options { caches, hide_serial, thresholds, region: region.as_deref().map(RegionFilter::new) };
    let report = threadtalk_crd::analyse(profile, &options);
    match region {
        Some(pattern) if report.regions.is_empty() => {
            Err(Error::usage("no region matches", pattern, "see threadtalk report FILE for the names"))
        }
        _ => Ok(report),
    }
}

/// Analyses the imbalance of a profile.
pub fn imbalance(profile: &Profile, options: &imbalance::Options) -> imbalance::model::Imbalance {
    imbalance::analyse(&imbalance::observed::Observed::of(profile), options)
}

/// `threadtalk validate`.
pub fn validate(path: &Path) -> Result<ExitCode> {
    let profile = open(path)?;
    let header = profile.header();
    let end = match header.state {
        State::Running => "not sealed (its process runs or was killed), so there are no checksums",
        State::Abrupt => "its process ended abruptly, so there are no checksums",
        State::Normal | State::Exec => "sealed, all checksums match",
    };
    let text = format!(
        "{}: valid: version {}, {} modules, {} threads, {} event records, {} reuse distance traces; {end}\n",
        path.display(),
        header.version,
        profile.modules().len(),
        profile.threads().len(),
        profile.events_len(),
        profile.traces().count()
    );
    crate::output::to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// `threadtalk dump`.
pub fn dump(path: &Path) -> Result<ExitCode> {
    crate::output::to_stdout(dump::text(&open(path)?).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
