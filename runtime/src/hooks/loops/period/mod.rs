//! Reads in step that take turns: bytes of a granule one after the other, channels of a pixel, members of structures.
//!
//! Which accesses read a granule, and in which order, repeats after a few granules, the *period*: with the three
//! channels of a pixel A, B and C after three of them, which are read `ABCA`, `BCAB` and `CABC`. The first of these
//! reads may be a true communication; the others are reuse of the same element, with none between them.

mod one_by_one;
mod repeated;
mod reuse;
mod stream;
mod tally;
mod turns;

pub use stream::read as stream;
use threadtalk_abi::GRANULE;
use threadtalk_sigmem::{MOST_MEMBERS, Member, MemberRead};
pub use turns::Turns;

/// Granules of a period, at most: those of a cache line.
const MOST_GRANULES: usize = 16;
/// Granules after which states repeat, at most: a tile of 8 x 8 numbers, or four times the period.
const MOST_REPEATED: usize = MOST_MEMBERS;
/// Lines that read, at most: each is counted by itself.
const MOST_SITES: usize = 16;

/// The reads of a granule.
#[derive(Clone, Copy)]
struct Reads {
    /// How often each site reads it.
    counts: [u8; MOST_SITES],
    /// The number of the first to do so.
    first: Option<u8>,
    /// The site, and how often it reads, if no other one does: nearly always.
    only: Option<(u32, u64)>,
}

impl Reads {
    /// How often each of these sites reads the granule, of those that do.
    fn each<'a>(&self, sites: &'a [u32]) -> impl Iterator<Item = (u32, u64)> + Clone + use<'a> {
        let several = if self.only.is_some() { 0 } else { MOST_SITES };
        let counts = sites.iter().zip(self.counts).take(several).filter(|(_, count)| *count > 0);
        self.only.into_iter().chain(counts.map(|(site, count)| (*site, u64::from(count))))
    }
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
    /// Every granule is read.
    is_unbroken: bool,
}

impl<'a> Period<'a> {
    /// Finds the reads of each granule.
    pub fn of(turns: Turns<'a>) -> Self {
        let reads = [Reads { counts: [0; MOST_SITES], first: None, only: None }; MOST_GRANULES];
        let granules = turns.period() as usize;
        let mut period = Period { turns, sites: [0; MOST_SITES], used: 0, reads, granules, is_unbroken: true };
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
        for reads in period.reads.iter_mut().take(granules) {
            period.is_unbroken &= reads.first.is_some();
            let mut each = reads.each(period.sites.as_slice());
            reads.only = each.next().filter(|_| each.next().is_none());
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
        let all = self.reads.get(..self.granules).unwrap_or(&[]);
        all.iter().cycle().skip(self.place(element))
    }

    /// The reads of `n` granules from `element` on, none of them at an end of the loop, which are `members` again and
    /// again; of those, there are as many as a multiple of a period. Of each that is read and whose read is something:
    /// how often it is there.
    fn of_members<'b>(
        &'b self,
        element: u64,
        (members, n): (&'b [Member], usize),
    ) -> impl Iterator<Item = (&'b Member, &'b Reads, u64)> {
        let rest = n.checked_rem(members.len()).unwrap_or(0);
        let whole = n.checked_div(members.len()).unwrap_or(0) as u64;
        let times = (0..).map(move |place| whole + u64::from(place < rest));
        let all =
            members.iter().zip(self.from(element)).zip(times).map(|((member, reads), times)| (member, reads, times));
        all.filter(|(member, reads, times)| *times > 0 && reads.first.is_some() && member.read != MemberRead::Nothing)
    }

    /// A granule's place in the period.
    fn place(&self, element: u64) -> usize {
        let granules = element.wrapping_sub(self.turns.granules().start) / GRANULE;
        (granules as usize).checked_rem(self.granules).unwrap_or(0)
    }

    /// The place of the granule so many behind the one at `place`.
    fn place_behind(&self, place: usize, granules: usize) -> usize {
        (place + granules).checked_rem(self.granules).unwrap_or(0)
    }

    /// How many granules from this one on are read at all, `most` at most.
    pub fn unbroken(&self, element: u64, most: usize) -> usize {
        if self.is_unbroken {
            return most;
        }
        self.from(element).take(most).take_while(|reads| reads.first.is_some()).count()
    }

    /// Whether some granules are never read.
    pub fn has_gaps(&self) -> bool {
        !self.is_unbroken
    }

    /// Which of a structure's granules from this one on are read at all, a bit for each.
    pub fn read_of(&self, element: u64, structure: usize) -> u64 {
        let bits = self.from(element).take(structure).zip(0..).map(|(reads, place)| (reads.first.is_some(), place));
        bits.fold(0, |all, (is_read, place)| all | u64::from(is_read) << place)
    }
}
