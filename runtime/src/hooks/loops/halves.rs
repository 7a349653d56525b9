//! Reads that are counted many at a time, unless one of them is to be sampled.

/// Reads that follow each other: the number of the first one, and how many there are. (The length of a range has an
/// assertion, which hooks must not reach.)
pub type Part = (usize, usize);

/// With a read that is to be sampled among them, halves are counted, and so on, if they are so long.
const LEAST_AT_ONCE: usize = 16;

/// Has `n` reads counted, as many at once as `whole` does not refuse, and those around what is to be sampled by `each`.
/// Halves are multiples of `unit`. `t`: what both change.
pub fn count<T>(
    t: &mut T,
    (n, unit): (usize, usize),
    mut whole: impl FnMut(&mut T, Part) -> bool,
    mut each: impl FnMut(&mut T, Part),
) {
    let (mut from, mut most) = (0, n);
    while from < n {
        let some = most.min(n - from);
        if !whole(t, (from, some)) {
            let half = some / 2;
            let half = half - half.checked_rem(unit).unwrap_or(half);
            if half >= LEAST_AT_ONCE {
                most = half;
                continue;
            }
            each(t, (from, some));
        }
        from += some;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_read_is_counted_once_and_few_of_them_one_by_one() {
        for unit in [1, 3, 8, 60] {
            for n in [0usize, 1, 31, 32, 256, 250] {
                for sampled in [0, 17, n / 2, n.saturating_sub(1)] {
                    let mut seen: (Vec<Part>, usize) = Default::default();
                    let whole = |seen: &mut (Vec<Part>, usize), part: Part| {
                        let is_free = !(part.0..part.0 + part.1).contains(&sampled);
                        if is_free {
                            seen.0.push(part);
                        }
                        is_free
                    };
                    let each = |seen: &mut (Vec<Part>, usize), part: Part| {
                        seen.1 += part.1;
                        seen.0.push(part);
                    };
                    count(&mut seen, (n, unit), whole, each);
                    let mut at = 0;
                    for (from, some) in seen.0 {
                        assert_eq!((from, from % unit), (at, 0), "{n} in units of {unit}");
                        at += some;
                    }
                    assert_eq!(at, n);
                    let is_in_halves = sampled < n && unit < LEAST_AT_ONCE;
                    assert!(!is_in_halves || seen.1 < 2 * (LEAST_AT_ONCE + unit), "{} of {n}", seen.1);
                }
            }
        }
    }
}
