//! What a loop nest knows of memory: windows inside which each access of a loop means the same.
//!
//! A loop of few iterations costs less than the question whether its plain copy may run ([`crate::loops`]). So the
//! answers are kept: in a table of [`WINDOWS`] entries, which inlined code looks into before it asks. They hold until
//! the nest ends: it contains nothing that synchronises, so in a program without data races nobody else can change what
//! this thread accesses in it. Of the thread's own writes, only those of a foreign cell could make a window wrong.
//! Loops tell by their ranges whether they may reach a window with events; other inlined writes of such a nest look at
//! the cells first, and leave foreign ones to the runtime. What is watched for a reuse distance is taken out of the
//! table.
//!
//! ```text
//! before a loop of n iterations, n >= shortest;
//! for each group of its accesses that move by the same constant stride at fixed distances,
//! from first byte `from` to last byte `to - 1` over all iterations, g granules read in each (a part of one is a read
//! of its own, and what begins inside of one reads one more):
//!     w = windows[((from >> PAGE_SHIFT) + number * APART) * SPREAD >> (64 - WINDOWS_LOG2)]
//!     if w.stamp != stamp + number || from < w.first || to > w.end    goto ask
//! for a group of one read whose stride skips more than it reads, first at `from`, b bytes:
//!     w = windows[((from >> LINE_SHIFT) + number * APART) * SPREAD >> (64 - WINDOWS_LOG2)]
//!     if w.stamp != stamp + number || from < w.first || from + b > w.end    goto ask
//!     if w.stride != stride || w.iterations != n    goto ask
//!     if accesses may begin inside of granules: if w.cells != key    goto ask
//! then for each group that reads and does not write, with m = n * g, or m = w.granules of the second kind:
//!     if w.counter.rar + m >= w.counter.next    goto ask
//! then for each of these:
//!     w.counter.rar += m
//! then    settled += saved(n, accesses)
//! then for each group that writes, in each iteration i, for each write of it, at distance d from `from`:
//!     the cells of from + i * stride + d .. + b, at + w.cells, = write_base + s          done: the plain copy runs
//! before the loop runs with hooks, for each group that writes:
//!     if from < events_end && events_first < to    stamp += NUMBERS
//! ```
//!
//! A nest may call functions that only read and compute. Their loops compare with
//! [`ThreadHeader::called`](crate::thread::ThreadHeader::called) in place of `shortest`; where several functions have
//! loops in one nest, each group's [`key`] is compared, too: numbers are a function's own.
//!
//! A window of a group that writes holds no events, and lies in one chunk of memory, which the thread has entered for
//! writing in this nest (see the claims of `sigmem`).

use crate::thread::EventCounter;

/// log2 of the entries of the table.
pub const WINDOWS_LOG2: u32 = 10;

/// Entries of the table: 64 KiB, of which a nest uses as many lines as it has rows at work. A column of a product's
/// operand, unrolled four times, needs 480 for 960 columns.
pub const WINDOWS: usize = 1 << WINDOWS_LOG2;

/// log2 of the bytes in which rows of one window begin.
pub const PAGE_SHIFT: u32 = 12;

/// log2 of the bytes in which strided accesses of one window begin: a line of the cache, eight columns of 8 bytes.
pub const LINE_SHIFT: u32 = 6;

/// Spreads pages and lines over the table: 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming,
/// 6.4).
pub const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Keeps groups of the same page apart.
pub const APART: u64 = 977;

/// Shorter loops run with hooks: a look at two windows costs as much as three iterations.
pub const SHORTEST: u64 = 3;

/// Loops of so many iterations are worth a question of their own: it costs as much as some 30 inlined sequences.
pub const SHORTEST_ASKED: u64 = 32;

/// What a loop of so many iterations and accesses saves if it is found in windows, in iterations of two accesses: one
/// that is too short to be asked about by itself would run with hooks, which cost by the access.
pub const fn saved(iterations: u64, accesses: usize) -> u64 {
    if iterations < SHORTEST_ASKED { iterations * weight(accesses) } else { iterations }
}

/// What an iteration of a short loop with so many accesses counts for.
pub const fn weight(accesses: usize) -> u64 {
    if accesses < 2 { 1 } else { accesses as u64 / 2 }
}

/// Numbers of groups in a function are below; the stamps of two nests are as far apart.
pub const NUMBERS: u64 = 256;

/// An entry: memory in which accesses of one group mean the same.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The nest's stamp plus the group's number; 0 in an empty entry.
    pub stamp: u64,
    /// First byte.
    pub first: u64,
    /// End.
    pub end: u64,
    /// Where reads count. That of reads that are no events has no end.
    pub counter: *mut EventCounter,
    /// Strided accesses: their stride, the number of iterations, and what all of them together count.
    pub stride: i64,
    /// See `stride`.
    pub iterations: u64,
    /// See `stride`. Of a row, its [`key`].
    pub granules: u64,
    /// Rows: what to add to the address of a granule to get that of its cell. Strided accesses: their [`key`].
    pub cells: u64,
}

const _: () = assert!(size_of::<Window>() == 64);

/// In the [`key`] of a strided group whose accesses begin inside of granules, and so read one more each.
pub const ASTRIDE: u64 = 1 << 33;

/// What tells a group from those of other functions: the site of its first access, and whether one of them writes. The
/// numbers of writes are not those of reads.
pub const fn key(site: u32, writes: bool) -> u64 {
    site as u64 | (writes as u64) << 32
}

/// The entry of a group's number at an address, rounded to `1 << shift`.
pub const fn index(address: u64, shift: u32, number: u64) -> usize {
    ((address >> shift).wrapping_add(number * APART).wrapping_mul(SPREAD) >> (64 - WINDOWS_LOG2)) as usize
}
