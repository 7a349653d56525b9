use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::arguments::{number, text, usage};
use crate::{Error, Result};

/// What `--help` prints.
pub const USAGE: &str = "\
Usage: analysis [OPTIONS]
Makes a profile of many threads and regions and prints what `threadtalk report` takes for it, and how long a browser takes
from the request for the page to the finished table.

  --threads N        threads (default 64)
  --regions N        regions (default 1000)
  --pairs N          pairs of threads that communicate in each region (default 1000)
  --runs N           rounds; the least counts (default 3)
  --browser PROGRAM  chromium or a relative of it (default chromium; none: leave it out)
  --timeout SECONDS  kill what takes longer (default 120)
  --json FILE        write the figures here, too
";

/// What to make, and how often to look at it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads.
    pub threads: u32,
    /// Regions.
    pub regions: u32,
    /// Pairs of each region.
    pub pairs: u32,
    /// Rounds.
    pub runs: u32,
    /// What shows the page.
    pub browser: Option<PathBuf>,
    /// Longest time of one program.
    pub timeout: Duration,
    /// Where to write JSON.
    pub json: Option<PathBuf>,
}

/// Reads the arguments after the program's name; `None` if help was asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>> {
    let mut options = Options {
        threads: 64,
        regions: 1000,
        pairs: 1000,
        runs: 3,
        browser: Some("chromium".into()),
        timeout: Duration::from_secs(120),
        json: None,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("threads") => options.threads = number(&text(&mut parser)?, "--threads", 10_000)?,
            Long("regions") => options.regions = number(&text(&mut parser)?, "--regions", 100_000)?,
            Long("pairs") => options.pairs = number(&text(&mut parser)?, "--pairs", 10_000_000)?,
            Long("runs") => options.runs = number(&text(&mut parser)?, "--runs", 1000)?,
            Long("browser") => options.browser = Some(text(&mut parser)?).filter(|name| name != "none").map(Into::into),
            Long("timeout") => {
                options.timeout = Duration::from_secs(number(&text(&mut parser)?, "--timeout", 86400)?.into());
            }
            Long("json") => options.json = Some(text(&mut parser)?.into()),
            other => return Err(usage(other.unexpected())),
        }
    }
    let pairs = u64::from(options.threads) * u64::from(options.threads - 1);
    if u64::from(options.pairs) > pairs {
        return Err(Error::Usage(format!("--pairs {}: {} threads have {pairs} pairs", options.pairs, options.threads)));
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Option<Options>> {
        parse(words.iter().map(|word| OsString::from(*word)))
    }

    #[test]
    fn numbers_and_the_browser_are_read() {
        let options =
            parsed(&["--threads=256", "--regions", "20", "--pairs=20000", "--browser=none"]).unwrap().unwrap();
        assert_eq!((options.threads, options.regions, options.pairs), (256, 20, 20_000));
        assert_eq!(options.browser, None);
        let browser = parsed(&["--browser", "google-chrome"]).unwrap().unwrap().browser;
        assert_eq!(browser, Some(PathBuf::from("google-chrome")));
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |words: &[&str]| parsed(words).unwrap_err().to_string();
        assert_eq!(message(&["--threads=8"]), "--pairs 1000: 8 threads have 56 pairs; see --help");
        assert_eq!(message(&["--regions=0"]), "--regions takes numbers from 1 to 100000, not \"0\"; see --help");
        assert!(message(&["--cells=3"]).contains("--cells"));
    }
}
