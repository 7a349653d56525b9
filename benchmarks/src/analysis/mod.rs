//! What the report of a large profile takes: CPU time, memory, and the time until a browser shows it.

mod browser;
mod measure;
mod options;
mod profile;
mod table;

pub use measure::{Row, measure};
pub use options::{Options, Size, USAGE, parse};
pub use profile::synthetic;
pub use table::Table;
