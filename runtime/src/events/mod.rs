//! A thread's event records, found by what they count.
//!
//! A record stands for one combination of (what was written where, by whom; the reading site; the open user region).
//! The inlined code finds the common ones through the event cache; the slow path finds all through this table. Traces
//! of the reuse distance are found in a second table of the same kind.

use crate::memory;
use core::ptr::{self, NonNull};

/// What a record counts; for traces (writing thread, region, 0).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct EventKey {
    /// Fresh id: writing thread, site, serial or not.
    pub written: u32,
    /// Global site of the read.
    pub site: u32,
    /// Open user region, or 0.
    pub context: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Slot<V> {
    key: EventKey,
    used: u32,
    value: V,
}

const LEAST: usize = 1024;

/// Open addressing, at most half full.
pub struct Table<V> {
    slots: *mut Slot<V>,
    capacity: usize,
    len: usize,
}

impl<V: Copy> Table<V> {
    /// An empty table without memory.
    pub const fn new() -> Self {
        Self { slots: ptr::null_mut(), capacity: 0, len: 0 }
    }

    /// The value for `key`, if it has one.
    #[inline]
    pub fn get(&self, key: EventKey) -> Option<V> {
        if self.capacity > 0 {
            let slot = self.find(key);
            // SAFETY: `find` returns a slot of the table.
            if unsafe { (*slot).used != 0 } {
                // SAFETY: as above.
                return Some(unsafe { (*slot).value });
            }
        }
        None
    }

    /// Enters a value for a key that has none. `None`: no memory.
    pub fn insert(&mut self, key: EventKey, value: V) -> Option<V> {
        if self.len * 2 >= self.capacity && !self.grow() {
            return None;
        }
        let slot = self.find(key);
        // SAFETY: a free slot of the table.
        unsafe { *slot = Slot { key, used: 1, value } };
        self.len += 1;
        Some(value)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No key was entered.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory when one more key has been entered.
    pub fn bytes_with_one_more(&self) -> usize {
        let capacity = if self.len * 2 >= self.capacity { (self.capacity * 2).max(LEAST) } else { self.capacity };
        capacity * size_of::<Slot<V>>()
    }

    /// All values, in no particular order.
    pub fn values(&self) -> impl Iterator<Item = V> + use<V> {
        let (slots, capacity) = (self.slots, self.capacity);
        (0..capacity).filter_map(move |i| {
            // SAFETY: i < capacity; the caller's thread is the table's and does not change it meanwhile.
            let slot = unsafe { *slots.add(i) };
            (slot.used != 0).then_some(slot.value)
        })
    }

    /// Forgets the records; they stay in the file.
    pub fn clear(&mut self) {
        if !self.slots.is_null() {
            // SAFETY: the table's own memory; zeroed slots are free.
            unsafe { self.slots.write_bytes(0, self.capacity) };
        }
        self.len = 0;
    }

    fn find(&self, key: EventKey) -> *mut Slot<V> {
        let mask = self.capacity - 1;
        let word = u64::from(key.written) << 32 | u64::from(key.site) ^ u64::from(key.context).rotate_left(17);
        // The top bits, which all bits of the key reach: the writing thread is in the uppermost bits of the key, and
        // with others the same line's values of 16 writers fell into one place.
        let mut at = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - self.capacity.trailing_zeros())) as usize;
        loop {
            // SAFETY: at <= mask < capacity.
            let slot = unsafe { self.slots.add(at) };
            // SAFETY: as above.
            let found = unsafe { *slot };
            if found.used == 0 || found.key == key {
                return slot;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) -> bool {
        let capacity = (self.capacity * 2).max(LEAST);
        let Some(fresh) = memory::reserve(capacity * size_of::<Slot<V>>()) else { return false };
        let (old, old_capacity) = (self.slots, self.capacity);
        (self.slots, self.capacity) = (fresh.as_ptr().cast(), capacity);
        for i in 0..old_capacity {
            // SAFETY: i < old capacity.
            let slot = unsafe { *old.add(i) };
            if slot.used != 0 {
                let place = self.find(slot.key);
                // SAFETY: a free slot of the new table.
                unsafe { *place = slot };
            }
        }
        if let Some(old) = NonNull::new(old.cast::<u8>()) {
            // SAFETY: came from `reserve` with this size; the table does not use it any more.
            unsafe { memory::release(old, old_capacity * size_of::<Slot<V>>()) };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_record_while_the_table_grows() {
        let mut table = Table::new();
        let key = |i: u32| EventKey { written: i / 7, site: i % 7, context: 0 };
        for i in 0..10_000 {
            assert_eq!(table.get(key(i)), None);
            let foretold = table.bytes_with_one_more();
            assert_eq!(table.insert(key(i), i * 3), Some(i * 3));
            assert_eq!((table.len(), table.capacity * size_of::<Slot<u32>>()), (i as usize + 1, foretold));
        }
        for i in 0..10_000 {
            assert_eq!(table.get(key(i)), Some(i * 3));
        }
        assert_eq!(table.get(EventKey { context: 5, ..key(3) }), None);
        table.clear();
        assert_eq!(table.get(key(3)), None);
    }
}
