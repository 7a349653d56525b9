//! States that repeat: members of structures that were written at lines of their own, one structure after the other.

use super::MOST_REPEATED;
use crate::hooks::scan::{equal_prefix, repeats};

/// Granules from the first one on whose states repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// Granules after which they do: a multiple of a period.
    pub length: usize,
    /// How many granules.
    pub granules: usize,
    /// All are in the state of the first one.
    pub is_alike: bool,
}

impl Repeated {
    /// `period`: granules of a period. At least the first granule repeats itself.
    pub fn of(cells: &[u32], period: usize) -> Self {
        let alike = cells.first().map_or(0, |first| equal_prefix(cells, *first));
        let mut best = Repeated { length: period, granules: alike, is_alike: true };
        // What is alike for longer repeats in no other way.
        if alike > MOST_REPEATED || alike == cells.len() {
            return best;
        }
        for length in (period..=MOST_REPEATED.min(cells.len() / 2)).step_by(period.max(1)) {
            if cells.get(length) != cells.first() {
                continue;
            }
            let again = repeats(cells, length);
            if again >= length && length + again > best.granules {
                best = Repeated { length, granules: length + again, is_alike: false };
            }
            if again > MOST_REPEATED {
                break;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_shortest_repetition_of_whole_periods_is_found() {
        let cells = |states: &[u32], n: usize| states.iter().copied().cycle().take(n).collect::<Vec<u32>>();
        let repeated = |length, granules, is_alike| Repeated { length, granules, is_alike };
        assert_eq!(Repeated::of(&cells(&[7], 100), 1), repeated(1, 100, true));
        assert_eq!(Repeated::of(&cells(&[7], 100), 3), repeated(3, 100, true));
        assert_eq!(Repeated::of(&cells(&[7, 7, 8, 8], 99), 1), repeated(4, 99, false));
        assert_eq!(Repeated::of(&cells(&[7, 7, 8, 8], 99), 2), repeated(4, 99, false));
        assert_eq!(Repeated::of(&cells(&[7, 8, 9], 40), 2), repeated(6, 40, false));
        let mut broken = cells(&[7, 8, 9], 40);
        broken[20] = 1;
        assert_eq!(Repeated::of(&broken, 3), repeated(3, 20, false));
        // Too short to tell, and no repetition at all.
        assert_eq!(Repeated::of(&[7, 7, 8, 8, 7, 7], 1), repeated(1, 2, true));
        assert_eq!(Repeated::of(&(0..50).collect::<Vec<u32>>(), 1), repeated(1, 1, true));
        assert_eq!(Repeated::of(&[], 1), repeated(1, 0, true));
        // The longer one, if there are several.
        assert_eq!(Repeated::of(&cells(&[7, 7, 7, 7, 8, 8, 8, 8], 64), 1), repeated(8, 64, false));
    }
}
