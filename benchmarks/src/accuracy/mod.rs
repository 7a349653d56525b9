//! The accuracy table: hashed profiles of each kernel against exact ones, beside the error that the report stated.
//!
//! Each kernel is profiled with exact signatures and exact reuse distances, three times, and hashed with each budget.
//! What differs between exact runs is the program's own (the order in which threads take a mutex), not an error.

mod compare;
mod determined;
mod measure;
mod options;
mod rank;
mod table;

pub use compare::{Difference, difference};
pub use measure::{Row, measure};
pub use options::{Options, USAGE, parse};
pub use table::Table;
