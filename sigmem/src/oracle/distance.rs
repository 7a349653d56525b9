//! Reuse distances of one directed pair's usages, by their definitions.

use std::collections::{BTreeSet, HashMap};
use std::vec::Vec;

/// For each usage but an element's first: how many other elements were used since the element was used last.
/// Ascending.
pub fn distinct(usages: &[u64]) -> Vec<u64> {
    between(usages, |between| between.iter().collect::<BTreeSet<_>>().len())
}

/// For each usage but an element's first: how many usages ago the element was used last. Ascending.
pub fn index(usages: &[u64]) -> Vec<u64> {
    between(usages, |between| between.len() + 1)
}

fn between(usages: &[u64], measure: impl Fn(&[u64]) -> usize) -> Vec<u64> {
    let mut last = HashMap::new();
    let mut distances: Vec<u64> = Vec::new();
    for (now, element) in usages.iter().enumerate() {
        if let Some(before) = last.insert(element, now) {
            distances.push(measure(&usages[before + 1..now]) as u64);
        }
    }
    distances.sort_unstable();
    distances
}
