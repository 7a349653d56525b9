//! Counters by key, shared by all threads: open addressing without locks, bounded, never emptied.

use crate::memory;
use crate::process::Process;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// One key and its counters. Zeroed memory is a free one.
#[repr(C)]
pub struct Slot<const N: usize> {
    /// The key plus 1; 0 = free. Set once.
    key: AtomicU64,
    counters: [AtomicU64; N],
}

/// `N` counters for each of at most 2^16 keys, or just a number for each. What finds no room is not counted.
pub struct Tally<const N: usize> {
    slots: *const Slot<N>,
    /// Numbers of the slots with keys, plus 1, in the order in which they were taken: a look at all slots would touch
    /// each page of an empty table.
    taken: *const AtomicU32,
    /// Length of that list.
    keys: AtomicU32,
}

/// Keys.
const MOST: u32 = 1 << 16;
/// Slots: addresses, of which only touched pages cost memory. Half of them stay free, so that a key that has no room is
/// not looked for among all others.
const SLOTS: usize = 2 * MOST as usize;

// SAFETY: the table lives for ever and consists of atomics.
unsafe impl<const N: usize> Sync for Tally<N> {}

impl<const N: usize> Tally<N> {
    /// An empty table.
    pub fn new() -> Option<Self> {
        let slots = memory::reserve(SLOTS * size_of::<Slot<N>>())?.as_ptr().cast_const().cast();
        let taken = memory::reserve(SLOTS * size_of::<AtomicU32>())?.as_ptr().cast_const().cast();
        Some(Self { slots, taken, keys: AtomicU32::new(0) })
    }

    /// The counters of a key below `u64::MAX`, entered if need be. `None`: no room.
    pub fn counters(&self, key: u64) -> Option<&[AtomicU64; N]> {
        let number = self.number(key)?;
        // SAFETY: below the table's length.
        Some(unsafe { &(*self.slots.add(number as usize)).counters })
    }

    /// A number of a key below `u64::MAX` that no other one has, below 2^17; entered if need be. `None`: no room.
    pub fn number(&self, key: u64) -> Option<u32> {
        let key = key + 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 47) as usize % SLOTS;
        for _ in 0..SLOTS {
            // SAFETY: below the table's length.
            let slot = unsafe { &*self.slots.add(at) };
            // Relaxed: the key is all that is published, and the counters add up whoever adds.
            let exchanged = match slot.key.load(Ordering::Relaxed) {
                // Threads that come here at once may enter a few keys more.
                0 if self.keys.load(Ordering::Relaxed) >= MOST => return None,
                0 => slot.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed),
                held => Err(held),
            };
            match exchanged {
                Ok(_) => {
                    let number = self.keys.fetch_add(1, Ordering::Relaxed);
                    // SAFETY: below the length of the list: each slot is taken once.
                    let place = unsafe { &*self.taken.add(number as usize) };
                    place.store(at as u32 + 1, Ordering::Relaxed);
                    return Some(at as u32);
                }
                Err(held) if held == key => return Some(at as u32),
                Err(_) => at = (at + 1) % SLOTS,
            }
        }
        None
    }

    /// The key with this number, which [`Self::number`] gave it.
    pub fn key(&self, number: u32) -> Option<u64> {
        if number as usize >= SLOTS {
            return None;
        }
        // SAFETY: below the table's length.
        unsafe { &*self.slots.add(number as usize) }.key.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Adds to one counter of a key.
    pub fn add(&self, key: u64, counter: usize, by: u64) {
        if let Some(counter) = self.counters(key).and_then(|c| c.get(counter)) {
            counter.fetch_add(by, Ordering::Relaxed);
        }
    }

    fn used(&self) -> impl Iterator<Item = (u64, [u64; N])> + Clone + '_ {
        (0..self.keys.load(Ordering::Relaxed) as usize)
            // SAFETY: below the list's length.
            .map(|i| unsafe { &*self.taken.add(i) }.load(Ordering::Relaxed))
            // 0: another thread is about to write it.
            .filter_map(|place| place.checked_sub(1))
            // SAFETY: below the table's length.
            .map(|place| unsafe { &*self.slots.add(place as usize) })
            .map(|slot| (slot.key.load(Ordering::Relaxed), &slot.counters))
            .filter(|(key, _)| *key != 0)
            .map(|(key, counters)| (key - 1, core::array::from_fn(|i| counters[i].load(Ordering::Relaxed))))
    }

    /// Writes a block of the profile with a record for each key.
    pub fn write<R>(&self, process: &Process, kind: u16, record: impl Fn(u64, [u64; N]) -> R) {
        let used = self.used().count();
        if used == 0 {
            return;
        }
        let length = used * size_of::<R>();
        let Some(target) = process.file.allocate(length as u64) else { return };
        // `take`: another thread may enter keys meanwhile.
        for (i, (key, counters)) in self.used().take(used).enumerate() {
            // SAFETY: i < used, for which the block has room; payloads are aligned to 128 bytes.
            unsafe { target.payload().cast::<R>().add(i).write(record(key, counters)) };
        }
        target.publish(kind, size_of::<R>(), length as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_without_room_are_found_to_have_none_at_once() {
        let tally = Tally::<1>::new().unwrap();
        let numbers: Vec<_> = (0..u64::from(MOST)).map(|key| tally.number(key * 3).unwrap()).collect();
        assert!((0..u64::from(MOST)).all(|key| tally.key(numbers[key as usize]) == Some(key * 3)));
        for key in 0..100_000 {
            assert_eq!(tally.number(key * 3 + 1), None);
        }
        tally.add(30, 0, 5);
        tally.add(31, 0, 5);
        assert_eq!(tally.used().map(|(_, [n])| n).sum::<u64>(), 5);
    }
}
