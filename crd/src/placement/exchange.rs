//! Improvement of a placement by exchanges.
//!
//! Passes in the manner of Kernighan and Lin ("An Efficient Heuristic Procedure for Partitioning Graphs", Bell System
//! Technical Journal 49(2), 1970): the best exchange is made even if it is a bad one, its threads are locked, and so on
//! until all are; then what came after the best moment is undone. So a pass climbs out of a local optimum that no
//! single exchange leaves. What each exchange would change is kept in a table and brought up to date in constant time
//! for each entry (Burkard and Rendl's formula for the quadratic assignment problem, as in Taillard, "Robust taboo
//! search", Parallel Computing 17, 1991).

use super::{Slots, Weights};
use crate::machine::Topology;

/// Work that may be spent, in entries of the table brought up to date.
pub struct Budget(u128);

impl Budget {
    /// A quarter of a second. A pass for 256 threads takes a 32nd of it.
    pub fn new() -> Self {
        Self(1 << 29)
    }

    /// Whether no pass over so many threads and places is left.
    pub fn is_spent(&self, threads: usize, places: usize) -> bool {
        pass(threads, places) > self.0
    }

    /// Takes a pass over so many threads and places; false if that is more than is left.
    fn take(&mut self, threads: usize, places: usize) -> bool {
        let enough = !self.is_spent(threads, places);
        self.0 -= if enough { pass(threads, places) } else { 0 };
        enough
    }
}

/// Each exchange, of as many as there are threads, changes what every other thread would gain from every place.
fn pass(threads: usize, places: usize) -> u128 {
    threads as u128 * threads as u128 * places as u128
}

/// Improves a placement until a pass gains nothing or the budget is used up. Distances inside the groups of level
/// `depth` - 1 count as nothing: with growing depth this parts the threads along the tree from the root on.
pub fn exchange(
    weights: &Weights,
    topology: &Topology,
    slots: &Slots,
    depth: usize,
    budget: &mut Budget,
    place_of: &mut [usize],
) {
    let threads = weights.size();
    if threads == 0 || !budget.take(threads, slots.len()) {
        return;
    }
    let mut table = Table::new(weights, topology, slots, depth, place_of);
    while table.pass() && budget.take(threads, slots.len()) {}
    place_of.copy_from_slice(&table.place_of[..threads]);
}

/// Items are threads and, numbered after them, one for each empty place: an exchange with one of these is a move.
struct Table<'a> {
    slots: &'a Slots,
    threads: usize,
    items: usize,
    /// By pair of threads.
    weights: Vec<i64>,
    /// By pair of places.
    distances: Vec<i64>,
    place_of: Vec<usize>,
    /// Change of the cost if a thread and an item change places.
    change: Vec<i64>,
    locked: Vec<bool>,
}

impl<'a> Table<'a> {
    fn new(weights: &Weights, topology: &Topology, slots: &'a Slots, depth: usize, place_of: &[usize]) -> Self {
        let (threads, items) = (weights.size(), slots.len());
        let mut taken = vec![false; items];
        place_of.iter().for_each(|place| taken[*place] = true);
        let empty = (0..items).filter(|place| !taken[*place]);
        let farthest = topology.levels().first().map_or(0, |level| level.distance);
        // Scaled down if the sum of all costs, of which there are eight in a change at most, would not fit.
        let all = (0..threads).map(|i| weights.total(i)).fold(0u128, |sum, total| sum + u128::from(total));
        let bits = u128::BITS - (all * u128::from(farthest) * 8).leading_zeros();
        let shift = bits.saturating_sub(62);
        let distance = |a: usize, b: usize| {
            let level = topology.separation(slots.processor(a), slots.processor(b)).filter(|level| *level < depth);
            level.map_or(0, |level| i64::from(topology.levels()[level].distance))
        };
        Self {
            slots,
            threads,
            items,
            weights: (0..threads * threads).map(|at| scaled(weights.get(at / threads, at % threads), shift)).collect(),
            distances: (0..items * items).map(|at| distance(at / items, at % items)).collect(),
            place_of: place_of.iter().copied().chain(empty).collect(),
            change: vec![0; threads * items],
            locked: vec![false; items],
        }
    }

    fn weight(&self, item: usize, thread: usize) -> i64 {
        if item < self.threads { self.weights[item * self.threads + thread] } else { 0 }
    }

    /// How much farther `to` is than `from`, seen from `place`.
    fn farther(&self, from: usize, to: usize, place: usize) -> i64 {
        self.distances[to * self.items + place] - self.distances[from * self.items + place]
    }

