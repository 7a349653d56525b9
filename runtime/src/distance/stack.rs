//! Exact distances of one trace.
//!
//! Each element has a mark at the position of its latest usage. The number of marks behind the
//! previous position of an element is the number of distinct elements used since (Olken's method); the marks
//! are bits, counted by a Fenwick tree over words of 64. When the positions run out, the marks are moved together.

use crate::memory::arena::Arena;
use core::mem::size_of;
use core::ptr::{self, NonNull};

#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    /// Element number plus 1; 0 = empty.
    key: u64,
    /// Which usage of the trace was the element's latest.
    index: u64,
    /// Where its mark is.
    position: u64,
}

/// Smallest table: 16 entries; smallest bitmap: 256 positions.
const LEAST_ENTRIES: usize = 16;
const LEAST_WORDS: usize = 4;

/// What a usage means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The element's first usage in this trace.
    First,
    /// A later one.
    Again {
        /// Distinct other elements used since.
        distinct: u64,
        /// Usages since, this one included (Algorithm 2).
        index: u64,
    },
    /// No memory: nothing was recorded.
    Full,
}

/// The state of a trace that is measured exactly. Memory comes from the thread's arena.
pub struct ExactStack {
    entries: *mut Entry,
    capacity: usize,
    elements: usize,
    marks: *mut u64,
    tree: *mut u32,
    words: usize,
    next_position: usize,
    usages: u64,
}

impl ExactStack {
    /// A stack without memory.
    pub const fn new() -> Self {
        Self {
            entries: ptr::null_mut(),
            capacity: 0,
            elements: 0,
            marks: ptr::null_mut(),
            tree: ptr::null_mut(),
            words: 0,
            next_position: 0,
            usages: 0,
        }
    }

    /// Distinct elements so far.
    pub fn elements(&self) -> u64 {
        self.elements as u64
    }

    /// Records a usage of `element`.
    pub fn usage(&mut self, element: u64, arena: &mut Arena) -> Usage {
        if self.elements * 2 >= self.capacity && !self.grow_entries(arena) {
            return Usage::Full;
        }
        if self.next_position >= self.words * 64 && !self.make_positions(arena) {
            return Usage::Full;
        }
        let (position, now) = (self.next_position, self.usages);
        let entry = self.find(element + 1);
        // SAFETY: `find` returns a slot of the table, which has a free one: at most half are in use.
        let known = unsafe { *entry };
        let result = if known.key == 0 {
            self.elements += 1;
            Usage::First
        } else {
            let old = known.position as usize;
            // All elements have one mark; those at or before the old position are not newer.
            let distinct = self.elements as u64 - self.marks_through(old);
            self.set_mark(old, false);
            Usage::Again { distinct, index: now - known.index }
        };
        // SAFETY: as above.
        unsafe { *entry = Entry { key: element + 1, index: now, position: position as u64 } };
        self.set_mark(position, true);
        self.next_position += 1;
        self.usages += 1;
        result
    }

    /// Returns the memory.
    pub fn dissolve(&mut self, arena: &mut Arena) {
        // SAFETY: the three blocks came from this arena with these sizes and are forgotten here.
        unsafe {
            give_back(arena, self.entries, self.capacity);
            give_back(arena, self.marks, self.words);
            give_back(arena, self.tree, self.words + 1);
        }
        *self = Self::new();
    }

    fn find(&self, key: u64) -> *mut Entry {
        let mask = self.capacity - 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        loop {
            // SAFETY: at <= mask < capacity.
            let entry = unsafe { self.entries.add(at) };
            // SAFETY: as above.
            let found = unsafe { (*entry).key };
            if found == key || found == 0 {
                return entry;
            }
            at = (at + 1) & mask;
        }
    }

    /// Marks at positions 0..=position.
    fn marks_through(&self, position: usize) -> u64 {
        let word = position / 64;
        // SAFETY: position < words * 64.
        let bits = unsafe { *self.marks.add(word) };
        let mut sum = u64::from((bits << (63 - position % 64)).count_ones());
        let mut node = word; // Fenwick: nodes 1..=words; node n covers words below n
        while node > 0 {
            // SAFETY: node <= words, the tree has words + 1 nodes.
            sum += u64::from(unsafe { *self.tree.add(node) });
            node &= node - 1;
        }
        sum
    }

    fn set_mark(&mut self, position: usize, on: bool) {
        let word = position / 64;
        // SAFETY: position < words * 64.
        let bits = unsafe { &mut *self.marks.add(word) };
        let change = if on { 1u32 } else { 1u32.wrapping_neg() };
        *bits ^= 1 << (position % 64);
        let mut node = word + 1;
        while node <= self.words {
            // SAFETY: node <= words, the tree has words + 1 nodes.
            let sum = unsafe { &mut *self.tree.add(node) };
            *sum = sum.wrapping_add(change);
            node += node & node.wrapping_neg();
        }
    }

