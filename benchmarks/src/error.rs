use std::path::PathBuf;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A command line that makes no sense.
    #[error("{0}; see --help")]
    Usage(String),
    /// No installation of threadtalk.
    #[error("{} is missing: run scripts/build.sh first, or set THREADTALK_HOME", .0.display())]
    NotBuilt(PathBuf),
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried, and on which file or program.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A compiler or a program ended with another status than 0.
    #[error("{what} ended with {status}: {stderr}")]
    Failed {
        /// The command.
        what: String,
        /// How it ended, in words.
        status: String,
        /// The last line of its standard error.
        stderr: String,
    },
    /// Still running after the limit; it was killed.
    #[error("{what} was still running after {seconds} s (--timeout) and was killed")]
    Timeout {
        /// The command.
        what: String,
        /// The limit.
        seconds: u64,
    },
    /// An instrumented program computed something else than the native one.
    #[error("{kernel} under {tool} printed {found:?}, but natively {expected:?}: the tool changed the result")]
    WrongOutput {
        /// Kernel.
        kernel: String,
        /// Tool.
        tool: String,
        /// Standard output under the tool.
        found: String,
        /// Standard output of the native build.
        expected: String,
    },
    /// A report that is not what `threadtalk report --format json` prints.
    #[error("{what} is not a report in JSON: {source}")]
    Report {
        /// Which report.
        what: String,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A browser that left no time in the page.
    #[error("{0} did not show the page: name another with --browser, or leave it out with --browser none")]
    NotShown(String),
    /// The profile has no events where the paper saw the bottleneck.
    #[error("the report of {kernel} has no function {regions} with events: was it compiled without debug information?")]
    NoRegion {
        /// Kernel.
        kernel: String,
        /// Names that were looked for.
        regions: String,
    },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Adds what was being done to a system error.
pub(crate) fn during<T>(what: impl FnOnce() -> String, result: std::io::Result<T>) -> Result<T> {
    result.map_err(|source| Error::Io { what: what(), source })
}
