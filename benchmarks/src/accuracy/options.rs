use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::Result;
use crate::arguments::{list, named_kernels, number, text, usage};
use crate::kernels::{self, Kernel};

/// What `--help` prints.
pub const USAGE: &str = "\
Usage: accuracy [OPTIONS]
Profiles each kernel exactly and hashed, and prints the differences beside the error that the report stated.

  --threads N        number of threads (default 4)
  --kernels A,B      only these (default all)
  --budgets A,B      signature budgets with K, M or G (default 256M,4M,1M)
  --full             the inputs of the overhead table instead of small ones
  --timeout SECONDS  kill a run that takes longer (default 600)
  --json FILE        write the table here, too
";

/// What to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of threads.
    pub threads: u32,
    /// Which kernels.
    pub kernels: Vec<&'static Kernel>,
    /// Budgets, as the runtime's options take them.
    pub budgets: Vec<String>,
    /// The inputs of the overhead table.
    pub full: bool,
    /// Longest run.
    pub timeout: Duration,
    /// Where to write JSON.
    pub json: Option<PathBuf>,
}

/// Reads the arguments after the program's name; `None` if help was asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>> {
    let mut options = Options {
        threads: 4,
        kernels: kernels::ALL.iter().collect(),
        budgets: ["256M", "4M", "1M"].map(String::from).into(),
        full: false,
        timeout: Duration::from_secs(600),
        json: None,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("threads") => options.threads = number(&text(&mut parser)?, "--threads", 1024)?,
            Long("kernels") => options.kernels = named_kernels(&text(&mut parser)?)?,
            Long("budgets") => options.budgets = list(&text(&mut parser)?, |budget| Ok(budget.to_owned()))?,
            Long("full") => options.full = true,
            Long("timeout") => {
                options.timeout = Duration::from_secs(number(&text(&mut parser)?, "--timeout", 86400)?.into());
            }
            Long("json") => options.json = Some(text(&mut parser)?.into()),
            other => return Err(usage(other.unexpected())),
        }
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_a_list() {
        let words = ["--budgets", "64M,1M", "--kernels=lu", "--full"].map(OsString::from);
        let options = parse(words).unwrap().unwrap();
        assert_eq!(options.budgets, ["64M", "1M"]);
        assert!(options.full && options.kernels.len() == 1);
    }

    #[test]
    fn mistakes_are_explained() {
        let error = parse(["--threads=x"].map(OsString::from)).unwrap_err().to_string();
        assert_eq!(error, "--threads takes numbers from 1 to 1024, not \"x\"; see --help");
    }
}
