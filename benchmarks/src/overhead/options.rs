use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::arguments::{list, named_kernels, number, text, usage};
use crate::kernels::{self, Kernel};
use crate::statistics::Summary;
use crate::{Error, Result};

/// What `--help` prints.
pub const USAGE: &str = "\
Usage: overhead [OPTIONS]
Runs each kernel natively, under threadtalk and under ThreadSanitizer in turns, and prints the ratios of CPU time.

  --threads 2,4,16   numbers of threads (default 2)
  --runs N           rounds; each tool runs once in each (default 3)
  --kernels A,B      only these kernels or patterns (default all kernels)
  --patterns         all patterns instead: some lines each, of one way to read what others wrote
  --against FOLDER   also another installation of threadtalk, whose programs run in the same turns
  --summary WHAT     minimum or median of the rounds (default minimum)
  --quick            small inputs, one round
  --context          also helgrind and drd, on small inputs
  --without-tsan     leave ThreadSanitizer out
  --without-parts    leave out memory and control alone, and control by threads that do not wait
  --timeout SECONDS  kill a run that takes longer (default 600)
  --json FILE        write the measurements here, too
";

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Numbers of threads.
    pub threads: Vec<u32>,
    /// Rounds.
    pub runs: u32,
    /// Which kernels.
    pub kernels: Vec<&'static Kernel>,
    /// Another installation, such as that of the commit before.
    pub against: Option<PathBuf>,
    /// How rounds are summed up.
    pub summary: Summary,
    /// Small inputs.
    pub quick: bool,
    /// With helgrind and drd.
    pub context: bool,
    /// With ThreadSanitizer.
    pub tsan: bool,
    /// With each part of the instrumentation alone.
    pub parts: bool,
    /// Longest run.
    pub timeout: Duration,
    /// Where to write JSON.
    pub json: Option<PathBuf>,
}

/// Reads the arguments after the program's name; `None` if help was asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>> {
    let mut options = Options {
        threads: vec![2],
        runs: 3,
        kernels: kernels::ALL.iter().collect(),
        against: None,
        summary: Summary::Minimum,
        quick: false,
        context: false,
        tsan: true,
        parts: true,
        timeout: Duration::from_secs(600),
        json: None,
    };
    let mut runs = None;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("threads") => options.threads = list(&text(&mut parser)?, |text| number(text, "--threads", 1024))?,
            Long("runs") => runs = Some(number(&text(&mut parser)?, "--runs", 1000)?),
            Long("kernels") => options.kernels = named_kernels(&text(&mut parser)?)?,
            Long("patterns") => options.kernels = kernels::PATTERNS.iter().collect(),
            Long("against") => options.against = Some(text(&mut parser)?.into()),
            Long("summary") => {
                options.summary = match text(&mut parser)?.as_str() {
                    "minimum" => Summary::Minimum,
                    "median" => Summary::Median,
                    other => return Err(Error::Usage(format!("--summary is minimum or median, not {other:?}"))),
                }
            }
            Long("quick") => options.quick = true,
            Long("context") => options.context = true,
            Long("without-tsan") => options.tsan = false,
            Long("without-parts") => options.parts = false,
            Long("timeout") => {
                options.timeout = Duration::from_secs(number(&text(&mut parser)?, "--timeout", 86400)?.into())
            }
            Long("json") => options.json = Some(text(&mut parser)?.into()),
            other => return Err(usage(other.unexpected())),
        }
    }
    options.runs = runs.unwrap_or(if options.quick { 1 } else { options.runs });
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Option<Options>> {
        parse(words.iter().map(|word| OsString::from(*word)))
    }

    #[test]
    fn lists_and_switches_are_read() {
        let options = parsed(&["--threads", "2,16", "--kernels=cg,lu", "--quick", "--json", "x"]).unwrap().unwrap();
        assert_eq!(options.threads, [2, 16]);
        assert_eq!(options.kernels.iter().map(|k| k.name).collect::<Vec<_>>(), ["cg", "lu"]);
        assert_eq!((options.runs, options.tsan, options.parts), (1, true, true));
        assert_eq!(options.json.unwrap().to_str(), Some("x"));
    }

    #[test]
    fn patterns_stand_for_kernels() {
        let options = parsed(&["--patterns", "--against", "/before"]).unwrap().unwrap();
        assert_eq!(options.kernels.len(), kernels::PATTERNS.len());
        assert_eq!(options.against.unwrap().to_str(), Some("/before"));
        let options = parsed(&["--kernels", "lu,rows-cyclic"]).unwrap().unwrap();
        assert_eq!(options.kernels[1].name, "rows-cyclic");
    }

    #[test]
    fn columns_can_be_left_out() {
        let options = parsed(&["--without-parts", "--without-tsan"]).unwrap().unwrap();
        assert_eq!((options.tsan, options.parts), (false, false));
    }

    #[test]
    fn an_explicit_number_of_rounds_beats_quick() {
        assert_eq!(parsed(&["--runs=5", "--quick"]).unwrap().unwrap().runs, 5);
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |words: &[&str]| parsed(words).unwrap_err().to_string();
        assert_eq!(message(&["--threads", "2,0"]), "--threads takes numbers from 1 to 1024, not \"0\"; see --help");
        assert!(message(&["--kernels", "sort"]).starts_with("no kernel \"sort\"; there are lu, lu-contiguous, "));
        assert_eq!(message(&["--summary", "mean"]), "--summary is minimum or median, not \"mean\"; see --help");
        assert!(message(&["--frobnicate"]).contains("--frobnicate"));
    }

    #[test]
    fn help_is_no_measurement() {
        assert!(parsed(&["--help"]).unwrap().is_none());
    }
}
