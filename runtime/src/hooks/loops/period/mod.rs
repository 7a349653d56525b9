//! Reads in step that take turns: bytes of a granule one after the other, channels of a pixel, members of structures.
//!
//! Which accesses read a granule, and in which order, repeats after a few granules, the *period*: with the three
//! channels of a pixel A, B and C after three of them, which are read `ABCA`, `BCAB` and `CABC`. The first of these
//! reads may be a true communication; the others are reuse of the same element, with none between them.

mod stream;
mod turns;

pub use stream::read as stream;
use threadtalk_abi::GRANULE;
pub use turns::Turns;

/// Granules of a period, at most: those of a cache line.
const MOST_GRANULES: usize = 16;
/// Lines that read, at most: each is counted by itself.
const MOST_SITES: usize = 8;

/// How often each of the sites reads.
type Counts = [u64; MOST_SITES];

/// The reads of a granule.
#[derive(Clone, Copy)]
struct Reads {
    /// How often each site reads it.
    counts: [u8; MOST_SITES],
    /// The number of the first to do so.
    first: Option<u8>,
}

/// Which sites read which granules.
pub struct Period<'a> {
    /// The accesses.
    pub turns: Turns<'a>,
    sites: [u32; MOST_SITES],
    used: usize,
    /// From the first granule that is read.
    reads: [Reads; MOST_GRANULES],
    granules: usize,
}

impl<'a> Period<'a> {
    /// Finds the reads of each granule.
    pub fn of(turns: Turns<'a>) -> Self {
        let reads = [Reads { counts: [0; MOST_SITES], first: None }; MOST_GRANULES];
        let mut period = Period { turns, sites: [0; MOST_SITES], used: 0, reads, granules: turns.period() as usize };
        for access in turns.accesses {
            if !period.sites().contains(&access.site)
                && let Some(site) = period.sites.get_mut(period.used)
            {
                *site = access.site;
                period.used += 1;
            }
        }
        let elements = (turns.granules().start..).step_by(GRANULE as usize);
        for (element, reads) in elements.zip(&mut period.reads).take(period.granules) {
            for site in turns.reads_within(element) {
                let mut counts = period.sites.iter().zip(&mut reads.counts).zip(0..).take(period.used);
                if let Some(((_, count), number)) = counts.find(|((known, _), _)| **known == site) {
                    *count += 1;
                    reads.first = reads.first.or(Some(number));
                }
            }
        }
        period
    }

    /// The different sites, by the numbers that counts have.
    pub fn sites(&self) -> &[u32] {
        self.sites.get(..self.used).unwrap_or(&[])
    }

    /// Its granules.
    pub fn length(&self) -> usize {
        self.granules
    }

    /// The granules of the period from this one's on, again and again.
    fn from(&self, element: u64) -> impl Iterator<Item = &Reads> {
        let place = element.wrapping_sub(self.turns.granules().start) / GRANULE;
        let all = self.reads.get(..self.granules).unwrap_or(&[]);
        all.iter().cycle().skip((place as usize).checked_rem(self.granules).unwrap_or(0))
    }

    /// How many granules from this one on are read at all, `most` at most.
    pub fn unbroken(&self, element: u64, most: usize) -> usize {
        self.from(element).take(most).take_while(|reads| reads.first.is_some()).count()
    }

    /// How often `n` granules from this one on are read by each site, none of them at an end of the loop.
    pub fn count(&self, element: u64, n: usize) -> Counts {
        let rest = n.checked_rem(self.granules).unwrap_or(0);
        let whole = (n - rest).checked_div(self.granules).unwrap_or(0) as u64;
        let mut counts = self.once().map(|once| once * whole);
        add(&mut counts, self.from(element).take(rest));
        counts
    }

    /// How often each site reads in a period.
    pub fn once(&self) -> Counts {
        let mut counts = [0; MOST_SITES];
        add(&mut counts, self.reads.iter().take(self.granules));
        counts
    }

    /// Of how many of `n` granules from this one on each site is the first to read.
    pub fn firsts(&self, element: u64, n: usize) -> Counts {
        let mut counts = [0; MOST_SITES];
        for number in self.from(element).take(n).filter_map(|reads| reads.first) {
            if let Some(count) = counts.get_mut(usize::from(number)) {
                *count += 1;
            }
        }
        counts
    }
}

fn add<'a>(counts: &mut Counts, granules: impl Iterator<Item = &'a Reads>) {
    for reads in granules {
        counts.iter_mut().zip(reads.counts).for_each(|(count, reads)| *count += u64::from(reads));
    }
}

#[cfg(test)]
mod tests {
    use super::turns::tests::{accesses, in_loop};
    use super::*;
    use std::vec::Vec;

    #[test]
    fn counts_are_those_of_the_loop() {
        let pixels = accesses(4099, 3, &[(0, 1), (1, 1), (2, 1)]);
        let vectors = accesses(4098, 16, &[(0, 16)]);
        let members = accesses(4096, 24, &[(0, 8), (8, 2), (16, 4), (20, 1)]);
        for (accesses, length) in [(pixels, 3), (vectors, 4), (members, 6)] {
            let (iterations, reads) = (40, in_loop(&accesses, 40));
            let period = Period::of(Turns::of(&accesses, iterations).unwrap());
            assert_eq!(period.length(), length);
            let granules: Vec<u64> = period.turns.granules().step_by(GRANULE as usize).collect();
            for from in 1..granules.len() {
                for n in 1..=period.turns.within(granules[from], granules.len()) {
                    let some = &granules[from..from + n];
                    let (mut counts, mut firsts) = ([0; MOST_SITES], [0; MOST_SITES]);
                    for granule in some {
                        let mut reads = reads.iter().filter(|(read, _)| read == granule).peekable();
                        if let Some((_, first)) = reads.peek() {
                            firsts[*first as usize - 1] += 1;
                        }
                        reads.for_each(|(_, site)| counts[*site as usize - 1] += 1);
                    }
                    assert_eq!((period.count(some[0], n), period.firsts(some[0], n)), (counts, firsts));
                    let is_read = |granule: &&u64| reads.iter().any(|(read, _)| read == *granule);
                    assert_eq!(period.unbroken(some[0], n), some.iter().take_while(is_read).count());
                }
            }
        }
    }
}
