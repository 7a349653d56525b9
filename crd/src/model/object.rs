//! Variables and blocks of memory that threads communicate through.

use serde::Serialize;
use std::sync::Arc;

use super::Position;
use crate::regions::RegionId;

/// What kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// A global or static variable.
    Global,
    /// Blocks that one call allocates.
    Heap,
    /// A local variable.
    Stack,
    /// What a pointer leads to; where that memory came from was not seen.
    Pointer,
    /// Not known.
    Unknown,
}

/// An object and its part in the communication of a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Object {
    /// The variable as an expression of the source; `p->{x,y}` are members that one line uses together, `p->*` more
    /// than four of them. Of heap blocks the variable that received the block, `block` where that is the inside of a
    /// library (`this`, `__tmp`). Empty = unknown.
    pub name: Arc<str>,
    /// What kind of memory.
    pub kind: Memory,
    /// File of the declaration, or of the call that allocates.
    pub file: Option<Arc<str>>,
    /// Its line.
    pub line: Option<u32>,
    /// True communication. Where one line reads several blocks of the heap that one line wrote, theirs is divided as
    /// samples of it say.
    pub raw: u64,
    /// Reuse, likewise.
    pub rar: u64,
    /// Part of the region's events, 0 to 1.
    pub share: f64,
}

/// Cache lines in which threads use different elements: the line moves between caches although no data does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FalseSharing {
    /// A line that writes.
    pub writer: Position,
    /// The line that writes the other elements; with `other_reads` what the other thread reads was written there.
    pub other: Position,
    /// The other thread only reads.
    pub other_reads: bool,
    /// Two logical threads that met in the first line found.
    pub threads: [u32; 2],
    /// Threads that met in any (told apart modulo 64).
    pub threads_seen: u32,
    /// Cache lines.
    pub lines: u64,
    /// Cache lines that the writer's line wrote, these included.
    pub of_lines: u64,
    /// How often all threads together executed the writer's line in the region; none where control flow was not
    /// counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// How often the cache lines can have moved from one of the two lines to the other and back: no more often than
    /// either was executed on them, or than others read there. None if nothing is known of either.
    #[serde(skip)]
    pub moves: Option<u64>,
    /// How often the writer's line was executed at least, where nothing bounds that: of a loop any number is.
    #[serde(skip)]
    pub at_least: u64,
    /// Address of the first.
    pub address: u64,
    /// The variable; empty = unknown.
    pub object: Arc<str>,
    /// Values that either line wrote and the region of either read, or, in a step of the program that may be the same
    /// one, a thread that writes there, or that others wrote which these regions write in the same cache line: the
    /// cache lines would travel for these, too.
    #[serde(skip)]
    pub passed: u64,
    /// The regions of the two lines.
    #[serde(skip)]
    pub regions: [RegionId; 2],
    /// The two lines may be executed at the same time, as far as is known: they are not in two OpenMP constructs, nor
    /// one of them in one and the other where its primary thread is alone, and neither thread had ended before the
    /// other one began.
    #[serde(skip)]
    pub at_once: bool,
}

impl FalseSharing {
    /// Writes onto shared lines, if the writes of the line spread evenly over all cache lines that it wrote: each may
    /// have taken a line away. None where executions were not counted.
    pub fn writes_shared(&self) -> Option<u64> {
        self.writes.map(|writes| Self::onto(self.lines, self.of_lines, writes))
    }

    /// Of writes that spread evenly over cache lines, those onto some of these.
    pub fn onto(lines: u64, of_lines: u64, writes: u64) -> u64 {
        let part = u128::from(writes) * u128::from(lines) / u128::from(of_lines.max(1));
        part.try_into().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_spread_evenly_over_the_lines() {
        let position = Position { file: None, line: None };
        let of = |writes, lines, of_lines| {
            let found = FalseSharing {
                writer: position.clone(),
                other: position.clone(),
                other_reads: false,
                at_least: 0,
                threads: [0, 1],
                threads_seen: 2,
                lines,
                of_lines,
                writes,
                moves: None,
                address: 0,
                object: "".into(),
                passed: 0,
                regions: [0, 0],
                at_once: true,
            };
            found.writes_shared()
        };
        assert_eq!([of(Some(1000), 3, 4), of(Some(1000), 1, 3000), of(None, 3, 4)], [Some(750), Some(0), None]);
        // A damaged profile's numbers.
        assert_eq!([of(Some(7), 1, 0), of(Some(u64::MAX), u64::MAX, 1)], [Some(7), Some(u64::MAX)]);
    }
}
