//! Names that tell by themselves who has read a value.
//!
//! What many threads only read goes through a state for each set of readers: with 16 of them 65 536 for each value, in
//! no order that repeats. To find such a state in tables takes some ten misses of the caches, and few states are met
//! twice. So the name of a state with several readers is composed, where they fit: the number of the *value* (who wrote
//! it, where) and a bit for each reader. Another reader sets its bit. The tables serve sets that are small or far
//! spread, and values for which there is no number left.
//!
//! ```text
//! 31 30 29         18 17         0
//!  1  k    number      readers       number >= 16: smaller ones are names of the tables
//! ```
//!
//! Many threads that write at some hundred lines each are more values than there are numbers. What such a value's
//! further readers know of it is the thread that wrote it, and no longer the line: without that, each value would have
//! a state in the tables for each set of readers.
//!
//! The first thread has a bit of its own: it makes and looks at what teams of later threads share. The readers' bits
//! are mixed with each other and with the number, as the inlined code tells states apart by their low bits first.

use crate::fresh::FreshId;
use crate::primitive::{AtomicU64, Ordering};
use threadtalk_abi::cell::{INDEX_MASK, SHARED};

/// Bits of a band: thread 0, and 17 threads from an odd number on, so that any 16 that follow each other fit.
const WIDTH: u32 = 18;
const READERS: u32 = (1 << WIDTH) - 1;
/// Sets of fewer readers are in the tables, unless these are used up. There are 696 of three and less among 16 threads:
/// all threads' caches know those, and programs with four threads need no others.
pub(crate) const LEAST: u32 = if cfg!(loom) { 2 } else { 4 };
/// Numbers of values.
pub const VALUES: u32 = if cfg!(loom) { FIRST_VALUE + 6 } else { 1 << 12 };
/// Those from here on are of [open](crate::open) values.
pub(crate) const FIRST_OPEN: u32 = if cfg!(loom) { FIRST_VALUE + 3 } else { 3 << 10 };
const FIRST_VALUE: u32 = 16;
/// Those from here on, and from here on of open values, are of all that a thread has written at lines for which there
/// was no number.
const FIRST_LINELESS: u32 = if cfg!(loom) { FIRST_VALUE + 2 } else { 5 << 9 };
const FIRST_OPEN_LINELESS: u32 = if cfg!(loom) { FIRST_OPEN + 2 } else { 15 << 8 };
/// Names of the tables are below this.
pub const FIRST: u32 = FIRST_VALUE << WIDTH;
/// Slots that a value may be in.
const WALK: u32 = 16;

const _: () = assert!(VALUES << WIDTH == INDEX_MASK + 1 || cfg!(loom));

/// Threads whose numbers are close to each other, and the first thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Band {
    /// Odd.
    base: u32,
    /// Bit 0: thread 0. Bit i: thread `base + i - 1`.
    bits: u32,
}

impl Band {
    /// No threads, in the band of those from `thread` on.
    #[inline]
    fn begin(thread: u32) -> Self {
        Self { base: ((thread.max(1) - 1) & !1) + 1, bits: 0 }
    }

    /// One thread.
    #[inline]
    pub fn one(thread: u32) -> Self {
        let band = Self::begin(thread);
        Self { bits: if thread == 0 { 1 } else { 2 << (thread - band.base) }, ..band }
    }

    /// The threads, which ascend, and one more, if they are close enough.
    pub(crate) fn with(threads: impl Iterator<Item = u32> + Clone, thread: u32) -> Option<Self> {
        let first = threads.clone().find(|other| *other > 0).unwrap_or(thread);
        let first = if thread == 0 { first } else { first.min(thread) };
        threads.chain([thread]).try_fold(Self::begin(first), Self::and)
    }

    #[inline]
    fn bit(self, thread: u32) -> Option<u32> {
        let bit = if thread == 0 { 0 } else { thread.wrapping_sub(self.base).wrapping_add(1) };
        // 0 of another thread: the one before the band.
        (bit < WIDTH && (bit > 0 || thread == 0)).then_some(bit)
    }

    /// The bit of a thread, if it has one.
    pub(crate) fn bit_of(self, thread: u32) -> Option<u32> {
        self.bit(thread).map(|bit| 1 << bit)
    }

