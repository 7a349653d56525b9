//! How many threads wait for the next usage of an element.
//!
//! A cell has one mark for all threads. What several threads read in turns, such as a scalar that all of them share, is
//! sampled by several at a time: if the first whose interval ends took the mark away, the others would miss their next
//! usage and find a later one. So the mark goes with the last of them.

use crate::memory;
use core::sync::atomic::{AtomicU32, Ordering};

/// log2 of the counts: 256 KiB of addresses. Elements may share one; with the thousand that are watched at a time, one
/// in 64 does, and keeps its mark longer than it need.
const COUNTS_LOG2: u32 = 16;

/// A count for each element, by a hash. Written where samples begin and end, by all threads.
#[derive(Clone, Copy)]
pub struct Waiters {
    counts: &'static [AtomicU32],
}

impl Waiters {
    /// Nobody waits. `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { counts: memory::counts(1 << COUNTS_LOG2)? })
    }

    /// A thread begins to wait for an element. Comes before it marks the cell.
    ///
    /// Relaxed, as all here: between another thread's [`Self::leave`] and its store of the cell without the mark, this
    /// one's mark may be lost, as before; then one interval of some thousands is found too long.
    pub fn enter(&self, element: u64) {
        if let Some(count) = self.count(element) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// It has ended to wait. Whether nobody else does, so that the mark may go.
    pub fn leave(&self, element: u64) -> bool {
        self.count(element).is_none_or(|count| count.fetch_sub(1, Ordering::Relaxed) == 1)
    }

    fn count(&self, element: u64) -> Option<&AtomicU32> {
        self.counts.get((element.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - COUNTS_LOG2)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_to_leave_is_told_so() {
        let waiters = Waiters::new().unwrap();
        waiters.enter(7);
        waiters.enter(7);
        waiters.enter(8);
        assert_eq!([7, 7, 8].map(|element| waiters.leave(element)), [false, true, true]);
        waiters.enter(7);
        assert!(waiters.leave(7));
    }
}
