//! Chains of nearest neighbours over clusters that are kept as the means of their members.

use std::ops::Range;

use super::means::Means;
use super::neighbours::{Neighbour, Neighbours, ROUNDING};

/// Steps in which proximities are compared.
const PROXIMITY: f64 = (1u64 << 32) as f64;

/// Vectors that are compared with as many others while both are in the cache: 64 of 64 threads are 8 KiB.
const TILE: usize = 64;

pub(super) struct Members {
    means: Means,
    weights: Vec<usize>,
    merged: Vec<Vec<usize>>,
    /// Clusters that may still merge, ascending.
    active: Vec<usize>,
    /// Which cluster each is part of, or its own number.
    part_of: Vec<usize>,
    nearest: Vec<Nearest>,
    neighbours: Vec<Neighbours>,
    /// Rough products below this are of no interest to the cluster.
    limits: Vec<i32>,
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
        other: usize,
        changes: u32,
    },
}

impl Members {
    /// Clusters of one vector each, which stands for as many events as its weight; those merge that have at least a
    /// proximity of `threshold`.
    pub(super) fn new(vectors: &[Vec<f64>], weights: &[usize], threshold: f64) -> Members {
        let (count, means) = (vectors.len(), Means::new(vectors));
        let threshold = steps(threshold);
        let mut members = Members {
            weights: weights.to_vec(),
            merged: (0..count).map(|i| vec![i]).collect(),
            active: (0..count).collect(),
            part_of: (0..count).collect(),
            nearest: vec![Nearest::Unknown; count],
            neighbours: (0..count).map(|_| Neighbours::new(floor(threshold), 0)).collect(),
            limits: vec![limit(&means, floor(threshold)); count],
            changes: vec![0; count],
            threshold,
            means,
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
    fn compare(&mut self, rows: Range<usize>, columns: Range<usize>) {
        let mut products = [0; TILE];
        for a in rows {
            let others = columns.start.max(a + 1)..columns.end;
            self.means.rough_row(a, others.clone(), &mut products);
            for (b, product) in others.zip(products) {
                if product >= self.limits[a].min(self.limits[b]) {
                    let proximity = steps(self.means.exact(a, b));
                    self.offer(a, b, proximity);
                    self.offer(b, a, proximity);
                }
            }
        }
    }

    fn offer(&mut self, to: usize, cluster: usize, proximity: i64) {
        let neighbour = Neighbour { proximity, cluster, changes: self.changes[cluster] };
        if self.neighbours[to].offer(neighbour) {
            self.limits[to] = limit(&self.means, self.neighbours[to].bound());
        }
    }

    fn nearest_of(&mut self, cluster: usize) -> Option<usize> {
        match self.nearest[cluster] {
            Nearest::Far => return None,
            Nearest::At { other, changes } if self.changes[other] == changes => return Some(other),
            _ => {}
        }
        self.renew(cluster);
        if !self.neighbours[cluster].is_certain() {
            self.search(cluster);
        }
        let first = self.neighbours[cluster].first().filter(|n| n.proximity >= self.threshold);
        self.nearest[cluster] = match first {
            Some(Neighbour { cluster: other, changes, .. }) => Nearest::At { other, changes },
            None => Nearest::Far,
        };
        first.map(|n| n.cluster)
    }

    /// Brings a cluster's list up to date: what has merged is in it as what it is now.
    fn renew(&mut self, cluster: usize) {
        let changes = &self.changes;
        let changed = self.neighbours[cluster].take_changed(changes[cluster], |other| changes[other]);
        for neighbour in changed {
            let other = self.whole(neighbour.cluster);
            let is_active = self.active.binary_search(&other).is_ok();
            if other != cluster && is_active && !self.neighbours[cluster].has(other) {
                self.look_at(cluster, other);
            }
        }
    }

    /// The cluster that this one is part of now.
    fn whole(&mut self, part: usize) -> usize {
        let mut whole = part;
        while self.part_of[whole] != whole {
            whole = self.part_of[whole];
        }
        self.part_of[part] = whole;
        whole
    }

    /// Makes a cluster's list anew.
    fn search(&mut self, cluster: usize) {
        let floor = floor(self.threshold);
        self.neighbours[cluster] = Neighbours::new(floor, self.changes[cluster]);
        self.limits[cluster] = limit(&self.means, floor);
        for i in 0..self.active.len() {
            let other = self.active[i];
            if other != cluster {
                self.look_at(cluster, other);
            }
        }
    }

    /// Lets the cluster know of another.
    fn look_at(&mut self, cluster: usize, other: usize) {
        if self.means.rough(cluster, other) >= self.limits[cluster] {
            self.offer(cluster, other, steps(self.means.exact(cluster, other)));
        }
    }

    /// Adds cluster `b` to `a`, the one with the lower first event.
    fn merge(&mut self, a: usize, b: usize) {
        self.means.merge(a, b, (self.weights[a], self.weights[b]));
        let taken = std::mem::take(&mut self.merged[b]);
        self.merged[a].extend(taken);
        let neighbours = std::mem::take(&mut self.neighbours[b]);
        self.neighbours[a].absorb(neighbours, (self.weights[a], self.weights[b]));
        self.weights[a] += self.weights[b];
        self.limits[a] = limit(&self.means, self.neighbours[a].bound());
        self.nearest[a] = Nearest::Unknown;
        self.part_of[b] = a;
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

/// What is no nearer than this never merges, whatever rounding does.
fn floor(threshold: i64) -> i64 {
    threshold - 1 - ROUNDING
}

/// The limit of rough products for this bound, less a step for the rounding to steps.
fn limit(means: &Means, bound: i64) -> i32 {
    means.limit((bound - 1) as f64 / PROXIMITY)
}

fn steps(proximity: f64) -> i64 {
    (proximity * PROXIMITY).round() as i64
}