    fn grow_entries(&mut self, arena: &mut Arena) -> bool {
        let (old, old_capacity) = (self.entries, self.capacity);
        let capacity = (old_capacity * 2).max(LEAST_ENTRIES);
        let Some(fresh) = take::<Entry>(arena, capacity) else { return false };
        (self.entries, self.capacity) = (fresh, capacity);
        for i in 0..old_capacity {
            // SAFETY: i < old capacity.
            let entry = unsafe { *old.add(i) };
            if entry.key != 0 {
                let place = self.find(entry.key);
                // SAFETY: a free slot of the new table.
                unsafe { *place = entry };
            }
        }
        // SAFETY: the old table is not used any more.
        unsafe { give_back(arena, old, old_capacity) };
        true
    }

    /// Moves the marks together, and doubles the positions if more than half of them are marked.
    fn make_positions(&mut self, arena: &mut Arena) -> bool {
        let words = if self.elements * 2 > self.words * 64 || self.words == 0 {
            (self.words * 2).max(LEAST_WORDS)
        } else {
            self.words
        };
        let (Some(marks), Some(tree)) = (take::<u64>(arena, words), take::<u32>(arena, words + 1)) else {
            return false;
        };
        for i in 0..self.capacity {
            // SAFETY: i < capacity.
            let entry = unsafe { &mut *self.entries.add(i) };
            if entry.key != 0 {
                entry.position = self.marks_through(entry.position as usize) - 1;
            }
        }
        let (old_marks, old_tree, old_words) = (self.marks, self.tree, self.words);
        (self.marks, self.tree, self.words) = (marks, tree, words);
        for position in 0..self.elements {
            self.set_mark(position, true);
        }
        self.next_position = self.elements;
        // SAFETY: the old blocks are not used any more.
        unsafe {
            give_back(arena, old_marks, old_words);
            give_back(arena, old_tree, if old_words == 0 { 0 } else { old_words + 1 });
        }
        true
    }
}

fn take<T>(arena: &mut Arena, count: usize) -> Option<*mut T> {
    arena.allocate(count * size_of::<T>()).map(|block| block.as_ptr().cast())
}

/// # Safety
/// `block` is null, or came from `take(arena, count)` and is not used any more.
unsafe fn give_back<T>(arena: &mut Arena, block: *mut T, count: usize) {
    if let Some(block) = NonNull::new(block.cast::<u8>()) {
        // SAFETY: the caller's promise.
        unsafe { arena.give_back(block, count * size_of::<T>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// The definition, slowly: distinct other elements between two usages, and the difference of indices.
    fn by_definition(trace: &[u64], i: usize) -> Usage {
        match trace[..i].iter().rposition(|e| *e == trace[i]) {
            None => Usage::First,
            Some(p) => {
                let mut between: Vec<u64> = trace[p + 1..i].to_vec();
                between.sort_unstable();
                between.dedup();
                Usage::Again { distinct: between.len() as u64, index: (i - p) as u64 }
            }
        }
    }

    #[test]
    fn agrees_with_the_definition_on_random_traces() {
        let mut seed = 12345u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for elements in [1, 3, 40, 700] {
            let mut arena = Arena::with_budget(16 << 20);
            let mut stack = ExactStack::new();
            let trace: Vec<u64> = (0..3000).map(|_| random(elements)).collect();
            for i in 0..trace.len() {
                assert_eq!(stack.usage(trace[i], &mut arena), by_definition(&trace, i), "usage {i} of {elements}");
            }
            assert!(stack.elements() <= elements);
            stack.dissolve(&mut arena);
        }
    }

    #[test]
    fn the_worked_traces_of_the_definition() {
        let mut arena = Arena::with_budget(1 << 20);
        let mut stack = ExactStack::new();
        // a b b b b a: one distinct element in between, four positions apart (section 3.3 against Algorithm 2).
        let got: Vec<Usage> = [0, 1, 1, 1, 0].iter().map(|e| stack.usage(*e, &mut arena)).collect();
        assert_eq!(got[4], Usage::Again { distinct: 1, index: 4 });
        assert_eq!(got[2], Usage::Again { distinct: 0, index: 1 });
    }

    #[test]
    fn without_memory_it_says_so() {
        let mut arena = Arena::with_budget(4096);
        let mut stack = ExactStack::new();
        let full = (0..100_000).find(|e| stack.usage(*e, &mut arena) == Usage::Full);
        assert!(full.is_some_and(|e| e > 16));
    }
}
