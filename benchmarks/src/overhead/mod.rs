//! The overhead table: native against threadtalk, ThreadSanitizer and, on small inputs, helgrind and drd.
//!
//! The tools take turns, so that what else happens on the machine hits all of them alike. The cost is user plus system
//! CPU time: it does not change with the number of idle cores, and waiting is not work.

mod measure;
mod options;
mod table;

pub use measure::{Measurement, Row, measure};
pub use options::{Options, USAGE, parse};
pub use table::Table;
