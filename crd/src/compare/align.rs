//! Alignment of two lists in their order: as many pairs as the shorter one has members, at the lowest cost.

/// Lists whose product is larger are paired in order: a table of this size takes 32 MiB.
const LARGEST: usize = 4 << 20;

/// Pairs of indices, ascending in both. `cost` is of pairing a member of the first with one of the second list.
pub fn align(first: usize, second: usize, cost: impl Fn(usize, usize) -> u64) -> Vec<(usize, usize)> {
    if first <= second {
        return shorter_first(first, second, cost);
    }
    shorter_first(second, first, |b, a| cost(a, b)).into_iter().map(|(b, a)| (a, b)).collect()
}

fn shorter_first(first: usize, second: usize, cost: impl Fn(usize, usize) -> u64) -> Vec<(usize, usize)> {
    if first == second || first.saturating_mul(second) > LARGEST {
        return (0..first).map(|i| (i, i)).collect();
    }
    // lowest[i][j]: of pairing the first i members, all of them, with some of the first j.
    let width = second + 1;
    let mut lowest = vec![u64::MAX; (first + 1) * width];
    lowest[..width].fill(0);
    for i in 1..=first {
        for j in i..=second {
            let paired = lowest[(i - 1) * width + j - 1].saturating_add(cost(i - 1, j - 1));
            lowest[i * width + j] = paired.min(lowest[i * width + j - 1]);
        }
    }
    let (mut i, mut j) = (first, second);
    let mut pairs = Vec::with_capacity(first);
    while i > 0 {
        // With j = i there is nobody to leave out.
        if j > i && lowest[i * width + j - 1] == lowest[i * width + j] {
            j -= 1;
        } else {
            pairs.push((i - 1, j - 1));
            (i, j) = (i - 1, j - 1);
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(first: &[u64], second: &[u64]) -> Vec<(usize, usize)> {
        align(first.len(), second.len(), |a, b| first[a].abs_diff(second[b]))
    }

    #[test]
    fn the_nearest_are_paired_in_order() {
        assert_eq!(of(&[10, 20], &[9, 15, 21]), [(0, 0), (1, 2)]);
        assert_eq!(of(&[9, 15, 21], &[20]), [(2, 0)]);
        assert_eq!(of(&[1, 2, 3], &[100, 101, 102]), [(0, 0), (1, 1), (2, 2)]);
        // Crossing would be cheaper for one alone.
        assert_eq!(of(&[5, 5], &[1, 5, 9]), [(0, 0), (1, 1)]);
        assert_eq!(of(&[], &[1]), []);
    }

    #[test]
    fn lists_too_long_for_a_table_are_paired_in_order() {
        let pairs = align(2049, 2050, |_, _| 1);
        assert_eq!((pairs.len(), pairs[2048]), (2049, (2048, 2048)));
    }
}
