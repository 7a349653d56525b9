//! Shared states: {the value's fresh id, who has read it} to a name and back. Those of few readers, and of readers far
//! apart, are interned in tables; the others' names are [composed](crate::composed).

pub use crate::composed::VALUES;
use crate::composed::{Band, Composed, FIRST, LEAST, Values};
use crate::ended::Ended;
pub use crate::ended::WORDS as ENDED_WORDS;
use crate::fresh::FreshId;
use crate::index::{Entered, Index};
use crate::primitive::{AtomicBool, AtomicU64, Counter, Ordering};
pub use crate::sets::{Exhausted, ReaderSet, ReaderSets, SetMemory, SetName, WordStock};
use threadtalk_abi::cell;
use xxhash_rust::xxh3::xxh3_64;

/// What a thread has taken from the tables and not yet used. One for each thread; what is left in it when the
/// thread ends serves its successor.
#[derive(Debug, Default)]
pub struct StateStock {
    /// An index that lost a race, plus 1; 0 = none.
    entry: u32,
    words: WordStock,
}

/// Memory for shared states: zeroed, never written by others, alive as long as the table.
#[derive(Clone, Copy)]
pub struct StateMemory {
    /// Bits of a site in a fresh id.
    pub site_bits: u32,
    /// One word for each state.
    pub entries: *const AtomicU64,
    /// Their number; at most 2^22.
    pub capacity: u32,
    /// Slots of the index.
    pub slots: *const AtomicU64,
    /// log2 of their number: at least twice `capacity`.
    pub slots_log2: u32,
    /// [`VALUES`] words for the values that composed names speak of.
    pub values: *const AtomicU64,
    /// [`ENDED_WORDS`] words for the threads that have ended.
    pub ended: *const AtomicU64,
    /// Memory for the reader sets.
    pub sets: SetMemory,
}

/// A state with readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The value that is read.
    pub writer: FreshId,
    /// Who has read it.
    pub readers: ReaderSet,
}

/// All shared states of a process.
pub struct States {
    site_bits: u32,
    entries: *const AtomicU64,
    capacity: u32,
    taken: Counter,
    index: Index,
    values: Values,
    ended: Ended,
    /// See [`States::set_pair`].
    pair: AtomicBool,
    /// The reader sets.
    pub sets: ReaderSets,
}

// SAFETY: the entries are atomics that live as long as the table (contract of `new`).
unsafe impl Send for States {}
// SAFETY: as above.
unsafe impl Sync for States {}

impl States {
    /// # Safety
    /// As the fields of [`StateMemory`] say.
    pub unsafe fn new(memory: StateMemory) -> Self {
        // SAFETY: the caller's promise.
        let (index, sets) = unsafe { (Index::new(memory.slots, memory.slots_log2), ReaderSets::new(memory.sets)) };
        // SAFETY: as above.
        let (values, ended) = unsafe { (Values::new(memory.values), Ended::new(memory.ended)) };
        let capacity = memory.capacity.min(FIRST);
        let (taken, pair) = (Counter::new(), AtomicBool::new(false));
        let StateMemory { site_bits, entries, .. } = memory;
        Self { site_bits, entries, capacity, taken, index, values, ended, pair, sets }
    }

    /// Whether no more than two threads have ever had a view. Then a value that one of them reads for the first time
    /// was written by the other one, which does not exchange the cells of its own values: nobody else changes the cell
    /// until the two synchronise, and a plain store does what else takes a locked exchange. Not so at first.
    ///
    /// Relaxed: whoever lets a third thread in waits until neither of the two can be between this question and its
    /// store.
    #[inline]
    pub fn is_pair(&self) -> bool {
        self.pair.load(Ordering::Relaxed)
    }

    /// See [`States::is_pair`].
    pub fn set_pair(&self, pair: bool) {
        self.pair.store(pair, Ordering::SeqCst);
    }

    /// Number of states made in the tables.
    pub fn len(&self) -> u64 {
        self.taken.load(Ordering::Relaxed).min(u64::from(self.capacity))
    }

    /// None was made yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state behind the name in a cell. `None` for names that are not shared, and for a number that no state has.
    #[inline]
    pub fn decode(&self, name: u32) -> Option<State> {
        let index = name & cell::INDEX_MASK;
        if name & cell::SHARED == 0 || index >= self.capacity {
            let Composed { writer, readers, .. } = self.values.decode(name)?;
            return Some(State { writer, readers: ReaderSet::Near(readers) });
        }
        // Relaxed: who has the name acquired it from the index or from a cell, and the entry was written before.
        match self.entry(index).load(Ordering::Relaxed) {
            0 => None,
            packed => Some(unpack(packed)),
        }
    }

    /// What a composed name says.
    #[inline]
    pub(crate) fn composed(&self, name: u32) -> Option<Composed> {
        self.values.decode(name)
    }

