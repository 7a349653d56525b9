//! What it costs to profile a program, and how far the result is from the exact one.
//!
//! * [`kernels`]: the programs, written from the descriptions of the algorithms in the papers.
//! * [`build`]: compiles a kernel natively, for threadtalk or for another tool.
//! * [`process`]: runs a program and gives its CPU time, wall time and peak memory.
//! * [`statistics`], [`machine`]: what the tables are made of.
//! * [`overhead`]: the table of slowdowns.
//! * [`accuracy`]: hashed against exact profiles.
//! * [`analysis`]: what the report of a large profile takes.
//! * [`compile_time`]: generated functions of many accesses, and given files.
//! * [`evaluation`]: the paper's programs before and after their optimisation.

pub mod accuracy;
pub mod analysis;
mod arguments;
pub mod build;
pub mod compile_time;
mod error;
pub mod evaluation;
pub mod kernels;
pub mod machine;
pub mod output;
pub mod overhead;
pub mod process;
pub mod report;
pub mod statistics;

pub use error::{Error, Result};
