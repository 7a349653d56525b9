//! What reads of members of a structure know together.
//!
//! A *bundle* is what one stretch of code reads at constant distances from an address: x, y and z of a particle, the
//! counts of a node of an index. Each of its reads by itself compares with the event cache, some 25 instructions where
//! others wrote the value. So a thread keeps *patterns*: the states that all of a bundle's cells were in, of which it
//! knows what each read means. If the cells are in a pattern's states again, all reads of the bundle are counted by
//! taking one from [`Pattern::left`]. As with memos ([`crate::memo`]), what a state means to a thread at a site never
//! changes, so nothing can make a pattern wrong; its counts arrive later: when nothing is left, when another pattern
//! takes its place, when the thread's counts are written.
//!
//! ```text
//! before the first read of a bundle, at address a:
//!     t = directory[a >> 14]
//!     if all cells, from a + t on, are own           all reads are done
//!     if t == 0                                      goto single
//!     p = patterns[(cell of the first read + bundle.salt) % 128]
//!     if p.bundle != bundle                          goto miss
//!     for each piece i, d bytes from a:   the cell or two at a + t + d == p.cells[i], else goto miss
//!     if p.left == 0                                 goto learn
//!     p.left -= 1                                    all reads are done
//! miss:
//!     learn_in -= 1;                                 if learn_in >= 0 goto single
//! learn:
//!     __threadtalk_learn(a, bundle)
//! single:
//!     each read does as ever
//! ```

use crate::module::ModuleBases;

/// Patterns of a thread, a power of two.
pub const PATTERNS: usize = 128;

/// Pieces of a bundle, each of a granule or two: with them, what inlined code compares is one line of the cache.
pub const MOST_PIECES: usize = 6;

/// A bundle that misses is looked at once in so many misses of the thread.
pub const LEARN_IN: u32 = 16;

/// The reads of a bundle: a constant of the module.
#[repr(C)]
#[derive(Debug)]
pub struct Bundle {
    /// The module's bases.
    pub bases: *const ModuleBases,
    /// How many pieces there are.
    pub count: u32,
    /// Keeps bundles apart in the table of patterns.
    pub salt: u32,
    /// The first `count` of them are there.
    pub pieces: [Piece; MOST_PIECES],
}

/// One read, or 8 bytes of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Its site in the module.
    pub site: u32,
    /// Bytes from the address of the first read.
    pub first: i16,
    /// 1 or 2.
    pub granules: u16,
}

/// What a bundle's cells were, and how often they may be so.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Pattern {
    /// Whose pattern it is; null: nobody's.
    pub bundle: *const Bundle,
    /// How many times it may be counted without asking.
    pub left: u64,
    /// The cell of each piece, or both cells.
    pub cells: [u64; MOST_PIECES],
}

/// Byte offsets for the pass.
pub mod offset {
    use super::{Bundle, Pattern};
    use core::mem::offset_of;

    /// Of [`Pattern::bundle`].
    pub const BUNDLE: u64 = offset_of!(Pattern, bundle) as u64;
    /// Of [`Pattern::left`].
    pub const LEFT: u64 = offset_of!(Pattern, left) as u64;
    /// Of [`Pattern::cells`].
    pub const CELLS: u64 = offset_of!(Pattern, cells) as u64;
    /// Size of [`Pattern`].
    pub const PATTERN_SIZE: u64 = size_of::<Pattern>() as u64;
    const _: () = assert!(PATTERN_SIZE == 64 && offset_of!(Bundle, pieces) == 16);
}