    /// The name of a value as an open one that lists nobody.
    pub(crate) fn open(&self, writer: FreshId, thread: u32) -> Option<u32> {
        let lineless = || self.values.open_lineless(writer.without_site(self.site_bits), thread);
        self.values.open(writer, thread).or_else(lineless)
    }

    /// The bit that lists a thread in names of this open value, if there is one.
    pub fn listing_bit(&self, name: u32, thread: u32) -> Option<u32> {
        self.values.decode(name)?.readers.bit_of(thread)
    }

    /// Whether half of the states that the tables have room for are made.
    pub fn are_half_used(&self) -> bool {
        self.are_used(4)
    }

    /// Whether so many eighths of them are. Never in models, which have room for six, all of which are to be made.
    fn are_used(&self, eighths: u64) -> bool {
        !cfg!(loom) && self.taken.load(Ordering::Relaxed) * 8 >= eighths * u64::from(self.capacity.max(1))
    }

    /// How many values were read of which the names only say which thread wrote them: see [`crate::composed`].
    pub fn lineless_values(&self) -> u64 {
        self.values.lineless_values()
    }

    /// The composed name of a value and its readers. `None` for few of them, unless much of the tables is used up: to
    /// find or make a state there takes a microsecond, and there may be 696 for each value.
    fn compose(&self, writer: FreshId, readers: Band) -> Option<u32> {
        let enough = if readers.size() == 1 { 4 } else { 1 };
        if readers.size() < LEAST && !self.are_used(enough) {
            return None;
        }
        let lineless = || self.values.lineless(writer.without_site(self.site_bits), readers);
        self.values.name(writer, readers).or_else(lineless)
    }

    /// The name of a state in the tables, without [`cell::TRACKED`].
    fn intern(&self, writer: FreshId, readers: SetName, stock: &mut StateStock) -> Result<u32, Exhausted> {
        let packed = pack(writer, readers);
        let offered = self.offer(stock);
        if let Some(index) = offered {
            // Relaxed: the entry is nobody else's until the index publishes it.
            self.entry(index).store(packed, Ordering::Relaxed);
        }
        let equal = |index| self.entry(index).load(Ordering::Relaxed) == packed;
        match self.index.enter(xxh3_64(&packed.to_le_bytes()), offered, equal).ok_or(Exhausted)? {
            Entered::Theirs(index) => Ok(cell::SHARED | index),
            Entered::Mine => {
                stock.entry = 0;
                Ok(cell::SHARED | offered.ok_or(Exhausted)?)
            }
        }
    }

    /// The thread reads nothing any more.
    pub fn thread_ended(&self, thread: u32) {
        self.ended.add(thread);
    }

    /// The state that `name` (fresh or shared, without [`cell::TRACKED`]) becomes when `thread` has read it too. Of
    /// readers that are far from each other it has only those that may read again.
    pub fn with_reader(&self, name: u32, thread: u32, stock: &mut StateStock) -> Result<u32, Exhausted> {
        let Some(State { writer, readers }) = self.decode(name) else {
            let writer = FreshId(name);
            let composed = self.compose(writer, Band::one(thread));
            return composed.map_or_else(|| self.intern(writer, ReaderSets::one(thread), stock), Ok);
        };
        let near = Band::with(self.sets.members(readers), thread);
        let left_out = |at| if near.is_none() { self.ended.bits(at) } else { 0 };
        let band = near.or_else(|| {
            let living = self.sets.members(readers).filter(|reader| !self.ended.contains(*reader));
            Band::with(living, thread)
        });
        if let Some(composed) = band.and_then(|band| self.compose(writer, band)) {
            return Ok(composed);
        }
        let readers = self.sets.with(readers, thread, left_out, &mut stock.words)?;
        let writer = if self.are_half_used() { writer.without_site(self.site_bits) } else { writer };
        self.intern(writer, readers, stock)
    }

    /// An index, kept in the stock until an exchange publishes it.
    fn offer(&self, stock: &mut StateStock) -> Option<u32> {
        if stock.entry == 0 {
            // The load keeps the counter from growing for ever once the table is full.
            if self.taken.load(Ordering::Relaxed) >= u64::from(self.capacity) {
                return None;
            }
            let index = self.taken.fetch_add(1, Ordering::Relaxed);
            if index >= u64::from(self.capacity) {
                return None;
            }
            stock.entry = index as u32 + 1;
        }
        Some(stock.entry - 1)
    }

    #[inline]
    fn entry(&self, index: u32) -> &AtomicU64 {
        // SAFETY: indices come from `offer` or were checked in `decode`: below `capacity`.
        unsafe { &*self.entries.add(index as usize) }
    }
}

fn pack(writer: FreshId, readers: SetName) -> u64 {
    u64::from(writer.0) << 32 | u64::from(readers.0)
}

fn unpack(packed: u64) -> State {
    State { writer: FreshId((packed >> 32) as u32), readers: ReaderSets::named(SetName(packed as u32)) }
}
