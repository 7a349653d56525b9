//! Traces: what the threads of a program did, in one order that its synchronisation allows.

use std::vec;
use std::vec::Vec;

/// A region of the source by number.
pub type Region = u32;

/// Outside all other regions.
pub const PROGRAM: Region = 0;

/// One thing that one thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Logical thread.
    pub thread: u32,
    /// What it did.
    pub op: Op,
}

/// What a thread can do. Addresses and lengths in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields: an address and a length, unless said
pub enum Op {
    /// Plain load.
    Read { at: u64, bytes: u64 },
    /// Plain store.
    Write { at: u64, bytes: u64 },
    /// Atomic load.
    AtomicRead { at: u64, bytes: u64 },
    /// Atomic store.
    AtomicWrite { at: u64, bytes: u64 },
    /// Atomic read-modify-write, or compare-and-exchange that succeeded.
    ReadModifyWrite { at: u64, bytes: u64 },
    /// Compare-and-exchange that failed.
    FailedExchange { at: u64, bytes: u64 },
    /// memcpy, memmove.
    Copy { to: u64, from: u64, bytes: u64 },
    /// memset.
    Set { at: u64, bytes: u64 },
    /// malloc returned this block.
    Allocate { at: u64, bytes: u64 },
    /// free.
    Free { at: u64, bytes: u64 },
    /// The end of a stack variable.
    StackPop { at: u64, bytes: u64 },
    /// realloc of `old`; in place when both addresses are equal.
    Reallocate { old: u64, old_bytes: u64, new: u64, new_bytes: u64 },
    /// The thread enters a region.
    Enter(Region),
    /// It leaves its innermost region.
    Exit(Region),
}

/// What steps are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Access {
    Read { at: u64, bytes: u64, sync: bool },
    Write { at: u64, bytes: u64 },
    Death { at: u64, bytes: u64 },
}

impl Op {
    /// Whether the thread takes part in its region by it.
    pub fn touches_memory(self) -> bool {
        !matches!(self, Op::Enter(_) | Op::Exit(_) | Op::Allocate { .. } | Op::Free { .. } | Op::StackPop { .. })
    }

    /// The reads, writes and deaths, in order.
    pub fn accesses(self) -> Vec<Access> {
        use Access::{Death, Read, Write};
        match self {
            Op::Read { at, bytes } => vec![Read { at, bytes, sync: false }],
            Op::AtomicRead { at, bytes } | Op::FailedExchange { at, bytes } => vec![Read { at, bytes, sync: true }],
            Op::Write { at, bytes } | Op::AtomicWrite { at, bytes } | Op::Set { at, bytes } => {
                vec![Write { at, bytes }]
            }
            Op::ReadModifyWrite { at, bytes } => vec![Read { at, bytes, sync: true }, Write { at, bytes }],
            Op::Copy { to, from, bytes } => {
                vec![Read { at: from, bytes, sync: false }, Write { at: to, bytes }]
            }
            Op::Allocate { at, bytes } | Op::Free { at, bytes } | Op::StackPop { at, bytes } => {
                vec![Death { at, bytes }]
            }
            Op::Reallocate { old, old_bytes, new, new_bytes } if old == new => {
                let (kept, longer) = (old_bytes.min(new_bytes), old_bytes.max(new_bytes));
                vec![Death { at: old + kept, bytes: longer - kept }]
            }
            Op::Reallocate { old, old_bytes, new, new_bytes } => {
                let kept = old_bytes.min(new_bytes);
                vec![
                    Read { at: old, bytes: kept, sync: false },
                    Death { at: new, bytes: new_bytes },
                    Write { at: new, bytes: kept },
                    Death { at: old, bytes: old_bytes },
                ]
            }
            Op::Enter(_) | Op::Exit(_) => vec![],
        }
    }
}

/// The elements that an access touches; none if it has no bytes.
pub fn elements(at: u64, bytes: u64, granule: u64) -> core::ops::Range<u64> {
    if bytes == 0 { 0..0 } else { at / granule..(at + bytes - 1) / granule + 1 }
}
