//! What runs inside the profiled program.
//!
//! * [`process`]: what all threads share; options; the beginning and the end.
//! * [`thread`]: control blocks, logical threads, the thread-local pointer.
//! * [`hooks`]: what instrumented code calls, and the bodies behind it.
//! * [`events`]: the records in which events are counted; [`distance`]: communication reuse distance.
//! * [`execution`]: counters of control flow by number of threads, waiting, parallel sections.
//! * [`module`] and [`region`]: sites and regions, from the pass and from the program itself.
//! * [`wide`]: a truth value that can be copied fast.
//! * [`file`](mod@file): the profile, mapped and valid at any moment; [`memory`]: memory that is not the program's
//!   heap.
//!
//! * `intercept`, `lifecycle` and `openmp` find out about threads, memory and the process, and tell [`core_api`].
//!
//! No standard library, no heap, no lock. Everything is reached through [`process::get`] and the thread-local pointer.
#![cfg_attr(not(test), no_std)]

#[cfg(test)]
extern crate std;

pub mod core_api;
pub mod distance;
pub mod events;
pub mod execution;
pub mod file;
pub mod hooks;
pub mod intercept;
pub mod lifecycle;
pub mod memory;
pub mod module;
pub mod objects;
pub mod openmp;
pub mod phases;
pub mod process;
pub mod region;
pub mod tally;
pub mod thread;
pub mod wide;
