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
    /// For each set, bits of the blocks that its watches lie in ([`Place::tag`]): a block whose bit is not there is not
    /// watched, and of others 15 in 16 are told from those that are by it.
    tags: [u64; SETS],
}

const _: () = assert!(size_of::<Watches>() == 26 * 1024);

impl Watches {
    /// Begins to watch. Returns the watch that had to make room, if any (chosen by `random`): its interval stays
    /// unknown. An element that is watched already, for whatever trace, is left alone.
    pub fn insert(&mut self, element: u64, start: u64, trace: u32, weight: u32, random: u32) -> Inserted {
        let set = self.set(element);
        if set.iter().any(|w| w.key == element + 1) {
            return Inserted::AlreadyWatched;
        }
        let watch = Watch { key: element + 1, start, trace, weight };
        if let Some(free) = set.iter_mut().find(|w| w.key == 0) {
            *free = watch;
            self.renew_tags(element);
            return Inserted::Watched;
        }
        let victim = &mut set[random as usize % WAYS];
        let given_up = *victim;
        *victim = watch;
        self.renew_tags(element);
        Inserted::Instead { of_trace: given_up.trace, element: given_up.key - 1 }
    }

    /// Ends the watch of `element` for `trace`.
    pub fn take(&mut self, element: u64, trace: u32) -> Option<Watch> {
        if !self.may_watch(element) {
            return None;
        }
        let set = self.set(element);
        let slot = set.iter_mut().find(|w| w.key == element + 1 && w.trace == trace)?;
        let watch = *slot;
        slot.key = 0;
        self.renew_tags(element);
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
            if self.may_watch(block)
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
        self.tags = [0; SETS];
    }

    fn set(&mut self, element: u64) -> &mut [Watch; WAYS] {
        // The chunk exists: SETS chunks of WAYS slots are the whole array.
        let (chunks, _) = self.slots.as_chunks_mut::<WAYS>();
        &mut chunks[place(element).set]
    }

    /// Whether an element of this one's block may be watched; `false` is certain.
    #[inline]
    pub fn may_watch(&self, element: u64) -> bool {
        let place = place(element);
        self.tags[place.set] & place.tag != 0
    }

    /// After a change in the set of `element`.
    fn renew_tags(&mut self, element: u64) {
        let watched = self.set(element).iter().filter(|w| w.key != 0);
        self.tags[place(element).set] = watched.fold(0, |tags, w| tags | place(w.key - 1).tag);
    }
}

/// Where the watches of a block of elements are.
struct Place {
    set: usize,
    /// One bit.
    tag: u64,
}

#[inline]
fn place(element: u64) -> Place {
    let hash = (element >> BLOCK_LOG2).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Place { set: (hash >> 40) as usize % SETS, tag: 1 << (hash >> 58) }
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
    fn a_block_may_be_watched_as_long_as_one_of_its_elements_is() {
        let mut w = empty();
        let mut watched = std::collections::BTreeSet::new();
        for step in 0..30_000_u64 {
            let element = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51;
            if watched.remove(&element) {
                assert!(w.take(element, 9).is_some());
            } else if let Inserted::Instead { element: other, .. } = w.insert(element, 0, 9, 1, step as u32) {
                watched.remove(&other);
                watched.insert(element);
            } else {
                watched.insert(element);
            }
            assert!(watched.iter().all(|e| w.may_watch(*e)) || step % 100 > 0, "after {step}");
        }
        let blocks = 0..(1_u64 << 13 >> BLOCK_LOG2);
        let free =
            blocks.filter(|block| watched.range(block << BLOCK_LOG2..(block + 1) << BLOCK_LOG2).next().is_none());
        let (told, free) =
            free.fold((0, 0), |(told, all), block| (told + u32::from(!w.may_watch(block << BLOCK_LOG2)), all + 1));
        assert!(told * 10 >= free * 8, "{told} of {free}");
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
