//! Exact reuse distances of a known sequence of usages: what the histograms of a profile approximate.
//!
//! A sequence is that of one directed pair of threads in one region: the elements of its RaW and RaR events in the
//! reader's program order. A second true communication of an element is a usage like any other.

use std::collections::HashMap;
use std::hash::Hash;

/// Distances of the second and later usages of each element, in the order of the sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceDistances {
    /// Number of distinct elements since the previous usage (ICPP'18, section 3.3).
    pub distinct: Vec<u64>,
    /// Positions since the previous usage (ICPP'18, Algorithm 2).
    pub index: Vec<u64>,
}

/// Both distances of all usages, in O(n log n): a Fenwick tree holds 1 at the latest usage of each element, so
/// that the elements used since a position are a range sum (Bennett and Kruskal 1975; Olken 1981).
pub fn distances<E: Hash + Eq>(usages: impl IntoIterator<Item = E>) -> SequenceDistances {
    let usages: Vec<E> = usages.into_iter().collect();
    let mut latest = Fenwick { sums: vec![0; usages.len() + 1] };
    let mut last: HashMap<E, usize> = HashMap::new();
    let mut found = SequenceDistances::default();
    for (now, element) in usages.into_iter().enumerate() {
        if let Some(previous) = last.insert(element, now) {
            found.index.push((now - previous) as u64);
            found.distinct.push((latest.sum(now) - latest.sum(previous + 1)) as u64);
            latest.add(previous, -1);
        }
        latest.add(now, 1);
    }
    found
}

/// Sums over prefixes of an array that changes.
struct Fenwick {
    sums: Vec<i64>,
}

impl Fenwick {
    fn add(&mut self, at: usize, value: i64) {
        let mut node = at + 1;
        while node < self.sums.len() {
            self.sums[node] += value;
            node += node & node.wrapping_neg();
        }
    }

    /// Sum of the first `n`.
    fn sum(&self, n: usize) -> i64 {
        let mut node = n;
        let mut sum = 0;
        while node > 0 {
            sum += self.sums[node];
            node &= node - 1;
        }
        sum
    }
}
