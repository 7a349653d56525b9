//! Whether the thread meets ever new sets of readers.
//!
//! Sets that come again are found in [`super::firsts`]: a first read exchanges the cell's name, and that is all. Where
//! many threads read at random, hardly any set is met twice, and each first read makes a state. There the thread opens
//! the values that it is the first to read ([`threadtalk_sigmem::open`]). One line in 64 is never opened: there it
//! finds out.

/// Reads between decisions.
const READS: u32 = 256;
/// As many of them that join sets that the thread did not know are many, and few.
const MANY: u32 = READS / 2;
const FEW: u32 = READS / 4;

/// What a thread has met of late.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diversity {
    reads: u32,
    unknown: u32,
    great: bool,
}

impl Diversity {
    /// Whether values are to be opened.
    #[inline(always)]
    pub fn is_great(&self) -> bool {
        self.great
    }

    /// A read in a line that is never opened, by a hook. `unknown`: the thread joins a set of readers that it did not
    /// know.
    #[inline(always)]
    pub fn meets(&mut self, unknown: bool) {
        self.reads += 1;
        self.unknown += u32::from(unknown);
        if self.reads >= READS {
            self.great = self.unknown >= if self.great { FEW } else { MANY };
            (self.reads, self.unknown) = (self.reads / 2, self.unknown / 2);
        }
    }
}

/// Whether the line of an address is never opened.
#[inline(always)]
pub fn is_sample(address: u64) -> bool {
    ((address >> 6) as u32).wrapping_mul(0x9E37_79B1) >> 26 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(mut diversity: Diversity, reads: u32, is_unknown: impl Fn(u32) -> bool) -> Diversity {
        (0..reads).for_each(|i| diversity.meets(is_unknown(i)));
        diversity
    }

    #[test]
    fn many_unknown_sets_make_it_great_and_few_make_it_small() {
        let small = Diversity::default();
        assert!(!after(small, 10 * READS, |i| i % 3 == 0).is_great());
        let great = after(small, 2 * READS, |i| i % 2 == 0);
        assert!(great.is_great());
        assert!(after(great, 10 * READS, |i| i % 3 == 0).is_great(), "less than what made it great is enough");
        assert!(!after(great, 3 * READS, |i| i % 16 == 0).is_great());
    }

    #[test]
    fn one_line_in_64_is_a_sample_whatever_the_stride() {
        for stride in [1, 2, 3, 4, 8, 64, 1000] {
            let samples = (0..64_000).filter(|line| is_sample(0x7f12_3400_0000 + line * stride * 64)).count();
            assert!((800..1200).contains(&samples), "{samples} at stride {stride}");
        }
        assert!((0..64).all(|byte| is_sample(64 * 977 + byte) == is_sample(64 * 977)));
    }
}
