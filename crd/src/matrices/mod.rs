//! Matrices of threads and what is computed from them.

pub mod balance;
pub mod cells;
pub mod homogeneity;
mod sums;

pub use sums::{Sums, Vector};
