//! What the figures were measured on.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::build::Compilers;

/// Machine, commit and versions; "unknown" where the system does not say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the first CPU.
    pub cpu: String,
    /// CPUs that this process may use.
    pub cores: usize,
    /// Kernel release.
    pub kernel: String,
    /// State of transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: String,
    /// Commit of this checkout, with "+changes" if files differ from it.
    pub commit: String,
    /// First line of the compiler's `--version`.
    pub clang: String,
    /// First line of `threadtalk --version`.
    pub threadtalk: String,
    /// First line of `valgrind --version`.
    pub valgrind: String,
}

impl Machine {
    /// A machine of which nothing is known.
    pub fn unknown() -> Machine {
        let unknown = || "unknown".to_owned();
        Machine {
            cpu: unknown(),
            cores: 1,
            kernel: unknown(),
            huge_pages: unknown(),
            commit: unknown(),
            clang: unknown(),
            threadtalk: unknown(),
            valgrind: unknown(),
        }
    }

    /// Asks the system.
    pub fn describe(compilers: &Compilers) -> Machine {
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let or_unknown = |text: Option<&str>| text.map_or("unknown", str::trim).to_owned();
        let cpuinfo = file("/proc/cpuinfo");
        let huge = file("/sys/kernel/mm/transparent_hugepage/enabled");
        let threadtalk = compilers.threadtalk("threadtalk").ok();
        Machine {
            cpu: or_unknown(
                cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':')).map(|p| p.1),
            ),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: or_unknown(Some(file("/proc/sys/kernel/osrelease").as_str()).filter(|text| !text.is_empty())),
            huge_pages: or_unknown(huge.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|p| p.0)),
            commit: commit(),
            clang: version(compilers.clang()),
            threadtalk: threadtalk.map_or_else(|| "unknown".to_owned(), |path| version(&path)),
            valgrind: version(Path::new("valgrind")),
        }
    }
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn version(program: &Path) -> String {
    let text = output(Command::new(program).arg("--version"));
    text.as_deref().and_then(|text| text.lines().next()).unwrap_or("unknown").to_owned()
}

fn commit() -> String {
    let git = |arguments: &[&str]| output(Command::new("git").args(["-C", env!("CARGO_MANIFEST_DIR")]).args(arguments));
    match (git(&["rev-parse", "--short=12", "HEAD"]), git(&["status", "--porcelain", "--untracked-files=no"])) {
        (Some(hash), Some(changes)) => format!("{}{}", hash.trim(), if changes.is_empty() { "" } else { "+changes" }),
        _ => "unknown".to_owned(),
    }
}
