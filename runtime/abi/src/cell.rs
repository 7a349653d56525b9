//! How a signature cell encodes the state of its element.
//!
//! A cell is a `u32`, one for each 4-byte granule. The states that occur in a run are few, so a cell
//! holds a name of a state and not the state:
//!
//! ```text
//! 0                                   nobody has written this element in its present life
//! 0  tttttttttttttt p ssssssssssssssss  written by thread t at site s, not yet read by another thread  ("fresh")
//!    31-S-1 bits      S bits
//! 1 k iiiiiiiiiiiiiiiiiiiiiiiiiiiiii    state i: {fresh id, readers}, in a table or said by i itself  ("shared")
//! ```
//!
//! `S` ([`crate::thread::ThreadHeader::site_bits`]) is chosen when the process starts. `p` is 1 for what was written
//! while more than one thread existed and 0 for what the only thread wrote ("serial"). `k` marks an element that the
//! reuse distance of some thread waits for: such a state never enters the event cache, so its next use takes the slow
//! path.
//!
//! A thread owns the ids `own_base .. own_base + own_span`, so "I wrote this last and nobody else has
//! read it" is one subtraction and one unsigned comparison.

/// No writer: the cell of memory that no instrumented code has written since it came to life.
pub const NONE: u32 = 0;

/// Set in the names of states with readers.
pub const SHARED: u32 = 1 << 31;

/// Set in shared states of elements that a reuse distance measurement waits for.
pub const TRACKED: u32 = 1 << 30;

/// The number of a shared state.
pub const INDEX_MASK: u32 = TRACKED - 1;