    #[inline]
    fn and(self, thread: u32) -> Option<Self> {
        Some(Self { bits: self.bits | 1 << self.bit(thread)?, ..self })
    }

    /// Whether the thread is one of them.
    #[inline]
    pub fn contains(self, thread: u32) -> bool {
        self.bit(thread).is_some_and(|bit| self.bits >> bit & 1 == 1)
    }

    /// The threads, ascending.
    pub fn members(self) -> impl Iterator<Item = u32> + Clone {
        let Self { base, bits } = self;
        let thread = move |bit| if bit == 0 { 0 } else { base + bit - 1 };
        (0..WIDTH).filter(move |bit| bits >> bit & 1 == 1).map(thread)
    }

    /// A bit for each of 64 threads from `64 * at` on.
    pub(crate) fn word(self, at: u32) -> u64 {
        self.members().filter(|thread| thread / 64 == at).fold(0, |word, thread| word | 1 << (thread % 64))
    }

    /// How many.
    pub(crate) fn size(self) -> u32 {
        self.bits.count_ones()
    }
}

/// A value that a reader knows from a composed name.
#[derive(Clone, Copy)]
pub(crate) struct Composed {
    pub writer: FreshId,
    pub readers: Band,
    name: u32,
}

impl Composed {
    /// The name with one more reader, if the band has room for it.
    #[inline]
    pub fn with(self, thread: u32) -> Option<u32> {
        Some(name(number(self.name), self.readers.and(thread)?.bits))
    }
}

/// Who wrote what, by number. A slot is `writer << 32 | base of the readers' band` and changes once, from 0.
pub(crate) struct Values {
    slots: *const AtomicU64,
}

// SAFETY: the slots are atomics that live as long as the values (contract of `new`).
unsafe impl Send for Values {}
// SAFETY: as above.
unsafe impl Sync for Values {}

impl Values {
    /// # Safety
    /// `slots` points to [`VALUES`] words, zero at first, that live as long as the values and that nobody else writes.
    pub unsafe fn new(slots: *const AtomicU64) -> Self {
        Self { slots }
    }

    #[inline]
    fn slot(&self, number: u32) -> &AtomicU64 {
        // SAFETY: numbers are below `VALUES`, or come from names, of which the slots of a model have enough.
        unsafe { &*self.slots.add(number as usize) }
    }

    /// What a name says. `None`: it is not a composed one.
    #[inline]
    pub fn decode(&self, name: u32) -> Option<Composed> {
        if name & (SHARED | INDEX_MASK) < SHARED | FIRST || number(name) >= VALUES {
            return None;
        }
        // Relaxed: who has the name has it from one that saw the slot full, over an exchange of the cell or by itself.
        let value = self.slot(number(name)).load(Ordering::Relaxed);
        let readers = Band { base: value as u32, bits: readers(name) };
        (value != 0).then_some(Composed { writer: FreshId((value >> 32) as u32), readers, name })
    }

    /// The name for a value and its readers. `None`: there is no number for the value, and never will be.
    pub fn name(&self, writer: FreshId, readers: Band) -> Option<u32> {
        Some(name(self.number(writer, readers.base, (FIRST_VALUE, FIRST_LINELESS))?, readers.bits))
    }

    /// The same of a value whose site is not known.
    pub fn lineless(&self, writer: FreshId, readers: Band) -> Option<u32> {
        Some(name(self.number(writer, readers.base, (FIRST_LINELESS, FIRST_OPEN))?, readers.bits))
    }

    /// The name of an open value that lists nobody, in the band of a thread. `None`: as for [`Values::name`].
    pub fn open(&self, writer: FreshId, thread: u32) -> Option<u32> {
        Some(name(self.number(writer, team(thread), (FIRST_OPEN, FIRST_OPEN_LINELESS))?, 0))
    }

    /// The same of a value whose site is not known.
    pub fn open_lineless(&self, writer: FreshId, thread: u32) -> Option<u32> {
        Some(name(self.number(writer, team(thread), (FIRST_OPEN_LINELESS, VALUES))?, 0))
    }

