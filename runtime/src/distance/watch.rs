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
    /// What the trace's samples stood for, this one included, when it began.
    pub begun: u64,
    /// The next newer and the next older watch of the trace.
    newer: Link,
    older: Link,
}

/// No watch.
const EMPTY: Watch = Watch { key: 0, start: 0, trace: 0, weight: 0, begun: 0, newer: 0, older: 0 };

/// Who waits for an element that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// No trace of the thread.
    Nobody,
    /// The trace that it is used in.
    Same,
    /// Another one of its traces.
    Other(u32),
}

/// Place of a watch in the table plus 1; 0 = none.
pub type Link = u16;

/// A sample that begins.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Number of the element.
    pub element: u64,
    /// The trace's clock.
    pub start: u64,
    /// The trace.
    pub trace: u32,
    /// Events that it stands for.
    pub weight: u32,
    /// [`Watch::begun`].
    pub begun: u64,
}

/// 256 sets of 4. With one sample in 16 or fewer, 1024 open intervals reach over at least 16 K events.
const SETS: usize = 256;
const WAYS: usize = 4;
/// What a thread of many has at least. A marked element sends all threads' reads to the slow path, so what two threads
/// may watch is shared by all; below this, too few long intervals would be found.
const LEAST_SETS: usize = 32;
/// log2 of the neighbouring elements that fall into one set, so that a run of elements looks at few sets. With one
/// sample in 16 elements or fewer there is one watch in each such block.
const BLOCK_LOG2: u64 = 4;
/// So many of them: one look tells whether any is watched.
pub const BLOCK: u64 = 1 << BLOCK_LOG2;

/// The table; zeroed memory is an empty one.
#[repr(C)]
pub struct Watches {
    slots: [Watch; SETS * WAYS],
    /// For each set, bits of the blocks that its watches lie in ([`Place::tag`]): a block whose bit is not there is not
    /// watched, and of others 15 in 16 are told from those that are by it.
    tags: [u64; SETS],
    /// Sets that are used, a power of two, minus 1; 0 in an empty table for which that is not decided.
    mask: usize,
}

const _: () = assert!(size_of::<Watches>() == 42 * 1024 + 8);

/// Sets of a thread that is one of so many.
fn sets(threads: u32) -> usize {
    // The thread that waits for the others is one, too: rounded up.
    (2 * SETS / threads.max(2) as usize).next_power_of_two().max(LEAST_SETS)
}

impl Watches {
    /// Decides how large the table is, by the number of threads that are alive, if that is not decided: a watch cannot
    /// move.
    pub fn share_with(&mut self, threads: u32) {
        if self.mask == 0 {
            self.mask = sets(threads) - 1;
        }
    }

    /// Begins to watch; `newest` is the trace's latest watch. Without room another watch is given up, which `random`
    /// chooses: its interval stays unknown. It is one of [`WAYS`], and the others, which had the same chance, stand for
    /// its events from now on (Horvitz and Thompson, Journal of the American Statistical Association 47, 1952): without
    /// that, long intervals would be missing. An element that is watched already, for whatever trace, is left alone.
    pub fn insert(&mut self, sample: Sample, random: u32, newest: &mut Link) -> Inserted {
        let Sample { element, start, trace, weight, begun } = sample;
        let first = self.place(element).set * WAYS;
        let set = self.set(element);
        if set.iter().any(|w| w.key == element + 1) {
            return Inserted::AlreadyWatched;
        }
        let watch = Watch { key: element + 1, start, trace, weight, begun, newer: 0, older: 0 };
        if let Some(way) = set.iter().position(|w| w.key == 0) {
            self.put(first + way, watch, newest);
            self.renew_tags(element);
            return Inserted::Watched;
        }
        let way = random as usize % WAYS;
        for other in set.iter_mut().enumerate().filter(|(at, _)| *at != way).map(|(_, w)| w) {
            // A third more, rounded at random.
            let third = other.weight / (WAYS as u32 - 1);
            let rest = u32::from(other.weight % (WAYS as u32 - 1) > (random >> 2) % (WAYS as u32 - 1));
            other.weight = other.weight.saturating_add(third + rest);
        }
        let given_up = set[way];
        let is_newest = given_up.newer == 0;
        self.unlink(&given_up);
        if is_newest && given_up.trace == trace {
            *newest = given_up.older;
        }
        self.put(first + way, watch, newest);
        self.renew_tags(element);
        let now_newest = (is_newest && given_up.trace != trace).then_some(given_up.older);
        Inserted::Instead { of_trace: given_up.trace, element: given_up.key - 1, now_newest }
    }

