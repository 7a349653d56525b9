//! What a loop's accesses know of the state that each of them saw last.
//!
//! A thread has [`MEMOS`] memos in its control block. A loop nest gives each of its reads one; while the nest runs
//! they belong to it. (Functions that it calls, see [`crate::thread::ThreadHeader::called`], empty those that they
//! use, where their own nests begin and end.) A read of cells that are all in the memo's state counts by taking its
//! granules from [`Memo::left`]. What a state means to a thread at a site never changes, so nothing can make a memo
//! wrong; only its counts arrive later: when the nest ends, when the state changes, when the thread's hooks need
//! them, and after [`MOST_PENDING`] granules.
//!
//! Cells in two states of which each has half, as those of two numbers that were written at two lines, are as good as
//! cells in one: the memo has both states, and half of what it counts is the second one's.

use crate::thread::EventCounter;

/// Memos of a thread. Reads of a nest beyond these use the event cache: 16 of 48 bytes are twelve lines of the L1
/// cache.
pub const MEMOS: usize = 16;

/// Granules counted at most before the counter is told: what is lost if the process is killed, and how long another
/// thread's pause can go unnoticed (some 50 microseconds).
pub const MOST_PENDING: u64 = 1 << 16;

/// [`Memo::states`] of a memo without a state. It is no state's name, but what inlined code reads where an access is
/// irregular; with nothing left to take, such a read is not counted either.
pub const NO_STATE: u64 = u64::MAX;

/// What the functions behind reads with memos take beside the address: the site, the memo's number, and log2 of how
/// many memos share its counter.
pub const fn packed(site: u32, number: u32, share: u32) -> u64 {
    site as u64 | (number as u64) << PACKED_NUMBER | (share as u64) << PACKED_SHARE
}

/// Where [`packed`] has the memo's number, in the bits below [`PACKED_SHARE`]; the site has those below.
pub const PACKED_NUMBER: u32 = 32;

/// Where [`packed`] has the share.
pub const PACKED_SHARE: u32 = 48;

/// One memo.
#[repr(C)]
#[derive(Debug)]
pub struct Memo {
    /// The state, in both halves, so that two cells can be compared at once; or those of two cells that differ.
    pub states: u64,
    /// The same of the next two cells, for reads of four.
    pub next_states: u64,
    /// Granules that may still be counted without asking; below 0 between a read that took more than there was and the
    /// call in which it gives them back.
    pub left: u64,
    /// `left` as it was when the counter was told last.
    pub counted: u64,
    /// Where they count. Never null.
    pub counter: *mut EventCounter,
    /// Where half of them count, if the cells are in two states; else `counter`.
    pub second: *mut EventCounter,
}

impl Memo {
    /// A memo without a state.
    pub const fn new(counter: *mut EventCounter) -> Self {
        Memo { states: NO_STATE, next_states: NO_STATE, left: 0, counted: 0, counter, second: counter }
    }
}
