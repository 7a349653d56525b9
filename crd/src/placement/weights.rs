//! How much threads communicate.

use crate::model::Report;

/// What each pair of threads communicates, in events: symmetric, with a zero diagonal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    size: usize,
    values: Vec<u64>,
}

impl Weights {
    /// From `pair(i, j)`, which is asked for all `i < j`.
    pub fn new(size: usize, pair: impl Fn(usize, usize) -> u64) -> Self {
        let mut weights = Self { size, values: vec![0; size * size] };
        for i in 0..size {
            for j in i + 1..size {
                weights.add(i, j, pair(i, j));
            }
        }
        weights
    }

    fn add(&mut self, i: usize, j: usize, events: u64) {
        if i != j {
            for at in [i * self.size + j, j * self.size + i] {
                self.values[at] = self.values[at].saturating_add(events);
            }
        }
    }

    /// Number of threads.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Events between two threads.
    pub fn get(&self, i: usize, j: usize) -> u64 {
        self.values[i * self.size + j]
    }

    /// Events of a thread with all others, in the order of these.
    pub fn row(&self, i: usize) -> &[u64] {
        &self.values[i * self.size..][..self.size]
    }

    /// Events of a thread.
    pub fn total(&self, i: usize) -> u64 {
        self.row(i).iter().fold(0, |sum, events| sum.saturating_add(*events))
    }

    /// The same with thread `order[i]` as thread `i`.
    pub fn permuted(&self, order: &[usize]) -> Self {
        Self::new(self.size, |i, j| self.get(order[i], order[j]))
    }

    /// Threads with the same group taken together; what they communicate among themselves costs nothing anywhere.
    pub fn folded(&self, group: &[usize], groups: usize) -> Self {
        let mut folded = Self::new(groups, |_, _| 0);
        for i in 0..self.size {
            for j in i + 1..self.size {
                folded.add(group[i], group[j], self.get(i, j));
            }
        }
        folded
    }

    /// Sum over the pairs of threads of their events times `distance`.
    pub fn cost(&self, distance: impl Fn(usize, usize) -> u32) -> u128 {
        let mut cost = 0;
        for i in 0..self.size {
            for (j, events) in self.row(i).iter().enumerate().skip(i + 1).filter(|(_, events)| **events > 0) {
                cost += u128::from(*events) * u128::from(distance(i, j));
            }
        }
        cost
    }
}

/// Weights of all threads of a report, in their order: true communication and reuse of the whole program,
/// synchronisation included, in both directions. Reuse counts because what is read again must come from the writer's
/// cache again whenever it was evicted or the line was written meanwhile.
pub fn of_threads(report: &Report) -> Weights {
    let mut weights = Weights::new(report.threads.len(), |_, _| 0);
    let total = &report.program_total;
    let Some(counts) = total.counts.as_deref() else { return weights };
    let index = |member: u32| {
        let id = total.threads[member as usize];
        report.threads.binary_search_by_key(&id, |thread| thread.id)
    };
    for entry in counts.total_raw.entries().iter().chain(counts.total_rar.entries()) {
        if let (Ok(writer), Ok(reader)) = (index(entry.writer), index(entry.reader)) {
            weights.add(writer, reader, entry.value);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_are_one_and_a_thread_is_at_no_distance_from_itself() {
        let mut weights = Weights::new(3, |_, _| 0);
        weights.add(0, 1, 5);
        weights.add(1, 0, 2);
        weights.add(2, 2, 9);
        weights.add(1, 2, u64::MAX);
        weights.add(2, 1, 1);
        assert_eq!([weights.get(0, 1), weights.get(1, 0), weights.get(2, 2), weights.get(1, 2)], [7, 7, 0, u64::MAX]);
        assert_eq!(weights.cost(|_, _| 2), 2 * (7 + u128::from(u64::MAX)));
        assert_eq!(weights.total(1), u64::MAX);
    }

    #[test]
    fn folding_keeps_what_is_between_the_groups() {
        let weights = Weights::new(4, |i, j| 10 * i as u64 + j as u64);
        let folded = weights.folded(&[0, 1, 0, 1], 2);
        assert_eq!(folded, Weights::new(2, |_, _| 1 + 3 + 12 + 23));
    }
}
