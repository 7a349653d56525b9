use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Options, Shape, source};
use crate::build::{Compilers, Tool};
use crate::error::during;
use crate::{Error, Result, process};

/// Who compiles.
pub(super) const TOOLS: [Tool; 3] = [Tool::Native, Tool::Tsan, Tool::Threadtalk];

/// What one compiler took for one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// User and system CPU time in seconds, the least of the rounds.
    pub cpu_s: f64,
    /// Largest resident set in bytes.
    pub peak_bytes: u64,
    /// Code and constants in bytes, as `size` counts them.
    pub text_bytes: u64,
}

/// One file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name, or the shape of a generated function and how many accesses it has.
    pub file: String,
    /// By compiler; null where it ran into the limit and was killed.
    pub tools: BTreeMap<Tool, Option<Outcome>>,
}

impl Row {
    /// CPU time as a multiple of the native compiler's.
    pub fn ratio(&self, tool: Tool) -> Option<f64> {
        self.compared(tool, Tool::Native)
    }

    /// CPU time of one compiler as a multiple of another's.
    pub fn compared(&self, tool: Tool, with: Tool) -> Option<f64> {
        let of = |tool| self.tools.get(&tool)?.as_ref().map(|outcome: &Outcome| outcome.cpu_s);
        Some(of(tool)? / of(with)?)
    }
}

/// Compiles everything; `progress` hears of each step before it begins.
pub fn measure(options: &Options, compilers: &Compilers, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let scratch = during(|| "creating a temporary folder".into(), tempfile::tempdir())?;
    let mut files: Vec<(String, Option<Shape>, PathBuf)> = Vec::new();
    for (&shape, &accesses) in options.shapes.iter().flat_map(|shape| options.accesses.iter().map(move |n| (shape, n)))
    {
        let file = scratch.path().join(format!("{}-{accesses}.c", shape.name()));
        during(|| format!("writing {}", file.display()), std::fs::write(&file, source(shape, accesses)))?;
        files.push((format!("{}, {accesses}", shape.name()), Some(shape), file));
    }
    for file in &options.sources {
        files.push((file.file_name().unwrap_or_default().to_string_lossy().into_owned(), None, file.clone()));
    }
    let mut rows = Vec::new();
    let mut too_large: Vec<(Tool, Shape, u64)> = Vec::new();
    for (name, shape, file) in files {
        let bytes = during(|| format!("reading {}", file.display()), std::fs::metadata(&file))?.len();
        let mut tools: BTreeMap<Tool, Option<Outcome>> = BTreeMap::new();
        for round in 0..options.runs {
            for tool in TOOLS {
                // One that was killed would be killed again, and with more of the same.
                let smaller = too_large.iter().any(|&(t, s, b)| t == tool && Some(s) == shape && b <= bytes);
                if smaller || matches!(tools.get(&tool), Some(None)) {
                    tools.insert(tool, None);
                    continue;
                }
                progress(&format!("{name}: {}, round {}", tool.name(), round + 1));
                let outcome = compile(options, compilers, tool, &file, scratch.path())?;
                too_large.extend(shape.filter(|_| outcome.is_none()).map(|shape| (tool, shape, bytes)));
                let best = match (tools.remove(&tool).flatten(), outcome) {
                    (Some(before), Some(now)) if before.cpu_s < now.cpu_s => Some(before),
                    (_, now) => now,
                };
                tools.insert(tool, best);
            }
        }
        rows.push(Row { file: name, tools });
    }
    Ok(rows)
}

/// `None`: it was killed.
fn compile(
    options: &Options,
    compilers: &Compilers,
    tool: Tool,
    file: &Path,
    scratch: &Path,
) -> Result<Option<Outcome>> {
    let object = scratch.join("timed.o");
    let mut command = compilers.object(tool, file)?;
    command.args(["-O2", "-g", "-c"]).args(&options.flags).arg(file).arg("-o").arg(&object);
    let run = match process::run(command, scratch, options.timeout) {
        Ok(run) => run,
        Err(Error::Timeout { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let mut size = Command::new("size");
    size.arg(&object);
    let printed = process::run(size, scratch, options.timeout)?.stdout;
    Ok(Some(Outcome { cpu_s: run.cpu_s, peak_bytes: run.peak_bytes, text_bytes: text_bytes(&printed) }))
}

/// The first number of the line below the heading; 0 if there is none.
fn text_bytes(size: &str) -> u64 {
    let number = |line: &str| line.split_whitespace().next()?.parse().ok();
    size.lines().nth(1).and_then(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_size_of_the_code_is_in_the_second_line() {
        let printed =
            "   text\t   data\t    bss\t    dec\t    hex\tfilename\n   1234\t     8\t      0\t   1242\t    4da\tx.o\n";
        assert_eq!(text_bytes(printed), 1234);
        assert_eq!(text_bytes(""), 0);
    }

    fn options(timeout: Duration) -> Options {
        let mut options = super::super::parse([]).unwrap().unwrap();
        options.timeout = timeout;
        options
    }

    #[test]
    fn a_compiler_that_is_killed_is_no_error() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("large.c");
        std::fs::write(&file, source(Shape::Loops, 20_000)).unwrap();
        let compilers = Compilers::find();
        let options = options(Duration::from_millis(1));
        assert!(compile(&options, &compilers, Tool::Native, &file, scratch.path()).unwrap().is_none());
    }

    #[test]
    fn larger_functions_than_one_that_took_too_long_are_not_tried() {
        let mut options = options(Duration::from_millis(1));
        (options.shapes, options.accesses, options.runs) = (vec![Shape::Blocks], vec![3000, 1000, 9000], 2);
        let mut steps = Vec::new();
        let rows = measure(&options, &Compilers::find(), |step| steps.push(step.to_string())).unwrap();
        assert!(rows.len() == 3 && rows.iter().all(|row| row.tools.values().all(Option::is_none)), "{rows:?}");
        assert!(rows.iter().all(|row| row.tools.len() == TOOLS.len()), "{rows:?}");
        let tried = |tool: &str| [3000, 1000].map(|n| format!("blocks, {n}: {tool}, round 1"));
        assert_eq!(steps, [0, 1].map(|n| TOOLS.map(|tool| tried(tool.name())[n].clone())).concat());
    }

    #[test]
    fn a_mistake_in_the_file_is_the_compilers_message() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("wrong.c");
        std::fs::write(&file, "int f(void) { return x; }\n").unwrap();
        let options = options(Duration::from_secs(60));
        let error = compile(&options, &Compilers::find(), Tool::Native, &file, scratch.path()).unwrap_err();
        assert!(error.to_string().ends_with("1 error generated."), "{error}");
    }

    #[test]
    fn code_and_memory_of_a_file_are_measured() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("small.c");
        std::fs::write(&file, source(Shape::Loops, 100)).unwrap();
        let options = options(Duration::from_secs(60));
        let compiled = |tool| compile(&options, &Compilers::find(), tool, &file, scratch.path()).unwrap().unwrap();
        let (native, tsan) = (compiled(Tool::Native), compiled(Tool::Tsan));
        assert!(native.cpu_s > 0.0 && native.peak_bytes > 1 << 20 && tsan.text_bytes > native.text_bytes);
    }
}
