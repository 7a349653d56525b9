//! Sets of reading threads, interned: equal sets have equal names. Exact for any logical thread ids. (States whose
//! readers are [close to each other](crate::composed) need none of them.)
//!
//! A set of one thread is named by the thread alone (bit 31 set). A larger one is a bitset in the arena without
//! its leading and trailing zero words, so that each set has one form; its name is the place of its header:
//!
//! ```text
//! arena[name]      first << 32 | length      the bits begin at thread 64 * first
//! arena[name + 1]  length words of bits
//! ```

use crate::composed::Band;
use crate::index::{Entered, Index};
use crate::primitive::{AtomicU64, Counter, Ordering};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Marks names of sets of one thread.
const ONE: u32 = 1 << 31;
/// Words that a thread takes from the arena at a time: 16 sets of a header and up to 3 words.
const RUN: u64 = 64;

/// Name of a set in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetName(pub(crate) u32);

/// A set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReaderSet {
    /// One reader, or several that are close.
    Near(Band),
    /// In the tables.
    Listed(SetName),
}

/// A table is full: the state or set does not get a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exhausted;

/// Words of the arena that a thread has taken and not yet used.
#[derive(Debug, Default)]
pub struct WordStock {
    next: u64,
    end: u64,
}

/// Memory for reader sets: zeroed, never written by others, alive as long as the table.
#[derive(Clone, Copy)]
pub struct SetMemory {
    /// The arena. Word 0 onwards.
    pub words: *const AtomicU64,
    /// Its length; at most 2^31.
    pub capacity: u64,
    /// Slots of the index; twice as many as there are sets is ample.
    pub slots: *const AtomicU64,
    /// log2 of their number.
    pub slots_log2: u32,
}

/// All reader sets of a process.
pub struct ReaderSets {
    words: *const AtomicU64,
    capacity: u64,
    taken: Counter,
    index: Index,
}

// SAFETY: the words are atomics that live as long as the table (contract of `new`).
unsafe impl Send for ReaderSets {}
// SAFETY: as above.
unsafe impl Sync for ReaderSets {}

/// The bits of a set: thread `64 * first + i` is in it if bit `i % 64` of word `i / 64` is set.
#[derive(Clone, Copy)]
struct Bits<'a> {
    first: u32,
    words: &'a [AtomicU64],
}

impl Bits<'_> {
    /// Threads from `64 * at` on.
    #[inline]
    fn word(self, at: u32) -> u64 {
        let word = self.words.get(at.wrapping_sub(self.first) as usize);
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }
}

impl ReaderSets {
    /// # Safety
    /// As the fields of [`SetMemory`] say.
    pub unsafe fn new(memory: SetMemory) -> Self {
        // SAFETY: the caller's promise.
        let index = unsafe { Index::new(memory.slots, memory.slots_log2) };
        Self { words: memory.words, capacity: memory.capacity.min(u64::from(ONE)), taken: Counter::new(), index }
    }

    /// The name of the set of one thread.
    #[inline]
    pub(crate) fn one(thread: u32) -> SetName {
        SetName(ONE | thread)
    }

    /// The set of this name.
    #[inline]
    pub(crate) fn named(name: SetName) -> ReaderSet {
        if name.0 & ONE == 0 { ReaderSet::Listed(name) } else { ReaderSet::Near(Band::one(name.0 & !ONE)) }
    }

    /// Whether the thread is in the set.
    pub fn contains(&self, set: ReaderSet, thread: u32) -> bool {
        let bits = match set {
            ReaderSet::Near(band) => return band.contains(thread),
            ReaderSet::Listed(name) => self.bits(name),
        };
        bits.word(thread / 64) >> (thread % 64) & 1 == 1
    }

    /// The threads of the set, ascending.
    pub fn members(&self, set: ReaderSet) -> impl Iterator<Item = u32> + Clone {
        let (near, bits) = match set {
            ReaderSet::Near(band) => (Some(band), Bits { first: 0, words: &[] }),
            ReaderSet::Listed(name) => (None, self.bits(name)),
        };
        let several = (bits.first..).zip(bits.words).flat_map(|(at, word)| {
            let word = word.load(Ordering::Relaxed);
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        });
        near.into_iter().flat_map(Band::members).chain(several)
    }

