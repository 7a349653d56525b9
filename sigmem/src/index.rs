//! A lock-free, insert-only hash index: from contents to the name they were given.
//!
//! A slot is one word `tag << 32 | name`, 0 = empty, and changes once, from empty to full. Two threads that
//! enter equal contents walk the same probe sequence, so they meet at its first empty slot: the exchange picks
//! one, the other finds the winner there.

use crate::primitive::{AtomicU64, Ordering};

/// Slots looked at before the index is called full. With at most half of the slots in use the longest run of
/// full slots in 2^23 is around 60; this is a bound on work, not a limit that is met.
const PROBES: usize = 512;

/// The array of slots. The memory behind it is not owned.
pub(crate) struct Index {
    slots: *const AtomicU64,
    mask: usize,
}

// SAFETY: the slots are atomics that live as long as the index (contract of `new`).
unsafe impl Send for Index {}
// SAFETY: as above.
unsafe impl Sync for Index {}

/// What became of an attempt to enter contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// The name on offer now stands for the contents.
    Mine,
    /// Equal contents had this name already.
    Theirs(u32),
}

impl Index {
    /// # Safety
    /// `slots` points to `1 << slots_log2` words, zero at first, that live as long as the index and that nobody else
    /// writes.
    pub(crate) unsafe fn new(slots: *const AtomicU64, slots_log2: u32) -> Self {
        Self { slots, mask: (1 << slots_log2) - 1 }
    }

    /// Finds the name for contents with this hash, or enters the offered one. The contents behind `offered`
    /// must be written before. `None`: no room.
    pub(crate) fn enter(&self, hash: u64, offered: Option<u32>, equal: impl Fn(u32) -> bool) -> Option<Entered> {
        // An odd tag keeps full slots different from the empty one.
        let tag = hash >> 32 | 1;
        let mut at = hash as usize & self.mask;
        for _ in 0..PROBES.min(self.mask + 1) {
            // SAFETY: the mask keeps the index below the number of slots.
            let slot = unsafe { &*self.slots.add(at) };
            // Acquire (partner: the exchange below): the contents that the name stands for are visible.
            let mut held = slot.load(Ordering::Acquire);
            if held == 0 {
                let mine = tag << 32 | u64::from(offered?);
                // Release: the contents were written before. Acquire on failure as for the load.
                match slot.compare_exchange(0, mine, Ordering::Release, Ordering::Acquire) {
                    Ok(_) => return Some(Entered::Mine),
                    Err(winner) => held = winner,
                }
            }
            let name = held as u32;
            if held >> 32 == tag && equal(name) {
                return Some(Entered::Theirs(name));
            }
            at = (at + 1) & self.mask;
        }
        None
    }
}
