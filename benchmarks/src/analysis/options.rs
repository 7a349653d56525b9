use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use serde::{Deserialize, Serialize};

use crate::arguments::{list, number, text, usage};
use crate::{Error, Result};

/// A million cells that are not zero, in small matrices and in large ones. A thousand regions with matrices of 256
/// threads would be 1.3 GB of JSON.
const DEFAULT: [Size; 2] =
    [Size { threads: 64, regions: 1000, pairs: 1000 }, Size { threads: 256, regions: 50, pairs: 20_000 }];

/// What `--help` prints.
pub const USAGE: &str = "\
Usage: analysis [OPTIONS]
Makes a profile of many threads and regions and prints what `threadtalk report` takes for it, and how long a browser takes
from the request for the page to the finished table.

  --profiles TxRxP,...  threads, regions, and pairs of threads that communicate in each region
                     (default 64x1000x1000,256x50x20000: a million cells each)
  --runs N           rounds; the least counts (default 3)
  --browser PROGRAM  chromium or a relative of it (default chromium; none: leave it out)
  --timeout SECONDS  kill what takes longer (default 120)
  --json FILE        write the figures here, too
";

/// How large a profile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Threads.
    pub threads: u32,
    /// Regions.
    pub regions: u32,
    /// Pairs of threads that communicate in each region.
    pub pairs: u32,
}

/// What to make, and how often to look at it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Profiles to make.
    pub profiles: Vec<Size>,
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
        profiles: DEFAULT.to_vec(),
        runs: 3,
        browser: Some("chromium".into()),
        timeout: Duration::from_secs(120),
        json: None,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("profiles") => options.profiles = list(&text(&mut parser)?, size)?,
            Long("runs") => options.runs = number(&text(&mut parser)?, "--runs", 1000)?,
            Long("browser") => options.browser = Some(text(&mut parser)?).filter(|name| name != "none").map(Into::into),
            Long("timeout") => {
                options.timeout = Duration::from_secs(number(&text(&mut parser)?, "--timeout", 86400)?.into());
            }
            Long("json") => options.json = Some(text(&mut parser)?.into()),
            other => return Err(usage(other.unexpected())),
        }
    }
    Ok(Some(options))
}

fn size(text: &str) -> Result<Size> {
    let [threads, regions, pairs] = text.split('x').collect::<Vec<_>>()[..] else {
        return Err(Error::Usage(format!("--profiles takes THREADSxREGIONSxPAIRS, not {text:?}")));
    };
    let threads = number(threads, "--profiles, for threads,", 10_000)?;
    let regions = number(regions, "--profiles, for regions,", 100_000)?;
    let pairs = number(pairs, "--profiles, for pairs,", 10_000_000)?;
    let all = u64::from(threads) * u64::from(threads - 1);
    if u64::from(pairs) > all {
        return Err(Error::Usage(format!("--profiles {text}: {threads} threads have {all} pairs")));
    }
    Ok(Size { threads, regions, pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Option<Options>> {
        parse(words.iter().map(|word| OsString::from(*word)))
    }

    #[test]
    fn numbers_and_the_browser_are_read() {
        let options = parsed(&["--profiles=256x20x20000,8x1x56", "--browser=none"]).unwrap().unwrap();
        let size = |threads, regions, pairs| Size { threads, regions, pairs };
        assert_eq!(options.profiles, [size(256, 20, 20_000), size(8, 1, 56)]);
        assert_eq!(options.browser, None);
        let browser = parsed(&["--browser", "google-chrome"]).unwrap().unwrap().browser;
        assert_eq!(browser, Some(PathBuf::from("google-chrome")));
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |words: &[&str]| parsed(words).unwrap_err().to_string();
        assert_eq!(message(&["--profiles=8x1x57"]), "--profiles 8x1x57: 8 threads have 56 pairs; see --help");
        let zero = message(&["--profiles=8x0x1"]);
        assert_eq!(zero, "--profiles, for regions, takes numbers from 1 to 100000, not \"0\"; see --help");
        let short = message(&["--profiles=64,8x1x1"]);
        assert_eq!(short, "--profiles takes THREADSxREGIONSxPAIRS, not \"64\"; see --help");
        assert!(message(&["--cells=3"]).contains("--cells"));
    }
}