    /// How many numbers stand for values whose sites are not known.
    pub fn lineless_values(&self) -> u64 {
        let numbers = (FIRST_LINELESS..FIRST_OPEN).chain(FIRST_OPEN_LINELESS..VALUES);
        numbers.filter(|number| self.slot(*number).load(Ordering::Relaxed) != 0).count() as u64
    }

    /// The number from `first` to `end` of a value whose readers are in the band from `base` on.
    fn number(&self, writer: FreshId, base: u32, (first, end): (u32, u32)) -> Option<u32> {
        let value = u64::from(writer.0) << 32 | u64::from(base);
        let hash = (value ^ value >> 15).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let start = first + ((hash * u64::from(end - first)) >> 32) as u32;
        let walk = (start..start + WALK).map(|number| if number < end { number } else { number - (end - first) });
        walk.take((end - first).min(WALK) as usize).find(|number| {
            // Relaxed: the word carries its whole meaning in its bits. Slots stay what they are, so that all threads
            // that ask for this value walk past the same ones.
            let slot = self.slot(*number);
            match slot.load(Ordering::Relaxed) {
                0 => match slot.compare_exchange(0, value, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => true,
                    Err(winner) => winner == value,
                },
                held => held == value,
            }
        })
    }
}

/// The first thread of the band of open values: one for all threads of a team of 16, whichever comes first.
fn team(thread: u32) -> u32 {
    ((thread.max(1) - 1) & !15) + 1
}

#[inline(always)]
pub(crate) fn number(name: u32) -> u32 {
    (name & INDEX_MASK) >> WIDTH
}

/// Differs in the low bits for sets that differ only in the high ones, and for values with equal sets.
#[inline(always)]
pub(crate) fn name(number: u32, readers: u32) -> u32 {
    SHARED | number << WIDTH | readers ^ readers >> (WIDTH / 2) ^ mixed(number)
}

#[inline(always)]
pub(crate) fn readers(name: u32) -> u32 {
    let folded = name & READERS ^ mixed(number(name));
    folded ^ folded >> (WIDTH / 2)
}

