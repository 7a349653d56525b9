//! A thread's private memory: blocks of powers of two, with a budget.
//!
//! Reuse distance tables grow, are dropped when their trace goes over to sampling, and all end with the
//! thread; a bump pointer with a free list for each size serves that without a lock.

use core::ptr::{self, NonNull};

const SMALLEST: u32 = 6; // 64 bytes: a cache line
const LARGEST: u32 = 36;
/// Pages are asked for by so many bytes.
const AHEAD: usize = 64 << 10;

/// Blocks of powers of two from one reserved range.
pub struct Arena {
    start: *mut u8,
    next: usize,
    /// What has pages, from the start on.
    present: usize,
    capacity: usize,
    free: [*mut u8; (LARGEST - SMALLEST + 1) as usize],
}

impl Arena {
    /// An arena without memory: every request fails.
    pub const fn empty() -> Self {
        Self {
            start: ptr::null_mut(),
            next: 0,
            present: 0,
            capacity: 0,
            free: [ptr::null_mut(); (LARGEST - SMALLEST + 1) as usize],
        }
    }

    /// An arena over `budget` bytes of address space.
    pub fn with_budget(budget: usize) -> Self {
        match super::reserve(budget) {
            Some(start) => Self { start: start.as_ptr(), capacity: budget, ..Self::empty() },
            None => Self::empty(),
        }
    }

    /// `bytes` zeroed bytes, aligned to 64; `None` when the budget is used up.
    pub fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let class = class_of(bytes)?;
        let size = 1usize << class;
        let list = &mut self.free[(class - SMALLEST) as usize];
        if !list.is_null() {
            let block = *list;
            // SAFETY: blocks on a free list came from this arena and hold the list's link in their first word.
            unsafe {
                *list = block.cast::<*mut u8>().read();
                block.write_bytes(0, size);
            }
            return NonNull::new(block);
        }
        if size > self.capacity - self.next {
            return None;
        }
        // SAFETY: next + size <= capacity, so the block lies in the reserved range.
        let block = unsafe { self.start.add(self.next) };
        self.next += size;
        self.populate();
        NonNull::new(block)
    }

    /// Sees to it that all blocks have pages. Tables are read before they are written: for each page the kernel would
    /// map zeros first, and at the first write a page of its own, for which it interrupts all threads' processors.
    fn populate(&mut self) {
        if self.next <= self.present {
            return;
        }
        let to = self.next.next_multiple_of(AHEAD).min(self.capacity);
        // SAFETY: a part of the reserved range. Where the kernel cannot do it, pages come one by one as ever.
        unsafe { super::populate(self.start.add(self.present), to - self.present) };
        self.present = to;
    }

    /// Takes back a block.
    ///
    /// # Safety
    /// `block` came from `allocate(bytes)` of this arena and is not used any more.
    pub unsafe fn give_back(&mut self, block: NonNull<u8>, bytes: usize) {
        let Some(class) = class_of(bytes) else { return };
        let list = &mut self.free[(class - SMALLEST) as usize];
        // SAFETY: the block is at least 64 bytes and ours again.
        unsafe { block.as_ptr().cast::<*mut u8>().write(*list) };
        *list = block.as_ptr();
    }

    /// Forgets all blocks and returns their memory to the kernel.
    ///
    /// # Safety
    /// No block of this arena is used any more.
    pub unsafe fn reset(&mut self) {
        if self.present > 0 {
            // SAFETY: the part of the reserved range that was ever asked for; MADV_DONTNEED makes it zero again.
            unsafe { libc::madvise(self.start.cast(), self.present, libc::MADV_DONTNEED) };
        }
        (self.next, self.present) = (0, 0);
        self.free = [ptr::null_mut(); (LARGEST - SMALLEST + 1) as usize];
    }
}

fn class_of(bytes: usize) -> Option<u32> {
    let class = bytes.checked_next_power_of_two()?.trailing_zeros().max(SMALLEST);
    (class <= LARGEST).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_zeroed_aligned_and_reused() {
        let mut arena = Arena::with_budget(1 << 20);
        let a = arena.allocate(100).unwrap();
        assert_eq!(a.as_ptr() as usize % 64, 0);
        // SAFETY: 128 bytes were allocated.
        unsafe { a.as_ptr().write_bytes(7, 128) };
        // SAFETY: allocated with 100 above, not used after.
        unsafe { arena.give_back(a, 100) };
        let b = arena.allocate(128).unwrap();
        assert_eq!(a, b);
        // SAFETY: 128 bytes were allocated.
        assert!((0..128).all(|i| unsafe { *b.as_ptr().add(i) } == 0));
    }

    #[test]
    fn the_budget_holds() {
        let mut arena = Arena::with_budget(1 << 16);
        let first = arena.allocate(1 << 15).unwrap();
        assert!(arena.allocate(1 << 15).is_some());
        assert!(arena.allocate(64).is_none());
        // SAFETY: allocated above with this size.
        unsafe { arena.give_back(first, 1 << 15) };
        assert!(arena.allocate(64).is_none(), "sizes are not split: a thread's tables only double");
        assert!(arena.allocate(1 << 15).is_some());
    }
}
