//! Which accesses of a loop take turns, and who reads a granule.

use super::{MOST_GRANULES, MOST_SITES};
use crate::hooks::loops::Span;
use core::ops::Range;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{Access, WRITE};

/// Accesses that take turns, at most: none of them reads a granule more than four times.
const MOST_ACCESSES: usize = 32;

/// Accesses of a loop that read in one direction and never turn back to an earlier granule, and have a period.
///
/// Downwards only whole granules, each in one iteration: their reads have the order that they have upwards.
#[derive(Clone, Copy)]
pub struct Turns<'a> {
    /// By their addresses.
    pub accesses: &'a [Access],
    /// Where the lowest iteration begins.
    first: u64,
    iterations: u64,
    /// Bytes between iterations.
    stride: u64,
    /// The lowest iteration is the last one.
    is_downwards: bool,
    /// Bytes from the first access's begin to the last one's end.
    bytes: u64,
}

impl<'a> Turns<'a> {
    /// `accesses`: a sheaf.
    pub fn of(accesses: &'a [Access], iterations: u64) -> Option<Self> {
        let head = accesses.first().filter(|_| accesses.len() <= MOST_ACCESSES)?;
        let (stride, is_downwards) = (head.stride.unsigned_abs(), head.stride < 0);
        let in_step = |access: &Access| access.flags & WRITE == 0 && access.stride == head.stride && access.bytes > 0;
        let mut pairs = accesses.iter().zip(accesses.iter().skip(1));
        let is_whole = |access: &Access| {
            [access.address, access.bytes.into(), stride].iter().all(|bytes| bytes.is_multiple_of(GRANULE))
        };
        if !accesses.iter().all(in_step) || is_downwards && !accesses.iter().all(is_whole) {
            return None;
        }
        // Of whole granules that lie apart it is no matter which are read first.
        let follows = |(before, next)| follows(before, next) || is_downwards && is_behind(before, next);
        if !pairs.all(follows) {
            return None;
        }
        let end = |access: &Access| (access.address - head.address).saturating_add(access.bytes.into());
        let bytes = accesses.iter().map(end).max()?;
        let is_new = |(access, before): &(&Access, usize)| accesses.iter().take(*before).all(|a| a.site != access.site);
        let sites = accesses.iter().zip(0..).filter(is_new).count();
        let reach = head.stride.checked_mul(i64::try_from(iterations.checked_sub(1)?).ok()?)?;
        let first = head.address.checked_add_signed(reach.min(0))?;
        let turns = Turns { accesses, first, iterations, stride, is_downwards, bytes };
        (bytes <= stride && sites <= MOST_SITES && turns.period() <= MOST_GRANULES as u64).then_some(turns)
    }

    /// What is reached, with what lies between the accesses.
    pub fn span(&self) -> Option<Span> {
        Span::with(self.accesses.first()?, self.bytes, self.iterations)
    }

    /// Granules after which it is the same accesses' turn again.
    pub fn period(&self) -> u64 {
        self.stride >> self.stride.trailing_zeros().min(GRANULE.trailing_zeros())
    }

    /// Whether the reads are in the loop's order even where they are of different granules: what was joined of whole
    /// granules may have had others in between.
    pub fn is_in_order(&self) -> bool {
        let is_small = |access: &Access| u64::from(access.bytes) <= GRANULE;
        !self.is_downwards && (self.accesses.len() == 1 || self.accesses.iter().all(is_small))
    }

    /// The iterations, from the lowest one, that read a granule if the loop has neither begin nor end.
    fn around(&self, element: u64) -> Range<i64> {
        let (from, stride) = (element.wrapping_sub(self.first) as i64, self.stride as i64);
        // Not zero: `of` has refused that.
        let at = |from: i64| from.checked_div_euclid(stride).unwrap_or(0) + 1;
        at(from - self.bytes as i64)..at(from + GRANULE as i64 - 1)
    }

    fn reads_in(self, element: u64, iterations: Range<i64>) -> impl Iterator<Item = u32> {
        let lowest = self.accesses.first().map_or(0, |head| self.first.wrapping_sub(head.address) as i64);
        iterations.flat_map(move |iteration| {
            let moved = lowest.wrapping_add(iteration.wrapping_mul(self.stride as i64));
            let reads = move |access: &&Access| {
                let from = access.address.wrapping_add_signed(moved);
                from < element + GRANULE && from.wrapping_add(access.bytes.into()) > element
            };
            self.accesses.iter().filter(reads).map(|access| access.site)
        })
    }

