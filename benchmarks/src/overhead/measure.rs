use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Options;
use crate::build::{self, Compilers, Tool};
use crate::error::during;
use crate::kernels::Kernel;
use crate::process;
use crate::statistics::Summary;
use crate::{Error, Result};

/// All rounds of one tool on one kernel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// User and system CPU time of each round in seconds.
    pub cpu_s: Vec<f64>,
    /// Wall time of each round in seconds.
    pub wall_s: Vec<f64>,
    /// Largest resident set of any round in bytes.
    pub peak_bytes: u64,
}

/// One kernel at one number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Kernel.
    pub kernel: String,
    /// Threads.
    pub threads: u32,
    /// Whether the small input was used.
    pub small: bool,
    /// CPU seconds of compiling to an object file, for each tool that compiles, over the rounds.
    pub compile_s: BTreeMap<Tool, Vec<f64>>,
    /// Runs.
    pub tools: BTreeMap<Tool, Measurement>,
}

impl Row {
    /// CPU time under `tool` as a multiple of the native one.
    pub fn cpu_ratio(&self, tool: Tool, summary: Summary) -> Option<f64> {
        let of = |tool| summary.of(&self.tools.get(&tool)?.cpu_s);
        Some(of(tool)? / of(Tool::Native)?)
    }

    /// Wall time under `tool` as a multiple of the native one.
    pub fn wall_ratio(&self, tool: Tool, summary: Summary) -> Option<f64> {
        let of = |tool| summary.of(&self.tools.get(&tool)?.wall_s);
        Some(of(tool)? / of(Tool::Native)?)
    }

    /// Peak memory under `tool` as a multiple of the native one.
    pub fn memory_ratio(&self, tool: Tool) -> Option<f64> {
        let of = |tool| self.tools.get(&tool).map(|m| m.peak_bytes as f64);
        Some(of(tool)? / of(Tool::Native)?)
    }

    /// Compile time under `tool` as a multiple of the native one.
    pub fn compile_ratio(&self, tool: Tool, summary: Summary) -> Option<f64> {
        let of = |tool| summary.of(self.compile_s.get(&tool)?);
        Some(of(tool)? / of(Tool::Native)?)
    }
}

/// Compiles and runs everything; `progress` hears of each step.
pub fn measure(options: &Options, compilers: &Compilers, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let scratch = during(|| "creating a temporary folder".into(), tempfile::tempdir())?;
    let mut tools = vec![Tool::Native, Tool::Threadtalk];
    tools.extend(options.against.is_some().then_some(Tool::Before));
    let compilers = &compilers.against(options.against.clone());
    tools.extend_from_slice(if options.parts { &[Tool::Memory, Tool::Control, Tool::Effective] } else { &[] });
    tools.extend(options.tsan.then_some(Tool::Tsan));
    let context = if options.context { &[Tool::Helgrind, Tool::Drd][..] } else { &[] };
    let mut rows = Vec::new();
    for &kernel in &options.kernels {
        progress(&format!("compiling {}", kernel.name));
        let bench = Bench { kernel, options, compilers, scratch: scratch.path() };
        let compile_s = bench.compile(&tools)?;
        for &threads in &options.threads {
            progress(&format!("running {} with {threads} threads", kernel.name));
            // Inputs that are small already serve the slow tools, too.
            let tools = if options.quick { [&tools, context].concat() } else { tools.clone() };
            let measured = bench.rounds(&tools, threads, options.quick, options.runs)?;
            let compile_s = compile_s.clone();
            rows.push(Row { kernel: kernel.name.into(), threads, small: options.quick, compile_s, tools: measured });
        }
        if options.context && !options.quick {
            let threads = options.threads[0];
            progress(&format!("running {} on a small input under helgrind and drd", kernel.name));
            let measured = bench.rounds(&[&tools, context].concat(), threads, true, 1)?;
            rows.push(Row {
                kernel: kernel.name.into(),
                threads,
                small: true,
                compile_s: BTreeMap::new(),
                tools: measured,
            });
        }
    }
    Ok(rows)
}

struct Bench<'a> {
    kernel: &'static Kernel,
    options: &'a Options,
    compilers: &'a Compilers,
    scratch: &'a Path,
}

