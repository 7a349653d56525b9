//! The elements whose next usage a thread waits for.

use core::mem::size_of;

/// A sampled event: `element` was used when its trace had counted `start` events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Watch {
    /// Element number plus 1; 0 = empty.
    key: u64,
    /// The trace's clock.
    pub start: u64,
    /// The trace.
    pub trace: u32,
    /// Events that this sample stands for.
    pub weight: u32,
}

/// 256 sets of 4. With one sample in 16 or fewer, 1024 open intervals reach over at least 16 K events.
const SETS: usize = 256;
const WAYS: usize = 4;
/// log2 of the neighbouring elements that fall into one set, so that a run of elements looks at few sets. With one
/// sample in 16 elements or fewer there is one watch in each such block.
const BLOCK_LOG2: u64 = 4;

/// The table; zeroed memory is an empty one.
#[repr(C)]
pub struct Watches {
    slots: [Watch; SETS * WAYS],
    /// A bit for each set that has watches: most have none, and this is half a line of memory.
    used: [u64; SETS / 64],
}

const _: () = assert!(size_of::<Watches>() == 24 * 1024 + 32);

impl Watches {
    /// Begins to watch. Returns the watch that had to make room, if any (chosen by `random`): its interval stays
    /// unknown. An element that is watched already, for whatever trace, is left alone.
    pub fn insert(&mut self, element: u64, start: u64, trace: u32, weight: u32, random: u32) -> Inserted {
        self.use_set(element);
        let set = self.set(element);
        if set.iter().any(|w| w.key == element + 1) {
            return Inserted::AlreadyWatched;
        }
        let watch = Watch { key: element + 1, start, trace, weight };
        if let Some(free) = set.iter_mut().find(|w| w.key == 0) {
            *free = watch;
            return Inserted::Watched;
        }
        let victim = &mut set[random as usize % WAYS];
        let given_up = *victim;
        *victim = watch;
        Inserted::Instead { of_trace: given_up.trace, element: given_up.key - 1 }
    }

    /// Ends the watch of `element` for `trace`.
    pub fn take(&mut self, element: u64, trace: u32) -> Option<Watch> {
        if !self.is_used(element) {
            return None;
        }
        let set = self.set(element);
        let slot = set.iter_mut().find(|w| w.key == element + 1 && w.trace == trace)?;
        let watch = *slot;
        slot.key = 0;
        if set.iter().all(|w| w.key == 0) {
            let number = number_of_set(element);
            self.used[number / 64] &= !(1 << (number % 64));
        }
        Some(watch)
    }

    /// How many elements from `first` on, `most` at most, are not watched for `trace`, or for any one.
    pub fn unwatched(&mut self, first: u64, most: u64, trace: Option<u32>) -> u64 {
        let end = first + most;
        let mut block = first;
        while block < end {
            let next = ((block >> BLOCK_LOG2) + 1) << BLOCK_LOG2;
            let watched =
                |w: &&Watch| w.key > block && w.key <= end.min(next) && trace.is_none_or(|trace| w.trace == trace);
            if self.is_used(block)
                && let Some(nearest) = self.set(block).iter().filter(watched).map(|w| w.key).min()
            {
                return nearest - 1 - first;
            }
            block = next;
        }
        most
    }

    /// Ends all watches; names their elements.
    pub fn clear(&mut self, mut ended: impl FnMut(u64)) {
        for w in self.slots.iter_mut().filter(|w| w.key != 0) {
            ended(w.key - 1);
            w.key = 0;
        }
        self.used = [0; SETS / 64];
    }

    fn set(&mut self, element: u64) -> &mut [Watch; WAYS] {
        // The chunk exists: SETS chunks of WAYS slots are the whole array.
        let (chunks, _) = self.slots.as_chunks_mut::<WAYS>();
        &mut chunks[number_of_set(element)]
    }

    #[inline]
    fn is_used(&self, element: u64) -> bool {
        let number = number_of_set(element);
        self.used[number / 64] >> (number % 64) & 1 == 1
    }

    fn use_set(&mut self, element: u64) {
        let number = number_of_set(element);
        self.used[number / 64] |= 1 << (number % 64);
    }
}

#[inline]
fn number_of_set(element: u64) -> usize {
    ((element >> BLOCK_LOG2).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % SETS
}

/// What [`Watches::insert`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// Watched from now on.
    Watched,
    /// Watched from now on, in the place of another.
    Instead {
        /// The trace of the watch that was given up.
        of_trace: u32,
        /// Its element.
        element: u64,
    },
    /// Nothing changed.
    AlreadyWatched,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;

    fn empty() -> Box<Watches> {
        // SAFETY: zeroed memory is an empty table.
        unsafe { Box::new_zeroed().assume_init() }
    }

    #[test]
    fn a_watch_ends_once_and_only_for_its_trace() {
        let mut w = empty();
        assert_eq!(w.insert(7, 100, 3, 16, 0), Inserted::Watched);
        assert_eq!(w.insert(7, 101, 4, 16, 0), Inserted::AlreadyWatched);
        assert_eq!(w.take(7, 4), None);
        assert_eq!(w.take(7, 3).map(|w| (w.start, w.weight)), Some((100, 16)));
        assert_eq!(w.take(7, 3), None);
    }

    #[test]
    fn a_run_ends_before_the_first_element_that_is_watched_for_its_trace() {
        let mut w = empty();
        for element in [5, 40, 41, 100] {
            assert_eq!(w.insert(element, 0, 3, 1, 0), Inserted::Watched);
        }
        assert_eq!(w.insert(20, 0, 4, 1, 0), Inserted::Watched);
        for first in 0..120 {
            for most in 0..60 {
                let expected = (first..first + most).take_while(|e| ![5, 40, 41, 100].contains(e)).count() as u64;
                assert_eq!(w.unwatched(first, most, Some(3)), expected, "{most} from {first}");
                let expected = expected.min((first..first + most).take_while(|e| *e != 20).count() as u64);
                assert_eq!(w.unwatched(first, most, None), expected, "{most} from {first}");
            }
        }
    }

    #[test]
    fn a_full_set_gives_up_a_watch_and_says_whose() {
        let mut w = empty();
        let mut given_up = 0;
        for element in 0..20_000 {
            if let Inserted::Instead { of_trace, element: other } = w.insert(element, 0, 9, 1, element as u32) {
                assert_eq!(of_trace, 9);
                assert!(other < element, "an earlier one made room");
                given_up += 1;
            }
        }
        let alive = (0..20_000).filter(|e| w.take(*e, 9).is_some()).count();
        assert_eq!(alive + given_up, 20_000);
        assert!(alive > 900, "{alive} of 1024 places used");
    }
}