    /// What each item costs at each place while all others stay where they are.
    fn costs(&self) -> Vec<i64> {
        let mut costs = vec![0; self.items * self.items];
        for (item, costs) in costs.chunks_exact_mut(self.items).enumerate().take(self.threads) {
            for k in (0..self.threads).filter(|k| self.weights[item * self.threads + k] != 0) {
                let weight = self.weights[item * self.threads + k];
                let distances = &self.distances[self.place_of[k] * self.items..][..self.items];
                costs.iter_mut().zip(distances).for_each(|(cost, distance)| *cost += weight * distance);
            }
        }
        costs
    }

    /// The change for a thread and an item that has no events.
    fn change_of_move(&self, i: usize, empty: usize) -> i64 {
        let (from, to) = (self.place_of[i], self.place_of[empty]);
        (0..self.threads).map(|k| self.weight(i, k) * self.farther(from, to, self.place_of[k])).sum()
    }

    fn refresh(&mut self) {
        let costs = self.costs();
        for i in 0..self.threads {
            let from = self.place_of[i];
            for j in i + 1..self.items {
                let to = self.place_of[j];
                let (own, theirs) = (i * self.items, j * self.items);
                // The two are as far from each other afterwards as before, which the four costs do not know.
                let between = 2 * self.weight(j, i) * self.distances[from * self.items + to];
                self.change[own + j] =
                    costs[own + to] - costs[own + from] + costs[theirs + from] - costs[theirs + to] + between;
            }
        }
    }

    /// One pass; false if it gained nothing.
    fn pass(&mut self) -> bool {
        self.locked.fill(false);
        self.refresh();
        let mut made = Vec::new();
        let (mut sum, mut least, mut at_least) = (0, 0, 0);
        while let Some((change, i, j)) = self.best() {
            sum += change;
            self.make(i, j);
            made.push((i, j));
            if sum < least {
                (least, at_least) = (sum, made.len());
            }
        }
        for (i, j) in made.drain(at_least..).rev() {
            self.place_of.swap(i, j);
        }
        least < 0
    }

    /// The best exchange of unlocked items that leaves no place empty that must be taken.
    fn best(&self) -> Option<(i64, usize, usize)> {
        let mut best = None;
        let mut least = i64::MAX;
        for i in (0..self.threads).filter(|i| !self.locked[*i]) {
            let may_leave = self.slots.is_optional(self.place_of[i]);
            let end = if may_leave { self.items } else { self.threads };
            let row = &self.change[i * self.items..][..end];
            for (j, &change) in row.iter().enumerate().skip(i + 1) {
                // The rare condition first: this is the innermost loop of the search.
                if change >= least || self.locked[j] {
                    continue;
                }
                // Inside a group nothing changes, and two threads would be locked for nothing.
                if change == 0 && self.distances[self.place_of[i] * self.items + self.place_of[j]] == 0 {
                    continue;
                }
                (least, best) = (change, Some((change, i, j)));
            }
        }
        best
    }

    /// Exchanges a thread and an item, and brings the table up to date: the change for `i` and `j` grows by
    /// (w(i,u) - w(i,v) - w(j,u) + w(j,v)) (d(j,v) - d(j,u) - d(i,v) + d(i,u)), where w(x,y) is the weight of two items
    /// and d(x,y) the distance of their places.
    fn make(&mut self, u: usize, v: usize) {
        let (pu, pv) = (self.place_of[u], self.place_of[v]);
        self.locked[u] = true;
        self.locked[v] = v < self.threads;
        let to_v = |item: usize| if v < self.threads { self.weight(item, v) } else { 0 };
        let drawn: Vec<i64> = (0..self.items).map(|item| self.weight(item, u) - to_v(item)).collect();
        let nearer: Vec<i64> = self.place_of.iter().map(|place| self.farther(pu, pv, *place)).collect();
        for i in (0..self.threads).filter(|i| !self.locked[*i]) {
            let (own, here) = (drawn[i], nearer[i]);
            let row = &mut self.change[i * self.items..][i + 1..self.items];
            // Without a look at who is locked: what is said of those is not read any more, and may wrap.
            for ((change, theirs), there) in row.iter_mut().zip(&drawn[i + 1..]).zip(&nearer[i + 1..]) {
                *change = change.wrapping_add((own - theirs).wrapping_mul(there - here));
            }
        }
        self.place_of.swap(u, v);
        if v >= self.threads {
            for i in (0..self.threads).filter(|i| !self.locked[*i]) {
                self.change[i * self.items + v] = self.change_of_move(i, v);
            }
        }
    }
}

fn scaled(events: u64, shift: u32) -> i64 {
    // At most 62 bits are left of the sum of all.
    (events.checked_shr(shift).unwrap_or(0)) as i64
}
