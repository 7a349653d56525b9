//! First reads as the thread has made them before: by a cell's state and the reading line, the state that the cell is
//! in afterwards and the record that counts.
//!
//! With many threads a value has many first reads. What one means follows from the state's name, the line and the open
//! user region, and never changes; only the exchange of the cell has to be done each time. To look all of it up again,
//! in three tables, took half of a first read's time.
//!
//! Of open values ([`threadtalk_sigmem::open`]) there is one entry for each value and line, whoever has read it: the
//! name that lists nobody, the bit that would list the thread (0: there is none; [`OWN`]: it wrote the value), and the
//! record.
//!
//! Reuse that has lost its slot of the event cache is here as well, as a read that leaves the state as it is: with 16
//! threads a state and a line meet another such pair there a million times in a second.

use crate::memory;
use threadtalk_abi::cell::NONE;
use threadtalk_profile::layout::EventRecord;

/// log2 of the slots: 24 KiB, half of the L1 cache. A gather by 16 threads meets some hundred combinations at a time.
const SLOTS_LOG2: u32 = 10;

/// In place of the thread's bit: the open value is its own.
pub const OWN: u32 = u32::MAX;

/// What a first read is looked up by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// State of the cell: not marked, never [`NONE`].
    pub from: u32,
    /// Global site of the read.
    pub site: u32,
    /// Open user region, or 0.
    pub context: u32,
}

impl Key {
    const EMPTY: Self = Self { from: NONE, site: u32::MAX, context: 0 };
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    key: Key,
    to: u32,
    record: *mut EventRecord,
}

/// The table of one thread.
pub struct Firsts {
    slots: *mut Slot,
}

impl Firsts {
    /// Knows nothing. `None`: no memory.
    pub fn new() -> Option<Self> {
        let mut firsts = Self { slots: memory::reserve(size_of::<Slot>() << SLOTS_LOG2)?.as_ptr().cast() };
        firsts.clear();
        Some(firsts)
    }

    /// Forgets everything: the block serves another thread.
    pub fn clear(&mut self) {
        for at in 0..1 << SLOTS_LOG2 {
            // SAFETY: below the number of slots.
            unsafe { (*self.slots.add(at)).key = Key::EMPTY };
        }
    }

    /// The state that the cell is in afterwards, or the thread's bit, and where the read counts.
    #[inline]
    pub fn get(&self, key: Key) -> Option<(u32, *mut EventRecord)> {
        // SAFETY: `place` is below the number of slots.
        let slot = unsafe { &*self.slots.add(place(key)) };
        (slot.key == key).then_some((slot.to, slot.record))
    }

    /// The thread has made such a read. Where `to` is the state that the cell was in, it is counted in the head of
    /// `record`, which may be the counter of reads that are no events.
    #[inline]
    pub fn put(&mut self, key: Key, to: u32, record: *mut EventRecord) {
        // SAFETY: `place` is below the number of slots.
        unsafe { *self.slots.add(place(key)) = Slot { key, to, record } };
    }
}

/// Fibonacci hashing, top bits: neighbouring names fall into different slots, and so do a name's sites.
#[inline]
fn place(key: Key) -> usize {
    (key.from.wrapping_add(key.site.rotate_left(16)).wrapping_mul(0x9E37_79B1) >> (32 - SLOTS_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;
    use std::vec::Vec;
    use threadtalk_abi::cell::SHARED;

    #[test]
    fn what_was_put_last_is_found_by_all_of_its_key() {
        let mut firsts = Firsts::new().unwrap();
        let key = |i: u32| Key { from: SHARED + i / 3, site: i % 3 + 1, context: 0 };
        let record = |i: u32| ptr::without_provenance_mut::<EventRecord>(64 * i as usize);
        assert_eq!(firsts.get(Key { from: NONE, site: 0, context: 0 }), None);
        for i in 0..3000 {
            firsts.put(key(i), i, record(i));
            assert_eq!(firsts.get(key(i)), Some((i, record(i))));
            assert_eq!(firsts.get(Key { context: 1, ..key(i) }), None);
        }
        let found: Vec<u32> = (0..3000).filter(|i| firsts.get(key(*i)).is_some()).collect();
        assert!(found.len() > 512 && found.iter().all(|&i| firsts.get(key(i)) == Some((i, record(i)))));
        firsts.clear();
        assert!((0..3000).all(|i| firsts.get(key(i)).is_none()));
    }
}
