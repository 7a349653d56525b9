use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Options, Pair};
use crate::build::{self, Compilers, Tool};
use crate::error::during;
use crate::kernels::Kernel;
use crate::report::{Comparison, Mapping, Promised, Region, Report};
use crate::{Error, Result, process};

/// What a profile says of the bottleneck, children included.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Function.
    pub region: String,
    /// True communication.
    pub raw: u64,
    /// Reuse.
    pub rar: u64,
    /// Median reuse distance in bytes; none without reuse.
    pub crd_median: Option<f64>,
    /// 90th percentile.
    pub crd_p90: Option<f64>,
    /// Share of reuse distances that the smallest cache level cannot hold (definite misses).
    pub beyond_l1: f64,
    /// H.
    pub homogeneity: f64,
    /// B in percent.
    pub balance: f64,
    /// Least wall time of the unprofiled program in seconds.
    pub seconds: f64,
}

/// One pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the pair.
    pub pair: String,
    /// Before the optimisation.
    pub before: Figures,
    /// After it.
    pub after: Option<Figures>,
    /// `rule: text` of what is suggested for the program before, in the bottleneck first.
    pub suggestions: Vec<String>,
    /// What those promise to lower, before and after.
    pub promises: Vec<Promised>,
}

impl Outcome {
    /// Whether a rule makes a suggestion.
    pub fn suggests(&self, rule: &str) -> bool {
        self.suggestions.iter().any(|text| text.split(':').next() == Some(rule))
    }
}

/// Compiles, profiles and times everything; `progress` hears of each step.
pub fn measure(options: &Options, compilers: &Compilers, mut progress: impl FnMut(&str)) -> Result<Vec<Outcome>> {
    let scratch = during(|| "creating a temporary folder".into(), tempfile::tempdir())?;
    let bench = Bench { options, compilers, scratch: scratch.path() };
    let mut outcomes = Vec::new();
    for pair in &options.pairs {
        progress(&format!("profiling {}", pair.name));
        let before = bench.profile(&pair.before)?;
        let after = pair.after.as_ref().map(|kernel| bench.profile(kernel)).transpose()?;
        let suggestions = suggestions(&before.report, pair);
        let mut promises = after.as_ref().map(|after| bench.promises(&before, after)).transpose()?.unwrap_or_default();
        if pair.rules.contains(&MAPPING) {
            promises.push(bench.placement(&before)?);
        }
        progress(&format!("timing {}", pair.name));
        let seconds = bench.time(pair)?;
        let figures = |report: &Report, kernel: &Kernel, seconds: &f64| {
            let region = bottleneck(report, pair)
                .ok_or_else(|| Error::NoRegion { kernel: kernel.name.into(), regions: pair.regions.join(", ") })?;
            Ok(Figures { seconds: *seconds, ..Figures::of(region) })
        };
        let after = match (&after, &pair.after, seconds.get(1)) {
            (Some(profile), Some(kernel), Some(seconds)) => Some(figures(&profile.report, kernel, seconds)?),
            _ => None,
        };
        outcomes.push(Outcome {
            pair: pair.name.into(),
            before: figures(&before.report, &pair.before, &seconds[0])?,
            after,
            suggestions,
            promises,
        });
    }
    Ok(outcomes)
}

/// The caches of the paper's machine (Xeon E5-2650), so that what is suggested does not depend on where the command
/// runs.
const CACHES: &str = "32K,256K,20M";
/// Its processors.
const MACHINE: &str = "package 2\ncore 8\n";
const MAPPING: &str = "thread-mapping";

/// A profile that has been kept.
struct Kept {
    path: PathBuf,
    report: Report,
}

struct Bench<'a> {
    options: &'a Options,
    compilers: &'a Compilers,
    scratch: &'a Path,
}