impl Bench<'_> {
    fn program(&self, tool: Tool) -> PathBuf {
        self.scratch.join(format!("{}-{}", self.kernel.name, tool.build().name()))
    }

    /// Builds the programs, and takes the time of compiling without linking, in turns.
    fn compile(&self, tools: &[Tool]) -> Result<BTreeMap<Tool, Vec<f64>>> {
        let tools = tools.iter().copied().filter(|tool| tool.compiles());
        for tool in tools.clone() {
            let command = self.compilers.command(self.kernel, tool, false, &self.program(tool))?;
            process::run(command, self.scratch, self.options.timeout)?;
        }
        let mut times = BTreeMap::<Tool, Vec<f64>>::new();
        for _ in 0..self.options.runs {
            for tool in tools.clone() {
                let command = self.compilers.command(self.kernel, tool, true, &self.scratch.join("timed.o"))?;
                times.entry(tool).or_default().push(process::run(command, self.scratch, self.options.timeout)?.cpu_s);
            }
        }
        Ok(times)
    }

    fn rounds(&self, tools: &[Tool], threads: u32, small: bool, runs: u32) -> Result<BTreeMap<Tool, Measurement>> {
        let mut measured = BTreeMap::<Tool, Measurement>::new();
        let mut expected: Option<String> = None;
        for _ in 0..runs {
            for &tool in tools {
                let mut command = tool.command(&self.program(tool), self.scratch);
                command.args(["-t", &threads.to_string()]).args(self.kernel.arguments(small));
                let run = process::run(command, self.scratch, self.options.timeout)?;
                self.check(tool, &run.stdout, expected.get_or_insert_with(|| run.stdout.clone()))?;
                let measurement = measured.entry(tool).or_default();
                measurement.cpu_s.push(run.cpu_s);
                measurement.wall_s.push(run.wall_s);
                measurement.peak_bytes = measurement.peak_bytes.max(run.peak_bytes);
                let profile = build::profile(self.scratch);
                if profile.exists() {
                    during(|| format!("removing {}", profile.display()), fs::remove_file(&profile))?;
                }
            }
        }
        Ok(measured)
    }

    /// `tools` begins with the native one, so what it printed first is what all must print.
    fn check(&self, tool: Tool, found: &str, expected: &str) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let [found, expected] = [found, expected].map(|text| text.trim_end().to_owned());
        Err(Error::WrongOutput { kernel: self.kernel.name.into(), tool: tool.name().into(), found, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use std::time::Duration;

    fn row(native: &[f64], threadtalk: &[f64]) -> Row {
        let measurement = |cpu_s: &[f64], peak_bytes| Measurement {
            cpu_s: cpu_s.to_vec(),
            wall_s: cpu_s.iter().map(|s| s / 2.0).collect(),
            peak_bytes,
        };
        Row {
            kernel: "lu".into(),
            threads: 2,
            small: false,
            compile_s: BTreeMap::from([(Tool::Native, vec![0.2]), (Tool::Threadtalk, vec![0.3])]),
            tools: BTreeMap::from([
                (Tool::Native, measurement(native, 1000)),
                (Tool::Threadtalk, measurement(threadtalk, 2500)),
            ]),
        }
    }

    #[test]
    fn ratios_are_formed_from_summaries_and_not_round_by_round() {
        let row = row(&[1.0, 2.0, 4.0], &[6.0, 3.0, 9.0]);
        assert_eq!(row.cpu_ratio(Tool::Threadtalk, Summary::Minimum), Some(3.0));
        assert_eq!(row.cpu_ratio(Tool::Threadtalk, Summary::Median), Some(3.0));
        assert_eq!(row.memory_ratio(Tool::Threadtalk), Some(2.5));
        assert!((row.compile_ratio(Tool::Threadtalk, Summary::Minimum).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(row.cpu_ratio(Tool::Tsan, Summary::Minimum), None);
    }

    #[test]
    fn a_changed_result_is_an_error() {
        let options = crate::overhead::parse([]).unwrap().unwrap();
        let compilers = Compilers::find();
        let bench =
            Bench { kernel: &kernels::ALL[0], options: &options, compilers: &compilers, scratch: Path::new("") };
        assert!(bench.check(Tool::Tsan, "checksum 1\n", "checksum 1\n").is_ok());
        let error = bench.check(Tool::Tsan, "checksum 2\n", "checksum 1\n").unwrap_err().to_string();
        assert!(error.starts_with("lu under tsan printed \"checksum 2\", but natively \"checksum 1\""), "{error}");
    }

    #[test]
    fn the_native_build_runs_in_rounds() {
        let scratch = tempfile::tempdir().unwrap();
        let mut options = crate::overhead::parse([]).unwrap().unwrap();
        options.runs = 2;
        options.timeout = Duration::from_secs(60);
        let compilers = Compilers::find();
        let kernel = Kernel::named("radix").unwrap();
        let bench = Bench { kernel, options: &options, compilers: &compilers, scratch: scratch.path() };
        assert_eq!(bench.compile(&[Tool::Native]).unwrap()[&Tool::Native].len(), 2);
        let measured = bench.rounds(&[Tool::Native], 3, true, 2).unwrap();
        assert_eq!(measured[&Tool::Native].cpu_s.len(), 2);
    }
}