    /// The sites that read a granule, in their order.
    pub fn reads(&self, element: u64) -> impl Iterator<Item = u32> {
        let around = self.around(element);
        // Spans that fit in the address space have fewer than 2^63 iterations.
        self.reads_in(element, around.start.max(0)..around.end.min(self.iterations as i64))
    }

    /// The same if the loop had neither begin nor end.
    pub fn reads_within(&self, element: u64) -> impl Iterator<Item = u32> {
        self.reads_in(element, self.around(element))
    }

    /// Whether the loop begins with the granules at the end.
    pub fn is_downwards(&self) -> bool {
        self.is_downwards
    }

    /// All that is read, in whole granules.
    pub fn granules(&self) -> Range<u64> {
        let end = self.first + self.stride * (self.iterations - 1) + self.bytes;
        self.first & !(GRANULE - 1)..end.next_multiple_of(GRANULE)
    }

    /// How many granules from this one on, `most` at most, have all the reads that they would have if the loop had
    /// neither begin nor end.
    pub fn within(&self, element: u64, most: usize) -> usize {
        let end = (self.first + self.stride * self.iterations) & !(GRANULE - 1);
        let has_begun = element + self.stride >= self.first + self.bytes;
        if has_begun { (end.saturating_sub(element) / GRANULE).min(most as u64) as usize } else { 0 }
    }
}

/// Whether the next access of an iteration comes later and reads no granule before those of this one.
fn follows(before: &Access, next: &Access) -> bool {
    // Bytes that are read twice, and lie in one granule each time.
    let bytes = u64::from(next.bytes);
    let is_aligned = next.address.is_multiple_of(bytes) && next.stride.unsigned_abs().is_multiple_of(bytes);
    let is_again =
        (before.address, before.bytes) == (next.address, next.bytes) && is_aligned && GRANULE.is_multiple_of(bytes);
    before.place() < next.place() && (is_behind(before, next) || is_again)
}