impl Bench<'_> {
    fn compile(&self, kernel: &Kernel, tool: Tool) -> Result<PathBuf> {
        let program = self.scratch.join(format!("{}-{}", kernel.name, tool.name()));
        process::run(self.compilers.command(kernel, tool, false, &program)?, self.scratch, self.options.timeout)?;
        Ok(program)
    }

    fn command(&self, kernel: &Kernel, tool: Tool, program: &Path, threads: u32) -> Command {
        let mut command = tool.command(program, self.scratch);
        command.args(if self.options.small { kernel.tiny } else { &[] }).args(["-t", &threads.to_string()]);
        command
    }

    fn profile(&self, kernel: &Kernel) -> Result<Kept> {
        let program = self.compile(kernel, Tool::Threadtalk)?;
        let command = self.command(kernel, Tool::Threadtalk, &program, self.options.threads);
        process::run(command, self.scratch, self.options.timeout)?;
        let path = self.scratch.join(format!("{}.ttp", kernel.name));
        let made = build::profile(self.scratch);
        during(|| format!("renaming {}", made.display()), std::fs::rename(&made, &path))?;
        let json = self.threadtalk("report", &[&path], &["--caches", CACHES])?;
        Ok(Kept { report: Report::parse(&json, || format!("the report of {}", kernel.name))?, path })
    }

    /// What one of the tool's commands prints as JSON.
    fn threadtalk(&self, name: &str, files: &[&Path], more: &[&str]) -> Result<String> {
        let mut command = Command::new(self.compilers.threadtalk("threadtalk")?);
        command.arg(name).args(files).args(["--format", "json"]).args(more);
        Ok(process::run(command, self.scratch, self.options.timeout)?.stdout)
    }

    fn promises(&self, before: &Kept, after: &Kept) -> Result<Vec<Promised>> {
        let json = self.threadtalk("compare", &[&before.path, &after.path], &["--caches", CACHES])?;
        Ok(Comparison::parse(&json, || format!("the comparison of {}", before.path.display()))?.promises)
    }

    /// What threads that are spread over the paper's machine cost, and what those at their computed places do.
    fn placement(&self, before: &Kept) -> Result<Promised> {
        let machine = self.scratch.join("machine");
        during(|| format!("writing {}", machine.display()), std::fs::write(&machine, MACHINE))?;
        let json = self.threadtalk("map", &[&before.path], &["--topology", &machine.to_string_lossy()])?;
        let cost = Mapping::parse(&json, || format!("the mapping of {}", before.path.display()))?.cost;
        Ok(Promised {
            rule: MAPPING.into(),
            name: "the program".into(),
            lowers: "placement_cost".into(),
            base: cost.scatter,
            new: cost.mapped,
            kept: cost.mapped < cost.scatter,
        })
    }

    /// Least wall time of each variant.
    fn time(&self, pair: &Pair) -> Result<Vec<f64>> {
        let programs = pair.kernels().map(|kernel| Ok((kernel, self.compile(kernel, Tool::Native)?)));
        let programs = programs.collect::<Result<Vec<_>>>()?;
        let mut least = vec![f64::INFINITY; programs.len()];
        for _ in 0..self.options.runs {
            for (least, (kernel, program)) in least.iter_mut().zip(&programs) {
                let command = self.command(kernel, Tool::Native, program, self.options.timed_threads);
                *least = least.min(process::run(command, self.scratch, self.options.timeout)?.wall_s);
            }
        }
        Ok(least)
    }
}

/// The outermost region of the first function that has events.
fn bottleneck<'a>(report: &'a Report, pair: &Pair) -> Option<&'a Region> {
    pair.regions.iter().find_map(|name| {
        report.regions.iter().find(|r| r.kind == "function" && r.name == *name && r.total_events() > 0)
    })
}

/// Suggestions for the bottleneck, then for other regions, each rule once.
fn suggestions(report: &Report, pair: &Pair) -> Vec<String> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for region in &report.regions {
        let list = if pair.regions.contains(&region.name.as_str()) { &mut inside } else { &mut outside };
        list.extend(region.suggestions.iter());
    }
    let mut rules = Vec::new();
    inside.extend(outside);
    inside.retain(|s| {
        !rules.contains(&s.rule.as_str()) && {
            rules.push(s.rule.as_str());
            true
        }
    });
    inside.iter().map(|s| format!("{}: {}", s.rule, s.text)).collect()
}

impl Figures {
    fn of(region: &Region) -> Figures {
        let whole = region.whole();
        let crd = whole.crd.as_ref();
        let first = crd.and_then(|crd| crd.cutoffs.first());
        Figures {
            region: region.name.clone(),
            raw: region.total_raw.iter().flatten().sum(),
            rar: region.total_rar.iter().flatten().sum(),
            crd_median: crd.and_then(|crd| crd.median_bytes),
            crd_p90: crd.and_then(|crd| crd.p90_bytes),
            beyond_l1: first.map_or(0.0, |level| level.definite_miss),
            homogeneity: whole.homogeneity.unwrap_or(0.0),
            balance: whole.balance.unwrap_or(0.0),
            seconds: 0.0,
        }
    }

    /// Events whose reuse distance exceeds the smallest cache level.
    pub fn misses(&self) -> f64 {
        self.beyond_l1 * self.rar as f64
    }
}
