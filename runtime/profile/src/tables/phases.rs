//! Communication over time.

use crate::layout::PhaseEnd;

/// What a thread read of another one's data from one moment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Logical thread; not `reader`.
    pub writer: u32,
    /// Logical thread.
    pub reader: u32,
    /// Nanoseconds after the start of recording.
    pub from_ns: u64,
    /// Nanoseconds after the start of recording; not before `from_ns`.
    pub to_ns: u64,
    /// True communication events.
    pub raw: u64,
    /// Reuse events.
    pub rar: u64,
    /// The meeting at which it ended: equal for the threads that waited for each other there; 0 = unknown.
    pub meeting: u64,
    /// What ended it.
    pub end: PhaseEnd,
    /// Memory was running out, so it is longer than the run's options say.
    pub coarse: bool,
}
