//! Chains of nearest neighbours over clusters that are kept as the means of their members.

use std::cmp::Reverse;

use super::means::Means;

/// Steps in which proximities are compared.
const PROXIMITY: f64 = (1u64 << 32) as f64;

/// Vectors that are compared with as many others while both are in the cache: 64 of 64 threads are 16 KiB.
const TILE: usize = 64;

pub(super) struct Members {
    means: Means,
    weights: Vec<usize>,
    merged: Vec<Vec<usize>>,
    /// Clusters that may still merge, ascending.
    active: Vec<usize>,
    nearest: Vec<Nearest>,
    /// How often each cluster has changed.
    changes: Vec<u32>,
    threshold: i64,
}

/// What is known of a cluster's nearest neighbour. A merge of two others brings nothing nearer than the nearer of them
/// was, so it holds until the cluster itself or that neighbour changes.
#[derive(Clone, Copy)]
enum Nearest {
    Unknown,
    /// None is near enough; that holds for ever.
    Far,
    At {
        rank: Rank,
        other: usize,
        changes: u32,
    },
}

/// A pair's place in the order of merging, by proximity, then the lowest clusters: greater is first.
type Rank = (i64, Reverse<(usize, usize)>);

impl Members {
    /// Clusters of one vector each, which stands for as many events as its weight; those merge that have at least a
    /// proximity of `threshold`.
    pub(super) fn new(vectors: &[Vec<f64>], weights: &[usize], threshold: f64) -> Members {
        let count = vectors.len();
        let mut members = Members {
            means: Means::new(vectors),
            weights: weights.to_vec(),
            merged: (0..count).map(|i| vec![i]).collect(),
            active: (0..count).collect(),
            nearest: vec![Nearest::Far; count],
            changes: vec![0; count],
            threshold: steps(threshold),
        };
        for rows in (0..count).step_by(TILE) {
            for columns in (rows..count).step_by(TILE) {
                members.compare(rows..(rows + TILE).min(count), columns..(columns + TILE).min(count));
            }
        }
        members
    }

    /// Merges all that are near enough.
    pub(super) fn merge_all(mut self) -> Vec<Vec<usize>> {
        let mut chain: Vec<usize> = Vec::new();
        let mut finished: Vec<Vec<usize>> = Vec::new();
        while let Some(&lowest) = self.active.first() {
            if chain.is_empty() {
                chain.push(lowest);
            }
            let top = chain[chain.len() - 1];
            match self.nearest_of(top) {
                None => {
                    chain.pop();
                    self.retire(top);
                    finished.push(std::mem::take(&mut self.merged[top]));
                }
                Some(near) if chain.len() >= 2 && chain[chain.len() - 2] == near => {
                    chain.truncate(chain.len() - 2);
                    self.merge(near.min(top), near.max(top));
                }
                // Rounding can lead back to an earlier link after a merge: go on from there.
                Some(near) => match chain.iter().position(|&c| c == near) {
                    Some(place) => chain.truncate(place + 1),
                    None => chain.push(near),
                },
            }
        }
        finished
    }

    /// Lets each of `rows` and each of the later ones of `columns` know of the other.
    fn compare(&mut self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) {
        for a in rows {
            for b in columns.start.max(a + 1)..columns.end {
                let enough = self.enough(a).min(self.enough(b));
                if let Some(product) = self.means.product(a, b, enough) {
                    self.offer(a, b, product);
                    self.offer(b, a, product);
                }
            }
        }
    }

    fn offer(&mut self, to: usize, other: usize, product: f64) {
        let rank = (steps(product), Reverse((to.min(other), to.max(other))));
        let better = match self.nearest[to] {
            Nearest::At { rank: best, .. } => rank > best,
            _ => rank.0 >= self.threshold,
        };
        if better {
            self.nearest[to] = Nearest::At { rank, other, changes: self.changes[other] };
        }
    }

    /// What a product must reach to be of interest to the cluster, less a step for the rounding to steps.
    fn enough(&self, cluster: usize) -> f64 {
        let least = match self.nearest[cluster] {
            Nearest::At { rank, .. } => rank.0,
            _ => self.threshold,
        };
        (least - 1) as f64 / PROXIMITY
    }

    fn nearest_of(&mut self, cluster: usize) -> Option<usize> {
        match self.nearest[cluster] {
            Nearest::Far => return None,
            Nearest::At { other, changes, .. } if self.changes[other] == changes => return Some(other),
            _ => self.nearest[cluster] = Nearest::Far,
        }
        for i in 0..self.active.len() {
            let other = self.active[i];
            if other == cluster {
                continue;
            }
            if let Some(product) = self.means.product(cluster, other, self.enough(cluster)) {
                self.offer(cluster, other, product);
            }
        }
        match self.nearest[cluster] {
            Nearest::At { other, .. } => Some(other),
            _ => None,
        }
    }

    /// Adds cluster `b` to `a`, the one with the lower first event.
    fn merge(&mut self, a: usize, b: usize) {
        self.means.merge(a, b, (self.weights[a], self.weights[b]));
        self.weights[a] += self.weights[b];
        let taken = std::mem::take(&mut self.merged[b]);
        self.merged[a].extend(taken);
        self.nearest[a] = Nearest::Unknown;
        self.changes[a] += 1;
        self.changes[b] += 1;
        self.retire(b);
    }

    fn retire(&mut self, cluster: usize) {
        if let Ok(place) = self.active.binary_search(&cluster) {
            self.active.remove(place);
        }
    }
}

fn steps(proximity: f64) -> i64 {
    (proximity * PROXIMITY).round() as i64
}
