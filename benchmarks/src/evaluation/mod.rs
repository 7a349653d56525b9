//! The paper's evaluation on our own kernels: each program before and after an optimisation, in the region that the
//! paper calls the bottleneck.
//!
//! Source: Mazaheri, Wolf, Jannesari, ICPP 2018: Figures 6 to 8 (pairs of SPLASH programs) and Table 2 (Rodinia).

mod measure;
mod options;
mod pairs;
mod table;

pub use measure::{Figures, Outcome, measure};
pub use options::{Options, USAGE, parse};
pub use pairs::{ALL, Pair, Published};
pub use table::Table;
