//! Ranges of memory that hold no events for the thread: see [`threadtalk_abi::thread::ThreadHeader::ranges`].
//!
//! Mazaheri et al. count for programs without data races. In those, what another thread writes becomes visible to this
//! one only through an acquire, and a loop nest without calls and atomic accesses has none. A cell that was own stays
//! own, or gets readers: both are no event for its owner.

/// Ranges that are remembered: a stencil walks through three rows of some arrays.
const MOST: usize = 8;

/// The ranges. How many there are is in the thread's header.
pub struct Seen {
    ranges: [(u64, u64); MOST],
    next: usize,
}

impl Seen {
    /// None.
    pub const fn new() -> Self {
        Seen { ranges: [(0, 0); MOST], next: 0 }
    }

    /// The end of a range that holds the byte at `address`; `address` if there is none.
    #[inline]
    pub fn end(&self, count: u64, address: u64) -> u64 {
        let known = self.ranges.iter().take(count as usize).find(|r| r.0 <= address && address < r.1);
        known.map_or(address, |range| range.1)
    }

    /// Where the next range after the byte at `address`, which is in none, begins; `end` if that is before it.
    #[inline]
    pub fn begin(&self, count: u64, (address, end): (u64, u64)) -> u64 {
        let begins = self.ranges.iter().take(count as usize).map(|r| r.0);
        begins.filter(|begin| *begin > address).fold(end, u64::min)
    }

    /// The bytes from `first` to `end` hold no events. Returns how many ranges there are now.
    #[inline]
    pub fn add(&mut self, count: u64, first: u64, end: u64) -> u64 {
        for range in self.ranges.iter_mut().take(count as usize) {
            if first <= range.1 && range.0 <= end {
                *range = (range.0.min(first), range.1.max(end));
                return count;
            }
        }
        if count < MOST as u64 {
            self.next = count as usize;
        }
        if let Some(place) = self.ranges.get_mut(self.next) {
            *place = (first, end);
        }
        self.next = (self.next + 1) % MOST;
        (count + 1).min(MOST as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one() {
        let mut seen = Seen::new();
        let mut count = seen.add(0, 100, 200);
        count = seen.add(count, 300, 400);
        count = seen.add(count, 200, 260);
        assert_eq!((count, seen.end(count, 100), seen.end(count, 259)), (2, 260, 260));
        assert_eq!((seen.end(count, 260), seen.end(count, 99), seen.end(count, 399)), (260, 99, 400));
        let begin = |address, end| seen.begin(count, (address, end));
        assert_eq!((begin(40, 90), begin(40, 1000), begin(260, 1000), begin(400, 1000)), (90, 100, 300, 1000));
        assert_eq!(seen.begin(0, (40, 1000)), 1000);
    }

    #[test]
    fn the_oldest_range_makes_room_and_none_are_left_when_the_count_is_reset() {
        let mut seen = Seen::new();
        let mut count = 0;
        for i in 0..20 {
            count = seen.add(count, 100 * i, 100 * i + 50);
            assert_eq!(seen.end(count, 100 * i), 100 * i + 50);
        }
        assert_eq!(count, MOST as u64);
        let known = (0..20).filter(|i| seen.end(count, 100 * i) > 100 * i).count();
        assert_eq!(known, MOST);
        assert_eq!(seen.end(0, 1900), 1900);
        count = seen.add(0, 5, 6);
        assert_eq!((count, seen.end(count, 1900), seen.end(count, 5)), (1, 1900, 6));
    }
}
