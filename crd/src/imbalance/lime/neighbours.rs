//! The nearest neighbours of a cluster, as far as they are known.
//!
//! A merge brings no third cluster nearer than the nearer of the two was. So what is not in the list stays outside,
//! whatever merges, and the list has the nearest as long as one in it is nearer than all others can be. The nearest of
//! a merged cluster are among those of its two.

use std::cmp::Reverse;

/// Neighbours that are kept. With more the search of all clusters is needed less often, and each takes longer.
const KEPT: usize = 8;

/// Rounding can make a merged cluster nearer than its parts were, by less than so many steps.
pub(super) const ROUNDING: i64 = 2;

/// A neighbour that was so near when it had changed so often.
#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    /// In steps.
    pub proximity: i64,
    pub cluster: usize,
    pub changes: u32,
}

impl Neighbour {
    /// Less is nearer; of equals the lower.
    pub(super) fn order(&self) -> (Reverse<i64>, usize) {
        (Reverse(self.proximity), self.cluster)
    }
}

/// Neighbours of one cluster.
#[derive(Default)]
pub(super) struct Neighbours {
    near: Vec<Neighbour>,
    /// No other is nearer.
    bound: i64,
    /// What is no nearer than this is of no interest.
    floor: i64,
    /// Changes of the cluster itself when its proximities were computed.
    changes: u32,
}

impl Neighbours {
    /// Of a cluster that has changed so often.
    pub(super) fn new(floor: i64, changes: u32) -> Neighbours {
        Neighbours { near: Vec::new(), bound: floor, floor, changes }
    }

    /// What is no nearer than this need not be offered.
    pub(super) fn bound(&self) -> i64 {
        self.bound
    }

    /// One that may belong into the list; of equals the lower ones first. Returns whether the bound is another.
    pub(super) fn offer(&mut self, neighbour: Neighbour) -> bool {
        if neighbour.proximity <= self.bound {
            return false;
        }
        self.near.push(neighbour);
        let full = self.near.len() == 2 * KEPT;
        if full {
            self.near.select_nth_unstable_by_key(KEPT, Neighbour::order);
            self.bound = self.near[KEPT].proximity;
            self.near.truncate(KEPT);
        }
        full
    }

    /// The cluster is now one with another; each stands for so many events. A third is as near to it as to the two in
    /// the mean.
    pub(super) fn absorb(&mut self, other: Neighbours, weights: (usize, usize)) {
        self.near.extend(other.near);
        if self.bound != other.bound {
            let (own, others) = (weights.0 as i128, weights.1 as i128);
            let mean = (i128::from(self.bound) * own + i128::from(other.bound) * others).div_euclid(own + others);
            self.bound = mean as i64 + 1;
        }
    }

    /// Takes out what is not as near any more as it says: all, if the cluster itself has changed since, and those that
    /// have.
    pub(super) fn take_changed(&mut self, own: u32, changes: impl Fn(usize) -> u32) -> Vec<Neighbour> {
        let holds = |n: &Neighbour| own == self.changes && changes(n.cluster) == n.changes;
        let (kept, changed): (Vec<Neighbour>, Vec<Neighbour>) = self.near.iter().partition(|n| holds(n));
        (self.near, self.changes) = (kept, own);
        changed
    }

    pub(super) fn has(&self, cluster: usize) -> bool {
        self.near.iter().any(|n| n.cluster == cluster)
    }

    /// The nearest in the list.
    pub(super) fn first(&self) -> Option<Neighbour> {
        self.near.iter().copied().min_by_key(Neighbour::order)
    }

    /// Whether the first of the list is nearer than what is not in it, or nothing of interest is outside.
    pub(super) fn is_certain(&self) -> bool {
        self.bound == self.floor || self.first().is_some_and(|n| n.proximity >= self.bound + ROUNDING)
    }
}
