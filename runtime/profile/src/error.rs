//! Why a file cannot be read as a profile.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::layout::VERSION;

/// An error and the file that it is about, if it came from a file.
#[derive(Debug)]
pub struct Error {
    path: Option<PathBuf>,
    kind: ErrorKind,
}

/// What is wrong. Offsets are bytes from the beginning of the file.
#[derive(Debug, thiserror::Error)]
pub enum ErrorKind {
    /// The operating system refuses.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// No bytes.
    #[error("is empty: the profiled program ended before recording began; run it again")]
    Empty,
    /// Something else.
    #[error("is not a threadtalk profile (those are written by `threadtalk run` and end in .ttp)")]
    NotAProfile,
    /// Line ends were converted.
    #[error("was altered by a transfer in text mode; copy it again in binary mode")]
    TextMode,
    /// Big-endian machine.
    #[error("was recorded on a machine of the other byte order; read it with threadtalk on such a machine")]
    ByteOrder,
    /// A version that was given up.
    #[error("has format version {found}, which is too old; this threadtalk reads {VERSION}: record it again")]
    TooOld {
        /// Its version.
        found: u32,
    },
    /// A version of the future.
    #[error(
        "has format version {found}, which is too new; threadtalk {} reads up to {VERSION}: \
         use the threadtalk that recorded it, or a newer one", env!("CARGO_PKG_VERSION")
    )]
    TooNew {
        /// Its version.
        found: u32,
    },
    /// Shorter than it says.
    #[error("is truncated: {what} at byte {offset} needs {needed} bytes, the file has {length}; copy it again")]
    Truncated {
        /// What was cut.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// How long the file would have to be.
        needed: u64,
        /// How long it is.
        length: u64,
    },
    /// Contents that no runtime writes.
    #[error("is damaged: {block} at byte {offset}: {what}; copy or record it again")]
    Damaged {
        /// Kind of block.
        block: &'static str,
        /// Where the block begins.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

impl Error {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    pub(crate) fn at(path: &Path, kind: impl Into<ErrorKind>) -> Self {
        Self { path: Some(path.to_owned()), kind: kind.into() }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { path: None, kind }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{} {}", path.display(), self.kind),
            None => write!(f, "the profile {}", self.kind),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(source) => Some(source),
            _ => None,
        }
    }
}
