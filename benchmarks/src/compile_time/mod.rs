//! How long compiling takes by the number of accesses in one function, and for any source file.

mod generate;
mod measure;
mod options;
mod table;

pub use generate::{Shape, source};
pub use measure::{Outcome, Row, measure};
pub use options::{Options, USAGE, parse};
pub use table::Table;
