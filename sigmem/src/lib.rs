//! The signature memory: for each element of the profiled program, who wrote it last and who has read it since.
//!
//! See `README.md` beside this file for the protocol: what each atomic access is ordered with and why.
//! No operating system, no allocation, no locks: all memory is handed in.
#![no_std]

#[cfg(any(test, feature = "oracle", loom))]
extern crate std;

pub mod claims;
mod composed;
pub mod directory;
mod ended;
pub mod fresh;
mod index;
pub mod marks;
pub mod mixed;
mod neighbours;
pub mod open;
#[cfg(feature = "oracle")]
pub mod oracle;
pub mod pool;
pub mod primitive;
mod sets;
pub mod signature;
pub mod states;
pub mod view;

pub use claims::{Claims, Writable};
pub use composed::Band;
pub use directory::{Directory, Run};
pub use fresh::FreshId;
pub use marks::{Waiters, track, untrack};
pub use pool::{ChunkStock, Foresee, Pool, Segment, UNFORESEEN};
pub use signature::Signature;
pub use states::{Exhausted, State, StateMemory, StateStock, States};
pub use view::{Alike, MOST_MEMBERS, Member, MemberRead, Read, Transition, View, write};
