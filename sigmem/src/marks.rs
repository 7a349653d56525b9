//! Marks: the bit of a cell that sends the next read of its element to the slow path, and how many threads want it.
//!
//! A thread that waits for its next usage of an element, because a reuse distance that it samples began there, marks
//! the cell. A cell has one mark for all threads: what several read in turns, such as a scalar that all of them share,
//! is waited for by several at a time. If the first whose wait ends took the mark away, the others would miss their
//! next usage and find a later one. So it goes with the last of them, and nobody can begin to wait while it goes: who
//! comes in that moment is refused, and samples another event instead. See `README.md`, "Cells in programs with races".

use crate::primitive::{AtomicU32, Ordering};
use threadtalk_abi::cell::{SHARED, TRACKED};

/// In a count: the last one is taking the mark away.
const GOING: u32 = 1 << 31;

/// How many threads wait for an element: a count for each, by a hash. Written where samples begin and end, by all
/// threads. Elements that share a count keep their marks longer than they need.
#[derive(Clone, Copy)]
pub struct Waiters {
    counts: &'static [AtomicU32],
}

impl Waiters {
    /// Nobody waits. The counts are 0, and a power of two of them; or there are none, and nobody may wait.
    pub fn new(counts: &'static [AtomicU32]) -> Self {
        debug_assert!(counts.is_empty() || counts.len().is_power_of_two());
        Self { counts }
    }

    /// A thread begins to wait for an element, and marks its cell afterwards. `false`: it may not, a mark is going.
    #[must_use]
    pub fn enter(&self, element: u64) -> bool {
        let one_more = |count| (count & GOING == 0).then_some(count + 1);
        // Acquire, with Release in `take_away`: the mark that this thread sets comes after the one that was taken away.
        self.count(element)
            .is_some_and(|count| count.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_ok())
    }

    /// It has ended to wait. Whether nobody else does: then it takes the mark away, by [`Self::take_away`].
    #[must_use]
    pub fn leave(&self, element: u64) -> bool {
        let one_less = |count| Some(if count == 1 { GOING } else { count - 1 });
        // Relaxed: who leaves has set the mark or seen it, and so cannot fail to see it when it takes it away.
        let left = self.count(element).map(|count| count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less));
        left == Some(Ok(1))
    }

    /// Takes the mark of an element away for which nobody waits. Comes after [`Self::leave`] has said so; `None` if
    /// there is no cell any more.
    pub fn take_away(&self, element: u64, cell: Option<&AtomicU32>) {
        cell.map(untrack);
        if let Some(count) = self.count(element) {
            count.store(0, Ordering::Release);
        }
    }

    fn count(&self, element: u64) -> Option<&AtomicU32> {
        let hash = element.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        self.counts.get(hash as usize & self.counts.len().wrapping_sub(1))
    }
}

/// Marks the element, whatever state it is in by now: another thread's first read may have changed it. `false`: its
/// state is not shared, as after a write; then its next read takes the slow path anyway. Or it is marked already.
pub fn track(cell: &AtomicU32) -> bool {
    let marked = |name| (name & SHARED != 0 && name & TRACKED == 0).then_some(name | TRACKED);
    // Relaxed: an exchange continues the release sequence of the one that put the state there.
    cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, marked).is_ok()
}

/// Takes the mark off. `false`: there is none.
pub fn untrack(cell: &AtomicU32) -> bool {
    // Relaxed: as above.
    cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |name| (mark(name) != 0).then_some(name & !TRACKED)).is_ok()
}

/// [`TRACKED`] if the name is of a tracked state. Fresh ids use the bit for the thread.
#[inline]
pub fn mark(name: u32) -> u32 {
    if name & SHARED != 0 { name & TRACKED } else { 0 }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::boxed::Box;

    fn waiters() -> Waiters {
        Waiters::new(Box::leak(Box::new([const { AtomicU32::new(0) }; 1 << 16])))
    }

    #[test]
    fn the_last_one_to_leave_is_told_so() {
        let waiters = waiters();
        assert_eq!([7, 7, 8].map(|element| waiters.enter(element)), [true; 3]);
        assert_eq!([7, 7, 8].map(|element| waiters.leave(element)), [false, true, true]);
    }

    #[test]
    fn nobody_begins_to_wait_while_a_mark_goes() {
        let waiters = waiters();
        let cell = AtomicU32::new(SHARED | 5);
        assert!(waiters.enter(7) && track(&cell) && waiters.leave(7));
        assert!(!waiters.enter(7) && waiters.enter(8));
        waiters.take_away(7, Some(&cell));
        assert_eq!(cell.load(Ordering::Relaxed), SHARED | 5);
        assert!(waiters.enter(7));
    }

    #[test]
    fn only_shared_states_are_marked_and_only_once() {
        let fresh = 5 | TRACKED;
        let cell = AtomicU32::new(fresh);
        assert!(!track(&cell) && !untrack(&cell), "the bit is of the thread's number");
        assert_eq!(cell.load(Ordering::Relaxed), fresh);
        cell.store(SHARED | 5, Ordering::Relaxed);
        assert!(!untrack(&cell) && track(&cell) && !track(&cell) && untrack(&cell));
    }
}
