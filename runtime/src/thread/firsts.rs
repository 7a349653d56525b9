//! First reads as the thread has made them before: by a cell's state and the reading line, the state that the cell is
//! in afterwards and the record that counts.
//!
//! With many threads a value has many first reads. What one means follows from the state's name, the line and the open
//! user region, and never changes; only the exchange of the cell has to be done each time. To look all of it up again,
//! in three tables, took half of a first read's time.
//!
//! Of open values ([`threadtalk_sigmem::open`]) there is one entry for each value and line, whoever has read it: the
//! bit that would list the thread (0: there is none; [`OWN`]: it wrote the value), and the record.
//!
//! Reuse that has lost its slot of the event cache is here as well, as a read that leaves the state as it is: with 16
//! threads a state and a line meet another such pair there a million times in a second.

use crate::memory;
use crate::module::MOST_SITES;
use core::ptr;
use threadtalk_abi::cell::NONE;
use threadtalk_profile::layout::EventRecord;
use threadtalk_sigmem::open::OpenName;

/// log2 of the slots: 128 KiB, two to a cache line. A gather by 16 threads meets some hundred combinations at a time, a
/// tree of bodies thousands.
const SLOTS_LOG2: u32 = 12;

/// In place of the thread's bit: the open value is its own.
pub const OWN: u32 = u32::MAX;

/// What a first read is looked up by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    from: u32,
    /// Its number plus 1; in the table the generation, too.
    site: u32,
    context: u32,
}

/// No site has such a number.
const OF_OPEN: u32 = 1 << 31;
/// Nor such a one, which is four times as many as are told apart: what a block has known for one thread goes out of
/// date when it serves the next. To wipe the table took a twentieth of the time of a thread that does next to nothing.
const GENERATION: u32 = 1 << 26;
const _: () = assert!(MOST_SITES < GENERATION);

impl Key {
    /// Zeroed memory.
    const EMPTY: Self = Self { from: NONE, site: 0, context: 0 };

    /// A read at global site `site`, of a cell in state `from` (not marked, never [`NONE`], of no open value), while
    /// user region `context` is open, or 0.
    #[inline(always)]
    pub fn new(from: u32, site: u32, context: u32) -> Self {
        Self { from, site: site + 1, context }
    }

    /// A read of an open value, whoever is listed. No state of a cell leads here by [`Key::new`].
    #[inline(always)]
    pub fn of_open(name: OpenName, site: u32, context: u32) -> Self {
        Self { from: name.value(), site: (site + 1) | OF_OPEN, context }
    }
}

/// What is known of such a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Known {
    /// The state that the cell is in afterwards; of an open value the thread's bit.
    pub to: u32,
    /// Where it counts. Where `to` is the state that the cell was in, in the head of the record, which may be the
    /// counter of reads that are no events.
    pub record: *mut EventRecord,
    /// What counts down to the next sample of first reads, of the record's trace. Null where there are no first reads.
    pub countdown: *mut u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    key: Key,
    to: u32,
    record: *mut EventRecord,
    countdown: *mut u64,
}

const _: () = assert!(size_of::<Slot>() == 32);

/// The table of one thread.
pub struct Firsts {
    slots: *mut Slot,
    /// What marks the entries that count.
    generation: u32,
}

impl Firsts {
    /// Knows nothing. `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { slots: memory::reserve(size_of::<Slot>() << SLOTS_LOG2)?.as_ptr().cast(), generation: 0 })
    }

    /// Forgets everything: the block serves another thread.
    pub fn clear(&mut self) {
        self.generation += GENERATION;
        if self.generation < OF_OPEN {
            return;
        }
        self.generation = 0;
        for at in 0..1 << SLOTS_LOG2 {
            // SAFETY: below the number of slots.
            unsafe { (*self.slots.add(at)).key = Key::EMPTY };
        }
    }

    #[inline(always)]
    fn of_now(&self, key: Key) -> Key {
        Key { site: key.site | self.generation, ..key }
    }

    /// What is known of such a read.
    #[inline(always)]
    pub fn get(&self, key: Key) -> Option<Known> {
        let key = self.of_now(key);
        // SAFETY: `place` is below the number of slots.
        let slot = unsafe { &*self.slots.add(place(key)) };
        (slot.key == key).then_some(Known { to: slot.to, record: slot.record, countdown: slot.countdown })
    }

    /// The thread has made such a read.
    #[inline]
    pub fn put(&mut self, key: Key, Known { to, record, countdown }: Known) {
        let key = self.of_now(key);
        // SAFETY: `place` is below the number of slots.
        unsafe { *self.slots.add(place(key)) = Slot { key, to, record, countdown } };
    }

    /// The thread has read the value of a cell in this state before, or reads of it are no events: they count in
    /// `record`.
    #[inline]
    pub fn put_reuse(&mut self, state: u32, site: u32, context: u32, record: *mut EventRecord) {
        self.put(Key::new(state, site, context), Known { to: state, record, countdown: ptr::null_mut() });
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
        let known = |i: u32| Known {
            to: i,
            record: ptr::without_provenance_mut(64 * i as usize),
            countdown: ptr::without_provenance_mut(8 * i as usize),
        };
        assert_eq!(firsts.get(Key::new(NONE, 0, 0)), None, "zeroed slots are empty");
        for i in 0..3000 {
            firsts.put(key(i), known(i));
            assert_eq!(firsts.get(key(i)), Some(known(i)));
            assert_eq!(firsts.get(Key { context: 1, ..key(i) }), None);
        }
        let found: Vec<u32> = (0..3000).filter(|i| firsts.get(key(*i)).is_some()).collect();
        assert!(found.len() > 512 && found.iter().all(|&i| firsts.get(key(i)) == Some(known(i))));
        firsts.clear();
        assert!((0..3000).all(|i| firsts.get(key(i)).is_none()));
        // As often as generations come back.
        for i in 0..100 {
            firsts.put(key(i), known(i));
            firsts.clear();
            assert!((0..3000).all(|i| firsts.get(key(i)).is_none()), "{i}");
        }
    }

    #[test]
    fn open_values_are_found_as_such_alone() {
        let mut firsts = Firsts::new().unwrap();
        let name = (SHARED..).find_map(OpenName::of).unwrap();
        let nobody_is_listed = name.value();
        firsts.put(Key::of_open(name, 7, 0), Known { to: 1, record: ptr::null_mut(), countdown: ptr::null_mut() });
        assert_eq!(firsts.get(Key::new(nobody_is_listed, 7, 0)), None);
        let listing = OpenName::of(name.listing(4)).unwrap();
        assert_eq!(firsts.get(Key::of_open(listing, 7, 0)).map(|known| known.to), Some(1));
    }
}