    /// How many threads are in the set.
    pub fn size(&self, set: ReaderSet) -> u32 {
        match set {
            ReaderSet::Near(band) => band.size(),
            ReaderSet::Listed(name) => {
                self.bits(name).words.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
            }
        }
    }

    /// The name of the set with one more thread. `left_out`: those of 64 threads from `64 * at` on that are not to be
    /// in it, unless that one is among them.
    pub(crate) fn with(
        &self,
        set: ReaderSet,
        thread: u32,
        left_out: impl Fn(u32) -> u64,
        stock: &mut WordStock,
    ) -> Result<SetName, Exhausted> {
        let place = thread / 64;
        let word = |at| {
            let all = match set {
                ReaderSet::Near(band) => band.word(at),
                ReaderSet::Listed(name) => self.bits(name).word(at),
            };
            all & !left_out(at) | if at == place { 1 << (thread % 64) } else { 0 }
        };
        let (first, end) = self.extent(set);
        // Without zeros at the ends, which what is left out may have made of them.
        let first = (first..place).find(|at| word(*at) != 0).unwrap_or(place);
        let end = (place + 1..end).rev().find(|at| word(*at) != 0).map_or(place + 1, |last| last + 1);
        if end - first == 1 && word(place).is_power_of_two() {
            return Ok(Self::one(thread));
        }
        let name = self.offer(u64::from(end - first) + 1, stock).ok_or(Exhausted)?;

        // Relaxed: the words are nobody else's until the index publishes the name.
        self.word(name).store(u64::from(first) << 32 | u64::from(end - first), Ordering::Relaxed);
        let mut hash = u64::from(first);
        for at in first..end {
            // Once, as a thread may end meanwhile: then the ends may be zeros after all, and the set has a second name.
            let word = word(at);
            self.word(name + 1 + at - first).store(word, Ordering::Relaxed);
            hash = xxh3_64_with_seed(&word.to_le_bytes(), hash);
        }
        match self.index.enter(hash, Some(name), |other| self.equal(name, other)).ok_or(Exhausted)? {
            Entered::Theirs(name) => Ok(SetName(name)),
            Entered::Mine => {
                stock.next += u64::from(end - first) + 1;
                Ok(SetName(name))
            }
        }
    }

    /// The words that a set spans: the first one, and the first one behind.
    fn extent(&self, set: ReaderSet) -> (u32, u32) {
        match set {
            ReaderSet::Near(band) => {
                let mut members = band.members();
                let first = members.next().unwrap_or(0);
                (first / 64, members.last().unwrap_or(first) / 64 + 1)
            }
            ReaderSet::Listed(name) => {
                let bits = self.bits(name);
                (bits.first, bits.first + bits.words.len() as u32)
            }
        }
    }

    /// A place for so many words, not yet struck off the stock.
    fn offer(&self, words: u64, stock: &mut WordStock) -> Option<u32> {
        if stock.end - stock.next < words {
            let run = words.max(RUN);
            // The load keeps the counter from growing for ever once the arena is used up.
            if self.taken.load(Ordering::Relaxed) + run > self.capacity {
                return None;
            }
            let next = self.taken.fetch_add(run, Ordering::Relaxed);
            if next + run > self.capacity {
                return None;
            }
            // What is left of the old run is lost, less than the words of one set.
            *stock = WordStock { next, end: next + run };
        }
        Some(stock.next as u32)
    }

    fn word(&self, at: u32) -> &AtomicU64 {
        // SAFETY: `at` lies in a run below `capacity`: `offer` hands out no other places, and names are such places.
        unsafe { &*self.words.add(at as usize) }
    }

    fn bits(&self, set: SetName) -> Bits<'_> {
        let header = self.word(set.0).load(Ordering::Relaxed);
        // SAFETY: the header was written with the length of the run that it begins, before the name was published;
        // who has the name acquired it from the index or from a cell.
        let words = unsafe { core::slice::from_raw_parts(self.words.add(set.0 as usize + 1), header as u32 as usize) };
        Bits { first: (header >> 32) as u32, words }
    }

    fn equal(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.bits(SetName(a)), self.bits(SetName(b)));
        let same = |(a, b): (&AtomicU64, &AtomicU64)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed);
        a.first == b.first && a.words.len() == b.words.len() && a.words.iter().zip(b.words).all(same)
    }
}