#[inline(always)]
fn mixed(number: u32) -> u32 {
    number.wrapping_mul(0x9E37_79B1) >> (32 - WIDTH)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap, HashSet};
    use std::vec::Vec;

    fn slots() -> Vec<AtomicU64> {
        (0..VALUES).map(|_| AtomicU64::new(0)).collect()
    }

    fn composed(values: &Values, writer: u32, threads: &BTreeSet<u32>, one_more: u32) -> Option<u32> {
        values.name(FreshId(writer), Band::with(threads.iter().copied(), one_more)?)
    }

    #[test]
    fn every_set_of_near_threads_has_a_name_that_tells_writer_and_readers() {
        let slots = slots();
        // SAFETY: that many slots, alive.
        let values = unsafe { Values::new(slots.as_ptr()) };
        let mut rng = fastrand::Rng::with_seed(7);
        let mut names = HashMap::new();
        for _ in 0..40_000 {
            let (base, many) = (rng.u32(0..6) * 7, rng.usize(0..16));
            let spread = 1 + rng.u32(1..20);
            let mut threads: BTreeSet<u32> = (0..many).map(|_| base + rng.u32(0..spread)).collect();
            let (writer, one_more) = (1 + rng.u32(0..50), base + rng.u32(0..spread));
            if rng.bool() {
                threads.insert(0);
            }
            let name = composed(&values, writer, &threads, one_more);
            threads.insert(one_more);
            // Odd, the one of the first pair 1 2, 3 4, ... of which somebody but thread 0 is a reader.
            let begin = threads.iter().find(|thread| **thread > 0).map_or(1, |first| (first - 1) / 2 * 2 + 1);
            let near = |thread: u32| thread == 0 || (begin..begin + 17).contains(&thread);
            let fits = threads.iter().all(|thread| near(*thread));
            assert_eq!(name.is_some(), fits, "{threads:?}");
            let Some(name) = name else { continue };
            assert!(name & SHARED != 0 && name & INDEX_MASK >= FIRST && name & !(SHARED | INDEX_MASK) == 0);
            let found = values.decode(name).unwrap();
            assert_eq!(found.writer, FreshId(writer));
            assert!(found.readers.members().eq(threads.iter().copied()));
            assert!((0..80).all(|thread| found.readers.contains(thread) == threads.contains(&thread)));
            // One name for equal states, and no two states with one.
            assert_eq!(*names.entry((writer, threads.clone())).or_insert(name), name);
            // A reader more, where it has a bit, is what naming the larger set says. (Thread 0 alone is in any band.)
            let next = [0, begin - 1, begin + rng.u32(0..40)][rng.usize(0..3)];
            let named = composed(&values, writer, &threads, next).filter(|_| near(next));
            assert!(found.with(next) == named || threads.iter().all(|thread| *thread == 0));
        }
        let distinct: HashSet<u32> = names.values().copied().collect();
        assert!(distinct.len() == names.len() && names.len() > 10_000);
    }

    #[test]
    fn sets_and_values_differ_in_the_bits_that_caches_look_at() {
        let slot = |name: u32| name % 1024;
        let of_one_value: HashSet<u32> = (0..1 << 16).map(|bits| slot(name(20, bits))).collect();
        assert_eq!(of_one_value.len(), 1024);
        let high_bits_only: HashSet<u32> = (0..256).map(|bits| slot(name(20, bits << 10 | 0x3ff))).collect();
        assert!(high_bits_only.len() >= 128, "{}", high_bits_only.len());
        let of_all_readers: HashSet<u32> = (16..116).map(|number| slot(name(number, 0xffff))).collect();
        assert!(of_all_readers.len() >= 90, "{}", of_all_readers.len());
    }

    #[test]
    fn open_values_have_names_of_their_own() {
        let slots = slots();
        // SAFETY: that many slots, alive.
        let values = unsafe { Values::new(slots.as_ptr()) };
        let open = values.open(FreshId(7), 13).unwrap();
        assert!((1..=16).chain([0]).all(|thread| values.open(FreshId(7), thread) == Some(open)));
        assert!(values.open(FreshId(7), 17) != Some(open) && values.open(FreshId(8), 13) != Some(open));
        let value = values.decode(open).unwrap();
        assert_eq!((value.writer, value.readers.size()), (FreshId(7), 0));
        let listing = |thread: u32| value.with(thread);
        // Thread 0, and 17 from the first one on.
        assert_eq!((0..40).filter(|thread| listing(*thread).is_some()).collect::<Vec<_>>(), Vec::from_iter(0..18));
        let [two, both] = [listing(2).unwrap(), values.decode(listing(2).unwrap()).unwrap().with(9).unwrap()];
        assert!(values.decode(both).unwrap().readers.members().eq([2, 9]) && two != both);
        let closed = values.name(FreshId(7), Band::with([1, 2, 3].into_iter(), 4).unwrap()).unwrap();
        assert!(number(closed) < FIRST_OPEN && [open, two, both].iter().all(|name| number(*name) >= FIRST_OPEN));
    }

    #[test]
    fn when_numbers_are_used_up_values_without_one_never_get_one() {
        let slots = slots();
        // SAFETY: that many slots, alive.
        let values = unsafe { Values::new(slots.as_ptr()) };
        let readers = Band { base: 3, bits: 0b1111 };
        let name = |writer: u32| values.name(FreshId(writer), readers);
        let first: Vec<Option<u32>> = (1..=2 * VALUES).map(name).collect();
        let numbered = first.iter().flatten().count() as u32;
        assert!(numbered > FIRST_LINELESS / 10 * 9 && numbered <= FIRST_LINELESS - FIRST_VALUE, "{numbered}");
        assert!(first.iter().zip(1..).all(|(first, writer)| *first == name(writer)));
        assert_eq!(values.lineless_values(), 0);
        // There are others for values without a site.
        let [lineless, open] = [values.lineless(FreshId(1), readers), values.open_lineless(FreshId(1), 3)];
        let numbers = [lineless, open].map(|name| number(name.unwrap()));
        assert!((FIRST_LINELESS..FIRST_OPEN).contains(&numbers[0]) && numbers[1] >= FIRST_OPEN_LINELESS);
        assert_eq!(values.lineless_values(), 2);
        // Names of the tables, and of values that nobody has named.
        assert!(values.decode(SHARED | 5).is_none() && values.decode(7).is_none());
        assert!(values.decode(SHARED | (FIRST - 1)).is_none());
    }
}
