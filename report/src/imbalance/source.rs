//! The source lines around a cause, as far as the file can be read.

use crate::html::source;
use std::collections::{BTreeMap, BTreeSet};

/// Lines before and after.
const AROUND: u32 = 2;

/// Numbered lines around one; empty if the file cannot be read.
pub fn around(file: Option<&str>, line: Option<u32>) -> Vec<(u32, String)> {
    let (Some(file), Some(line)) = (file, line) else { return Vec::new() };
    let wanted = BTreeMap::from([(0, BTreeSet::from([line]))]);
    let lines = source::read(&[file], &wanted).remove(&0).unwrap_or_default();
    lines.into_iter().filter(|(n, _)| n.abs_diff(line) <= AROUND).collect()
}