    /// Ends the watch of `element` for `trace`, whose latest watch is `newest`.
    pub fn take(&mut self, element: u64, trace: u32, newest: &mut Link) -> Option<Watch> {
        if !self.may_watch(element) {
            return None;
        }
        let set = self.set(element);
        let slot = set.iter_mut().find(|w| w.key == element + 1 && w.trace == trace)?;
        let watch = *slot;
        slot.key = 0;
        self.renew_tags(element);
        self.unlink(&watch);
        if watch.newer == 0 {
            *newest = watch.older;
        }
        Some(watch)
    }

    /// Events that the watches of a trace stand for which began when its samples stood for more than `begun`.
    pub fn open_since(&self, begun: u64, newest: Link) -> u64 {
        let at = |link: Link| self.slots.get(usize::from(link).wrapping_sub(1));
        let later = core::iter::successors(at(newest), |w| at(w.older)).take_while(|w| w.begun > begun);
        later.fold(0, |sum, w| sum + u64::from(w.weight))
    }

    /// Writes the latest watch of a trace.
    fn put(&mut self, place: usize, watch: Watch, newest: &mut Link) {
        let link = place as Link + 1;
        if let Some(before) = self.at(*newest) {
            before.newer = link;
        }
        if let Some(slot) = self.at(link) {
            *slot = Watch { older: *newest, ..watch };
        }
        *newest = link;
    }

    fn unlink(&mut self, watch: &Watch) {
        if let Some(newer) = self.at(watch.newer) {
            newer.older = watch.older;
        }
        if let Some(older) = self.at(watch.older) {
            older.newer = watch.newer;
        }
    }

    fn at(&mut self, link: Link) -> Option<&mut Watch> {
        self.slots.get_mut(usize::from(link).wrapping_sub(1))
    }

    /// How many elements from `first` on, `most` at most, are not watched.
    pub fn unwatched(&mut self, first: u64, most: u64) -> u64 {
        let end = first + most;
        let mut block = first;
        while block < end {
            let next = ((block >> BLOCK_LOG2) + 1) << BLOCK_LOG2;
            let watched = |w: &&Watch| w.key > block && w.key <= end.min(next);
            if self.may_watch(block)
                && let Some(nearest) = self.set(block).iter().filter(watched).map(|w| w.key).min()
            {
                return nearest - 1 - first;
            }
            block = next;
        }
        most
    }

    /// Who waits for one of `n` neighbouring elements from `first` on, all in one block.
    #[inline(always)]
    pub fn who_waits(&self, first: u64, n: u64, trace: u32) -> Waiting {
        let place = self.place(first);
        let tags = self.tags.get(place.set).copied().unwrap_or(0);
        if tags & place.tag == 0 {
            return Waiting::Nobody;
        }
        let (sets, _) = self.slots.as_chunks::<WAYS>();
        let mut waiting = Waiting::Nobody;
        for watch in sets.get(place.set).unwrap_or(&[EMPTY; WAYS]) {
            if watch.key > first && watch.key <= first + n {
                if watch.trace == trace {
                    return Waiting::Same;
                }
                waiting = Waiting::Other(watch.trace);
            }
        }
        waiting
    }

    /// Ends all watches; names their elements.
    pub fn clear(&mut self, mut ended: impl FnMut(u64)) {
        for w in self.slots.iter_mut().filter(|w| w.key != 0) {
            ended(w.key - 1);
            w.key = 0;
        }
        (self.tags, self.mask) = ([0; SETS], 0);
    }

    fn set(&mut self, element: u64) -> &mut [Watch; WAYS] {
        let set = self.place(element).set;
        // The chunk exists: SETS chunks of WAYS slots are the whole array.
        let (chunks, _) = self.slots.as_chunks_mut::<WAYS>();
        &mut chunks[set]
    }

    /// Whether an element of this one's block may be watched; `false` is certain.
    #[inline]
    pub fn may_watch(&self, element: u64) -> bool {
        let place = self.place(element);
        self.tags[place.set] & place.tag != 0
    }

    /// After a change in the set of `element`.
    fn renew_tags(&mut self, element: u64) {
        let watched = self.set(element).iter().filter(|w| w.key != 0);
        let tags = watched.fold(0, |tags, w| tags | tag(hash(w.key - 1)));
        self.tags[self.place(element).set] = tags;
    }

