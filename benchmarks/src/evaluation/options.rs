use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use super::{ALL, Pair};
use crate::arguments::{list, number, text, usage};
use crate::{Error, Result};

/// What `--help` prints.
pub const USAGE: &str = "\
Usage: evaluation [OPTIONS]
Profiles the paper's pairs of programs before and after their optimisation, takes their times without profiling, and
prints both beside the paper's row and beside what threadtalk suggests for the program before.

  --threads N        threads of the profiled runs (default 4)
  --timed-threads N  threads of the timed runs (default: the machine's processors, at most 4)
  --runs N           rounds of timed runs, the variants by turns; the least counts (default 5)
  --pairs A,B        only these (default all)
  --small            tiny inputs, to try the command out
  --timeout SECONDS  kill a run that takes longer (default 600)
  --json FILE        write the outcome here, too
";

/// What to evaluate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads of the profiled runs.
    pub threads: u32,
    /// Threads of the timed runs.
    pub timed_threads: u32,
    /// Rounds of timed runs.
    pub runs: u32,
    /// Which pairs.
    pub pairs: Vec<&'static Pair>,
    /// Tiny inputs.
    pub small: bool,
    /// Longest run.
    pub timeout: Duration,
    /// Where to write JSON.
    pub json: Option<PathBuf>,
}

/// Reads the arguments after the program's name; `None` if help was asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>> {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut options = Options {
        threads: 4,
        timed_threads: processors.min(4),
        runs: 5,
        pairs: ALL.iter().collect(),
        small: false,
        timeout: Duration::from_secs(600),
        json: None,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("threads") => options.threads = number(&text(&mut parser)?, "--threads", 256)?,
            Long("timed-threads") => options.timed_threads = number(&text(&mut parser)?, "--timed-threads", 256)?,
            Long("runs") => options.runs = number(&text(&mut parser)?, "--runs", 1000)?,
            Long("pairs") => options.pairs = list(&text(&mut parser)?, named)?,
            Long("small") => options.small = true,
            Long("timeout") => {
                options.timeout = Duration::from_secs(number(&text(&mut parser)?, "--timeout", 86400)?.into());
            }
            Long("json") => options.json = Some(text(&mut parser)?.into()),
            other => return Err(usage(other.unexpected())),
        }
    }
    Ok(Some(options))
}

fn named(name: &str) -> Result<&'static Pair> {
    ALL.iter().find(|pair| pair.name == name).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|pair| pair.name).collect();
        Error::Usage(format!("no pair {name:?}; there are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_a_list() {
        let options = parse(["--pairs", "srad,lu", "--small", "--runs=2"].map(OsString::from)).unwrap().unwrap();
        assert_eq!(options.pairs.iter().map(|p| p.name).collect::<Vec<_>>(), ["srad", "lu"]);
        assert!(options.small && options.runs == 2);
    }

    #[test]
    fn mistakes_are_explained() {
        let error = parse(["--pairs", "fft"].map(OsString::from)).unwrap_err().to_string();
        assert!(error.starts_with("no pair \"fft\"; there are lu, ocean, "), "{error}");
    }
}
