//! Which line wrote what which line read.

use serde::Serialize;
use std::sync::Arc;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// File as the compiler knew it; none if unknown.
    pub file: Option<Arc<str>>,
    /// Line; none if unknown.
    pub line: Option<u32>,
}

impl Position {
    /// Of an entry of a profile's tables, where an empty file and line 0 are unknown.
    pub fn new(file: &Arc<str>, line: u32) -> Self {
        Self { file: Some(Arc::clone(file)).filter(|f| !f.is_empty()), line: Some(line).filter(|l| *l > 0) }
    }
}

/// Events of one pair of lines, over all pairs of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Where it was written.
    pub writer: Position,
    /// Where it was read.
    pub reader: Position,
    /// True communication events.
    pub raw: u64,
    /// Reuse events.
    pub rar: u64,
}
