//! Which slices are alike.
//!
//! Two matrices are alike if the cosine of their usages (RaW + RaR), taken as vectors over the pairs of threads, is at
//! least [`SIMILARITY`]: how much is communicated says nothing, who talks to whom how much of it does. A slice without
//! events is like any other.

use super::Cells;
use super::slices::Cut;

/// Of two equal vectors whose every entry differs by a third, up or down at random, the cosine is 0.95; of a ring of 8
/// threads against the same ring and as much again from one thread to all others it is 0.77.
pub const SIMILARITY: f64 = 0.9;

/// The phase of each slice: a slice that is unlike all of the phase before together begins a new one.
pub fn neighbours(slices: &[Cut]) -> Vec<usize> {
    let mut phase = 0;
    let mut sum = Cells::new();
    let phase_of = |slice: &Cut| {
        if !are_alike(&sum, &slice.cells) {
            phase += 1;
            sum.clear();
        }
        add(&mut sum, &slice.cells);
        phase
    };
    slices.iter().map(phase_of).collect()
}

/// The sum of slices.
pub fn total(slices: &[Cut]) -> Cells {
    let mut sum = Cells::new();
    slices.iter().for_each(|slice| add(&mut sum, &slice.cells));
    sum
}

/// The pattern of each phase: that of the first phase that is like it.
pub fn patterns(phases: &[Cells]) -> Vec<usize> {
    let mut examples: Vec<&Cells> = Vec::new();
    let pattern_of = |phase| {
        let known = examples.iter().position(|example| are_alike(example, phase));
        known.unwrap_or_else(|| {
            examples.push(phase);
            examples.len() - 1
        })
    };
    phases.iter().map(pattern_of).collect()
}

fn add(sum: &mut Cells, more: &Cells) {
    for (pair, (raw, rar)) in more {
        let cell = sum.entry(*pair).or_default();
        *cell = (cell.0.saturating_add(*raw), cell.1.saturating_add(*rar));
    }
}

fn are_alike(a: &Cells, b: &Cells) -> bool {
    let usages = |(raw, rar): &(u64, u64)| *raw as f64 + *rar as f64;
    let norm = |cells: &Cells| cells.values().map(|c| usages(c).powi(2)).sum::<f64>().sqrt();
    let product: f64 = a.iter().filter_map(|(pair, c)| b.get(pair).map(|d| usages(c) * usages(d))).sum();
    a.is_empty() || b.is_empty() || product >= SIMILARITY * norm(a) * norm(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(entries: &[(u32, u32, u64)]) -> Cells {
        entries.iter().map(|(w, r, n)| ((*w, *r), (*n, 0))).collect()
    }

    fn cut(cells: Cells) -> Cut {
        Cut { from: 0, to: 1, cells, at_barrier: false }
    }

    #[test]
    fn amounts_do_not_matter_and_partners_do() {
        let ring = cells(&[(0, 1, 10), (1, 2, 10), (2, 0, 10)]);
        let more = cells(&[(0, 1, 900), (1, 2, 1100), (2, 0, 1000)]);
        let star = cells(&[(0, 1, 10), (0, 2, 10)]);
        let slices: Vec<Cut> =
            [&ring, &more, &Cells::new(), &star, &ring].into_iter().map(|c| cut(c.clone())).collect();
        assert_eq!(neighbours(&slices), [0, 0, 0, 1, 2]);
        assert_eq!(patterns(&[total(&slices[..3]), star, ring]), [0, 1, 0]);
    }

    #[test]
    fn reuse_counts_as_well() {
        let first: Cells = [((0, 1), (5, 1000))].into();
        let second: Cells = [((0, 1), (5, 0)), ((1, 0), (0, 1000))].into();
        assert!(!are_alike(&first, &second));
    }
}