fn is_behind(before: &Access, next: &Access) -> bool {
    next.address.checked_sub(before.address).is_some_and(|far| far >= before.bytes.into())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::vec::Vec;
    use threadtalk_abi::loops::Order;

    fn order(place: u32) -> u32 {
        Order { first: place as u8, last: place as u8, group: 0 }.flags()
    }

    /// Accesses at these offsets and of these bytes, each at a line of its own.
    pub fn accesses(address: u64, stride: i64, pieces: &[(u64, u32)]) -> Vec<Access> {
        let access = |(&(offset, bytes), place): (&(u64, u32), u32)| Access {
            address: address + offset,
            stride,
            bytes,
            flags: order(place),
            site: place + 1,
            window: 0,
        };
        pieces.iter().zip(0..).map(access).collect()
    }

    /// Each read's granule and site, in the order of the loop.
    pub fn in_loop(accesses: &[Access], iterations: u64) -> Vec<(u64, u32)> {
        let mut reads = Vec::new();
        for iteration in 0..iterations {
            for access in accesses {
                let from = access.address_in(iteration);
                let granules = (from & !(GRANULE - 1)..from + u64::from(access.bytes)).step_by(GRANULE as usize);
                reads.extend(granules.map(|granule| (granule, access.site)));
            }
        }
        reads
    }

    #[test]
    fn granules_have_the_reads_of_the_loop_in_its_order() {
        let mut rng = fastrand::Rng::with_seed(11);
        let mut some = 0;
        for _ in 0..20_000 {
            let stride = rng.i64(1..40);
            let mut pieces: Vec<(u64, u32)> =
                (0..rng.usize(1..5)).map(|_| (rng.u64(0..stride as u64), rng.u32(1..9))).collect();
            pieces.sort();
            let (accesses, iterations) = (accesses(rng.u64(4096..4112), stride, &pieces), rng.u64(1..20));
            let Some(turns) = Turns::of(&accesses, iterations) else { continue };
            some += 1;
            let expected = in_loop(&accesses, iterations);
            let granules = || turns.granules().step_by(GRANULE as usize);
            let got: Vec<_> = granules().flat_map(|g| turns.reads(g).map(move |site| (g, site))).collect();
            assert_eq!(got, expected, "{stride} {pieces:?}");
            for granule in granules() {
                let all = turns.within(granule, 1) == 1;
                assert!(!all || turns.reads(granule).eq(turns.reads_within(granule)), "{stride} {pieces:?}");
            }
        }
        assert!(some > 4000, "{some}");
    }

    #[test]
    fn granules_that_are_read_downwards_have_the_same_reads() {
        let mut rng = fastrand::Rng::with_seed(12);
        let mut some = 0;
        for _ in 0..20_000 {
            let stride = rng.i64(1..16) * GRANULE as i64;
            let mut pieces: Vec<(u64, u32)> = Vec::new();
            for _ in 0..rng.usize(1..5) {
                pieces.push((rng.u64(0..stride as u64) & !(GRANULE - 1), rng.u32(1..4) * GRANULE as u32));
            }
            pieces.sort();
            let (mut accesses, iterations) = (accesses(4096, -stride, &pieces), rng.u64(1..20));
            if rng.bool() {
                // Later ones lie lower.
                let count = accesses.len() as u32;
                accesses.iter_mut().zip(1..).for_each(|(access, nth)| access.flags = order(count - nth));
            }
            let Some(turns) = Turns::of(&accesses, iterations) else { continue };
            some += 1;
            let expected = in_loop(&accesses, iterations);
            for granule in turns.granules().step_by(GRANULE as usize) {
                let reads: Vec<_> = expected.iter().filter(|(at, _)| *at == granule).map(|(_, site)| *site).collect();
                assert_eq!(turns.reads(granule).collect::<Vec<_>>(), reads, "{stride} {pieces:?}");
                let all = turns.within(granule, 1) == 1;
                assert!(!all || turns.reads(granule).eq(turns.reads_within(granule)), "{stride} {pieces:?}");
            }
            let span = turns.span().unwrap();
            assert_eq!(turns.granules(), span.first..span.last + 1);
            let lowest = expected.iter().map(|(at, _)| *at).min().unwrap();
            assert!(lowest >= span.first && lowest - span.first < stride as u64, "{stride} {pieces:?}");
        }
        assert!(some > 4000, "{some}");
    }

    #[test]
    fn what_turns_back_or_has_no_order_takes_no_turns() {
        let is = |accesses: &[Access]| Turns::of(accesses, 9).is_some();
        let mut pixel = accesses(4096, 3, &[(0, 1), (1, 1), (2, 1)]);
        assert!(is(&pixel));
        pixel.iter_mut().for_each(|access| access.flags = 0);
        assert!(!is(&pixel), "older object files");
        pixel.iter_mut().zip([2, 1, 0]).for_each(|(access, place)| access.flags = order(place));
        assert!(!is(&pixel), "backwards");
        assert!(!is(&accesses(4096, 8, &[(0, 8), (4, 4)])), "both read the second granule, then the next the first");
        assert!(is(&accesses(4096, 4, &[(1, 1), (1, 1)])), "a byte read twice");
        assert!(!is(&accesses(4096, 6, &[(3, 2), (3, 2)])), "two bytes in two granules, twice");
        assert!(!is(&accesses(4096, -3, &[(0, 1)])) && !is(&accesses(4096, 0, &[(0, 1)])));
        assert!(is(&accesses(4096, -8, &[(0, 8)])) && is(&accesses(4096, -16, &[(0, 8), (8, 4)])));
        assert!(!is(&accesses(4098, -8, &[(0, 4)])) && !is(&accesses(4096, -4, &[(0, 8)])), "parts, and twice");
        assert!(!is(&accesses(16, -8, &[(0, 8)])), "below the address space");
        assert!(!is(&accesses(4096, 4, &[(0, 8)])), "it reads what it has read");
        assert!(is(&accesses(4096, 64, &[(0, 1)])) && is(&accesses(4096, 15, &[(0, 1)])));
        assert!(!is(&accesses(4096, 17, &[(0, 1)])) && !is(&accesses(4096, 68, &[(0, 4)])), "long periods");
        let bytes: Vec<(u64, u32)> = (0..17).map(|at| (at, 1)).collect();
        assert!(is(&accesses(4096, 20, &bytes[..16])) && !is(&accesses(4096, 20, &bytes)), "sites");
        let write = accesses(4096, 1, &[(0, 1)]).into_iter().map(|access| Access { flags: WRITE, ..access });
        assert!(!is(&write.collect::<Vec<_>>()));
    }
}