    #[inline]
    fn place(&self, element: u64) -> Place {
        let hash = hash(element);
        Place { set: (hash >> 40) as usize & (self.mask % SETS), tag: tag(hash) }
    }
}

/// Where the watches of a block of elements are.
struct Place {
    set: usize,
    /// One bit.
    tag: u64,
}

#[inline]
fn hash(element: u64) -> u64 {
    (element >> BLOCK_LOG2).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn tag(hash: u64) -> u64 {
    1 << (hash >> 58)
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
        /// The latest watch of that trace from now on, where that has changed and it is another trace.
        now_newest: Option<Link>,
    },
    /// Nothing changed.
    AlreadyWatched,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    /// A table and what its traces know: the latest watch, and the events that samples stood for.
    struct Table {
        watches: Box<Watches>,
        newest: [Link; 10],
        begun: [u64; 10],
        random: u64,
    }

    impl Table {
        fn new() -> Self {
            // SAFETY: zeroed memory is an empty table.
            let mut watches: Box<Watches> = unsafe { Box::new_zeroed().assume_init() };
            watches.share_with(1);
            Self { watches, newest: [0; 10], begun: [0; 10], random: 0x2018_0813_1cbb_2018 }
        }

        fn below(&mut self, bound: u64) -> u64 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            (self.random >> 11) % bound
        }

        fn insert(&mut self, element: u64, start: u64, trace: u32, weight: u32) -> Inserted {
            let at = trace as usize;
            let begun = self.begun[at] + u64::from(weight);
            let random = self.below(1 << 32) as u32;
            let sample = Sample { element, start, trace, weight, begun };
            let inserted = self.watches.insert(sample, random, &mut self.newest[at]);
            if let Inserted::Instead { of_trace, now_newest: Some(newest), .. } = inserted {
                self.newest[of_trace as usize] = newest;
            }
            if inserted != Inserted::AlreadyWatched {
                self.begun[at] = begun;
            }
            inserted
        }

        fn take(&mut self, element: u64, trace: u32) -> Option<Watch> {
            self.watches.take(element, trace, &mut self.newest[trace as usize])
        }

        fn all(&self) -> impl Iterator<Item = &Watch> {
            self.watches.slots.iter().filter(|w| w.key != 0)
        }
    }

    #[test]
    fn a_watch_ends_once_and_only_for_its_trace() {
        let mut w = Table::new();
        assert_eq!(w.insert(7, 100, 3, 16), Inserted::Watched);
        assert_eq!(w.insert(7, 101, 4, 16), Inserted::AlreadyWatched);
        assert_eq!(w.take(7, 4), None);
        assert_eq!(w.take(7, 3).map(|w| (w.start, w.weight)), Some((100, 16)));
        assert_eq!(w.take(7, 3), None);
    }

    #[test]
    fn who_waits_for_one_of_some_neighbours_is_named() {
        let mut w = Table::new();
        assert_eq!(w.insert(33, 0, 3, 1), Inserted::Watched);
        assert_eq!(w.insert(36, 0, 4, 1), Inserted::Watched);
        let waiting = |first, n| w.watches.who_waits(first, n, 4);
        let (nobody, other) = (Waiting::Nobody, Waiting::Other(3));
        assert_eq!([32, 33, 34, 36].map(|first| waiting(first, 2)), [other, other, nobody, Waiting::Same]);
        assert_eq!((waiting(32, 1), waiting(32, 16)), (nobody, Waiting::Same));
    }

    #[test]
    fn a_run_ends_before_the_first_element_that_is_watched() {
        let mut w = Table::new();
        for element in [5, 40, 41, 100] {
            assert_eq!(w.insert(element, 0, 3, 1), Inserted::Watched);
        }
        assert_eq!(w.insert(20, 0, 4, 1), Inserted::Watched);
        for first in 0..120 {
            for most in 0..60 {
                let is_watched = |element: &u64| [5, 20, 40, 41, 100].contains(element);
                let expected = (first..first + most).take_while(|element| !is_watched(element)).count() as u64;
                assert_eq!(w.watches.unwatched(first, most), expected, "{most} from {first}");
            }
        }
    }

    #[test]
    fn a_block_may_be_watched_as_long_as_one_of_its_elements_is() {
        let mut w = Table::new();
        let mut watched = std::collections::BTreeSet::new();
        for step in 0..30_000_u64 {
            let element = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51;
            if watched.remove(&element) {
                assert!(w.take(element, 9).is_some());
            } else if let Inserted::Instead { element: other, .. } = w.insert(element, 0, 9, 1) {
                watched.remove(&other);
                watched.insert(element);
            } else {
                watched.insert(element);
            }
            assert!(watched.iter().all(|e| w.watches.may_watch(*e)) || step % 100 > 0, "after {step}");
        }
        let blocks = 0..(1_u64 << 13 >> BLOCK_LOG2);
        let free =
            blocks.filter(|block| watched.range(block << BLOCK_LOG2..(block + 1) << BLOCK_LOG2).next().is_none());
        let (told, free) = free
            .fold((0, 0), |(told, all), block| (told + u32::from(!w.watches.may_watch(block << BLOCK_LOG2)), all + 1));
        assert!(told * 10 >= free * 8, "{told} of {free}");
    }

    #[test]
    fn a_full_set_gives_up_a_watch_and_says_whose() {
        let mut w = Table::new();
        let mut given_up = 0;
        for element in 0..20_000 {
            if let Inserted::Instead { of_trace, element: other, .. } = w.insert(element, 0, 9, 1) {
                assert_eq!(of_trace, 9);
                assert!(other < element, "an earlier one made room");
                given_up += 1;
            }
        }
        let alive = (0..20_000).filter(|e| w.take(*e, 9).is_some()).count();
        assert_eq!(alive + given_up, 20_000);
        assert!(alive > 900, "{alive} of 1024 places used");
    }

    #[test]
    fn what_two_threads_may_watch_is_shared_by_more() {
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 16, 17, 4096].map(sets), [256, 256, 256, 256, 128, 128, 64, 32, 32, 32]);
        for (threads, places) in [(2, 1024), (4, 512), (16, 128)] {
            let mut w = Table::new();
            w.watches.clear(|_| ());
            w.watches.share_with(threads);
            w.watches.share_with(1);
            let mut watched = std::collections::BTreeSet::new();
            for element in 0..20_000 {
                if let Inserted::Instead { element: other, .. } = w.insert(element * 16, 0, 9, 1) {
                    assert!(watched.remove(&(other / 16)));
                }
                watched.insert(element);
            }
            assert_eq!(watched.len(), places);
            assert!((0..20_000).all(|e| w.watches.unwatched(e * 16, 1) == u64::from(!watched.contains(&e))));
        }
    }

    #[test]
    fn what_is_left_stands_for_what_was_given_up() {
        // A mean of 128 differs more than one of 1024.
        for (threads, deviation) in [(1, 0.1), (16, 0.28)] {
            let mut w = Table::new();
            w.watches.clear(|_| ());
            w.watches.share_with(threads);
            what_is_left(w, deviation);
        }
    }

    fn what_is_left(mut w: Table, deviation: f64) {
        let (mut weight, mut given_up) = (16, 0);
        for element in 0..4096 {
            // As traces do: the more are given up, the fewer events are sampled.
            if let Inserted::Instead { .. } = w.insert(element * 16, 0, element as u32 % 2, weight) {
                given_up += 1;
                weight = 16 << (given_up / 256);
            }
        }
        assert!(given_up > 2000, "{given_up} given up");
        for trace in 0..2 {
            let left: u64 = w.all().filter(|w| w.trace == trace).map(|w| u64::from(w.weight)).sum();
            let share = left as f64 / w.begun[trace as usize] as f64;
            assert!((share - 1.0).abs() < deviation, "{share} of trace {trace}");
        }
    }

    #[test]
    fn the_open_watches_of_a_trace_are_those_that_a_look_at_all_finds() {
        let mut w = Table::new();
        for step in 0..100_000 {
            let (element, trace) = (w.below(6000), w.below(10) as u32);
            if w.below(3) == 0 {
                w.take(element, trace);
            } else {
                let weight = w.below(40) as u32 + 1;
                w.insert(element, step, trace, weight);
            }
            if step % 97 == 0 {
                let since = w.below(w.begun[trace as usize] + 1);
                let later = w.all().filter(|watch| watch.trace == trace && watch.begun > since);
                let expected: u64 = later.map(|watch| u64::from(watch.weight)).sum();
                assert_eq!(w.watches.open_since(since, w.newest[trace as usize]), expected, "step {step}");
            }
        }
        let everybody: Vec<(u64, u32)> = w.all().map(|watch| (watch.key - 1, watch.trace)).collect();
        everybody.into_iter().for_each(|(element, trace)| assert!(w.take(element, trace).is_some()));
        assert_eq!(w.newest, [0; 10]);
    }
}
