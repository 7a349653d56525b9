//! What can go wrong, each in one line: what, where, and what to do.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit status after a mistake in the command line.
pub const USAGE: u8 = 2;
/// Exit status after any other error.
pub const FAILURE: u8 = 1;

/// An error of the tool. Its text is the line that the user reads.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line cannot be understood.
    #[error("{what}: {place}; {advice}")]
    Usage {
        /// What is wrong.
        what: String,
        /// In which argument.
        place: String,
        /// What to do.
        advice: String,
    },
    /// A part of the installation is not where it should be.
    #[error(
        "{part} not found: {}; build it with scripts/build.sh, or set THREADTALK_HOME to the folder that holds bin \
         and lib", path.display()
    )]
    Installation {
        /// The compiler plugin, the runtime library, ...
        part: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// No usable compiler.
    #[error("{compiler} not found: PATH and {}; {advice}", fallback.display())]
    Compiler {
        /// Name of the compiler.
        compiler: String,
        /// Folder that was tried besides `PATH`.
        fallback: PathBuf,
        /// What to do.
        advice: String,
    },
    /// The compiler named by the user is not one that can load the plugin.
    #[error("{what}: {}; {advice}", path.display())]
    ForeignCompiler {
        /// What is wrong with it.
        what: String,
        /// The compiler.
        path: PathBuf,
        /// What to do.
        advice: String,
    },
    /// A file or folder cannot be read, written or started.
    #[error("cannot {action}: {}; {advice}", path.display())]
    File {
        /// "read", "write", "start", ...
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's words and what to do.
        advice: String,
    },
    /// The profile cannot be used; the decoder's words name the file and say what to do.
    #[error("{0}")]
    Profile(#[from] threadtalk_profile::Error),
    /// Profiles that do not fit together.
    #[error("cannot merge: {0}")]
    Merge(#[from] threadtalk_profile::merge::MergeError),
    /// The machine to place threads on is not known; the words say where and what to do.
    #[error("cannot use the topology: {what}")]
    Topology {
        /// Which file or folder, what is wrong, what to do.
        what: String,
    },
    /// A region, or the program, in which no thread read what another wrote.
    #[error("no communication to draw: {what}; see `threadtalk report FILE` for what was counted")]
    NothingToDraw {
        /// The region.
        what: String,
    },
    /// A profile without parallel sections: no picture to make.
    #[error("no parallel section to draw: {program}; see `threadtalk imbalance FILE` for what was recorded")]
    NoSections {
        /// The program.
        program: String,
    },
    /// A condition of `compare --fail-on` holds.
    #[error("{condition} holds: {what}; see `threadtalk compare` without --fail-on for all changes")]
    Regressed {
        /// The condition as the user wrote it.
        condition: String,
        /// The change, and in which region.
        what: String,
    },
    /// A condition is about something that neither region nor program has in both profiles.
    #[error(
        "cannot check: {condition}; nothing in both profiles has this figure: record both with --crd auto, and pass \
         --caches where misses are meant"
    )]
    Unmeasured {
        /// The condition.
        condition: String,
    },
    /// `run` failed before the program could start; carries the status that `env` and `timeout` use for it.
    #[error("{source}")]
    Launch {
        /// 125, 126 or 127.
        status: u8,
        /// What went wrong.
        source: Box<Error>,
    },
    /// Standard output was closed by its reader: not worth a word.
    #[error("standard output was closed")]
    BrokenPipe,
}

/// Result of a command.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A mistake in the command line.
    pub fn usage(what: impl Into<String>, place: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), place: place.into(), advice: advice.into() }
    }

    /// A file that the system refuses, with advice that follows from the reason.
    pub fn file(action: &'static str, path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let advice = match error.kind() {
            K::NotFound => "there is no such file or folder: check the name".to_string(),
            K::PermissionDenied => "permission denied: check its owner and mode".to_string(),
            K::IsADirectory => "it is a folder: name a file".to_string(),
            K::NotADirectory => "a part of its path is a file: choose another place".to_string(),
            K::StorageFull => "the disk is full: free some space or choose another place".to_string(),
            K::AlreadyExists => "it exists already: remove it or choose another name".to_string(),
            _ => format!("{error}"),
        };
        Self::File { action, path: path.to_path_buf(), advice }
    }

    /// An error while writing to standard output.
    pub fn stdout(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::file("write", Path::new("standard output"), error),
        }
    }

    /// The process's exit status for this error.
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage { .. } => USAGE,
            Self::Launch { status, .. } => *status,
            // What a program that ignores the signal's existence would end with: 128 + SIGPIPE.
            Self::BrokenPipe => 141,
            _ => FAILURE,
        }
    }

    /// Writes the line to standard error and gives the exit status.
    pub fn report(&self) -> ExitCode {
        if !matches!(self, Self::BrokenPipe) {
            // A closed standard error leaves nowhere to complain; the status still tells.
            let line = self.to_string().replace('\n', " ");
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("threadtalk: {line}\n"));
        }
        ExitCode::from(self.status())
    }
}
