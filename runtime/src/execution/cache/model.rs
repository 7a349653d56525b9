//! A set-associative cache with least-recently-used replacement, of lines by number.

use core::ptr::NonNull;

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Capacity.
    pub bytes: u64,
    /// Lines that may hold the same addresses.
    pub ways: u64,
    /// Bytes of a line; a power of two.
    pub line: u64,
}

impl Geometry {
    /// Groups of lines; at least one.
    pub fn sets(&self) -> u64 {
        (self.bytes / self.ways.max(1) / self.line.max(1)).max(1)
    }

    /// Words that a model of it needs.
    pub fn words(&self) -> usize {
        (self.sets() * self.ways.max(1)) as usize
    }
}

/// The state: for each set its lines, the latest used first.
pub struct Model {
    /// Line numbers plus 1; 0 = empty.
    lines: NonNull<u64>,
    sets: u64,
    ways: usize,
}

impl Model {
    /// An empty cache.
    ///
    /// # Safety
    /// `memory` is [`Geometry::words`] zeroed words that live as long as the model, which alone uses them.
    pub unsafe fn new(geometry: Geometry, memory: NonNull<u64>) -> Self {
        Self { lines: memory, sets: geometry.sets(), ways: geometry.ways.max(1) as usize }
    }

    /// Uses a line; whether it was there.
    pub fn touch(&mut self, line: u64) -> bool {
        // `max`: a division by 0 would be a panic in the machine code, whatever `new` promises.
        let first = (line % self.sets.max(1)) as usize * self.ways;
        // SAFETY: the set's words, inside the memory that `new` got.
        let set = unsafe { core::slice::from_raw_parts_mut(self.lines.as_ptr().add(first), self.ways) };
        let wanted = line.wrapping_add(1);
        let mut carried = wanted;
        for way in set {
            core::mem::swap(way, &mut carried);
            if carried == wanted {
                return true;
            }
        }
        false
    }

    /// Empties it.
    pub fn clear(&mut self) {
        // SAFETY: the memory that `new` got.
        unsafe { self.lines.as_ptr().write_bytes(0, self.sets as usize * self.ways) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::vec;
    use std::vec::Vec;

    /// The definition: a list for each set.
    struct Reference {
        sets: Vec<VecDeque<u64>>,
        ways: usize,
    }

    impl Reference {
        fn touch(&mut self, line: u64) -> bool {
            let index = (line % self.sets.len() as u64) as usize;
            let set = &mut self.sets[index];
            let place = set.iter().position(|held| *held == line);
            if let Some(place) = place {
                set.remove(place);
            }
            set.push_front(line);
            set.truncate(self.ways);
            place.is_some()
        }
    }

    #[test]
    fn it_holds_what_lists_of_the_latest_lines_hold() {
        let mut random = fastrand::Rng::with_seed(18);
        for (bytes, ways) in [(32 << 10, 8), (4096, 1), (4096, 64), (3 * 4096, 12), (640, 10), (0, 2)] {
            let geometry = Geometry { bytes, ways, line: 64 };
            let mut memory = vec![0u64; geometry.words()];
            // SAFETY: zeroed words of that number, which nothing else uses.
            let mut model = unsafe { Model::new(geometry, NonNull::new(memory.as_mut_ptr()).unwrap()) };
            let mut reference =
                Reference { sets: vec![VecDeque::new(); geometry.sets() as usize], ways: ways as usize };
            let capacity = geometry.words() as u64;
            let mut misses = 0;
            for i in 0..40_000 {
                // Runs, loops a little longer than the cache, and anything.
                let line = match random.u32(0..3) {
                    0 => i % (capacity + 3),
                    1 => random.u64(0..capacity * 2 + 1),
                    _ => random.u64(..) >> 7,
                };
                let hit = model.touch(line);
                assert_eq!(hit, reference.touch(line), "access {i} to line {line} of {geometry:?}");
                misses += u32::from(!hit);
            }
            assert!(misses > 0 && misses < 40_000);
            model.clear();
            assert!(!model.touch(0));
        }
    }
}
