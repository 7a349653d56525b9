//! What a caller may choose.

use crate::machine::Cache;

/// Choices for [`crate::analyse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Caches for the cutoffs, smallest level first; see [`crate::machine`].
    pub caches: Vec<Cache>,
    /// Leave out what was written while only one thread existed.
    pub hide_serial: bool,
    /// List only regions whose name, symbol or `file:line` match: `*` and `?` as in a shell; without them, any name
    /// that contains the text. The counts do not change.
    pub region: Option<String>,
}
