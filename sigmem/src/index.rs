//! A lock-free, insert-only hash index: from contents to the name they were given.
//!
//! A slot is one word `tag << 32 | name`, 0 = empty, and changes once, from empty to full. Two threads that enter
//! equal contents walk the same probe sequence, so they meet at its first empty slot: the exchange picks one, the
//! other finds the winner there.
//!
//! The slots are divided into levels, each eight times as long as the one before. The probe sequence is one cache line
//! of each level, and in the last one a walk. So the index of a program with 300 states lies in one page and that of
//! one with 10,000 in 73, however much room there is for more: a plain table would touch a page for each state.

use crate::primitive::{AtomicU64, Ordering};

/// Slots of the first level: one page.
const FIRST: usize = 512;
/// Slots probed in each level but the last: a cache line.
const LINE: usize = 8;
/// Slots probed in the last level before the index is called full. With room for twice as many names as there are,
/// the last level is at most 4/7 full, and runs of full slots stay below a hundred: this is a bound on work and not a
/// limit that is met.
const WALK: usize = 512;

/// The array of slots. The memory behind it is not owned.
pub(crate) struct Index {
    slots: *const AtomicU64,
    length: usize,
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
        Self { slots, length: 1 << slots_log2 }
    }

    /// Finds the name for contents with this hash, or enters the offered one. The contents behind `offered` must be
    /// written before. `None`: no room.
    pub(crate) fn enter(&self, hash: u64, offered: Option<u32>, equal: impl Fn(u32) -> bool) -> Option<Entered> {
        // An odd tag keeps full slots different from the empty one.
        let tag = hash >> 32 | 1;
        for at in self.probes(hash as u32) {
            // SAFETY: probes lie below the number of slots.
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
        }
        None
    }

    /// Numbers of the slots to look at, in order. They depend on the hash alone.
    fn probes(&self, hash: u32) -> impl Iterator<Item = usize> {
        let mut begin = 0;
        let mut length = FIRST;
        let levels = core::iter::from_fn(move || {
            let rest = self.length.checked_sub(begin).filter(|rest| *rest > 0)?;
            // What follows would be less than about twice the next level: no more levels.
            let last = rest < 16 * length;
            let level = (begin, if last { rest } else { length }, last);
            begin += level.1;
            length *= 8;
            Some(level)
        });
        levels.flat_map(move |(begin, length, last)| {
            let place = ((u64::from(hash) * length as u64) >> 32) as usize;
            let (first, probes) = if last { (place, WALK.min(length)) } else { (place & !(LINE - 1), LINE) };
            (first..first + probes).map(move |at| begin + if at < length { at } else { at - length })
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::vec::Vec;
    use xxhash_rust::xxh3::xxh3_64;

    fn slots(log2: u32) -> Vec<AtomicU64> {
        (0..1 << log2).map(|_| AtomicU64::new(0)).collect()
    }

    /// Contents are their own names.
    fn enter(index: &Index, name: u32) -> Option<Entered> {
        index.enter(xxh3_64(&name.to_le_bytes()), Some(name), |other| other == name)
    }

    #[test]
    fn every_name_is_found_again_at_half_load() {
        for log2 in [3, 9, 12, 13, 14, 17] {
            let slots = slots(log2);
            // SAFETY: that many slots, alive.
            let index = unsafe { Index::new(slots.as_ptr(), log2) };
            let names = 0..1 << (log2 - 1);
            assert!(names.clone().all(|name| enter(&index, name) == Some(Entered::Mine)), "{log2}");
            assert!(names.clone().all(|name| enter(&index, name) == Some(Entered::Theirs(name))), "{log2}");
            let full = slots.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count();
            assert_eq!(full, names.len());
        }
    }

    #[test]
    fn a_full_index_says_so_and_still_finds() {
        let slots = slots(3);
        // SAFETY: that many slots, alive.
        let index = unsafe { Index::new(slots.as_ptr(), 3) };
        assert!((0..8).all(|name| enter(&index, name) == Some(Entered::Mine)));
        assert_eq!(enter(&index, 8), None);
        assert_eq!(enter(&index, 5), Some(Entered::Theirs(5)));
        // Nothing to offer: found or not.
        assert_eq!(index.enter(xxh3_64(&5_u32.to_le_bytes()), None, |other| other == 5), Some(Entered::Theirs(5)));
    }

    #[test]
    fn no_probe_is_outside_and_none_comes_twice() {
        for log2 in [3, 9, 13, 16] {
            // SAFETY: no slot is touched.
            let index = unsafe { Index::new(core::ptr::null(), log2) };
            for hash in [0, 1, 0x8000_0000, u32::MAX - 1, u32::MAX] {
                let probes: Vec<usize> = index.probes(hash).collect();
                assert!(probes.iter().all(|at| *at < 1 << log2), "{log2}, {hash:#x}");
                assert_eq!(probes.iter().collect::<HashSet<_>>().len(), probes.len(), "{log2}, {hash:#x}");
            }
        }
    }

    #[test]
    fn few_names_touch_few_pages() {
        let slots = slots(20);
        // SAFETY: that many slots, alive.
        let index = unsafe { Index::new(slots.as_ptr(), 20) };
        let pages = || slots.chunks(512).filter(|page| page.iter().any(|s| s.load(Ordering::Relaxed) != 0)).count();
        for (names, most) in [(100, 1), (1_000, 9), (10_000, 80)] {
            assert!((0..names).all(|name| enter(&index, name).is_some()));
            assert!(pages() <= most, "{names} names in {} pages", pages());
        }
    }
}
