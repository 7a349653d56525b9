//! Where chunks of cells come from.
//!
//! *Hashed mode*: a fixed region. It is given out in *groups* of chunks, so that neighbours in memory have neighbouring
//! cells; of a group, only the chunks that the program uses are taken. When all groups are given out, a chunk of memory
//! gets any chunk of cells that is free, and when none is, it is hashed onto one that others use.
//! *Exact mode*: segments from the owner of the memory; every chunk gets its own cells. A thread takes them into a
//! private [`ChunkStock`] and strikes them off only once the directory holds them, so a lost race for a directory entry
//! costs nothing: the chunk is the next one to be handed out.

use crate::primitive::{AtomicU32, Counter, Ordering};
use threadtalk_abi::CHUNK_BYTES;
use xxhash_rust::xxh3::xxh3_64;

/// Zeroed memory for whole chunks of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address, aligned to 4 bytes at least.
    pub base: u64,
    /// Length in chunks.
    pub chunks: u64,
}

/// Neighbouring chunks whose cells are neighbours while there is room: as many as 64 KiB of memory. Caches are indexed
/// by addresses, and cells that follow each other as what they describe does compete no more than that: the gathers of
/// a sparse product were 8 % slower with cells by chunks of 16 KiB, and are level with these groups.
pub(crate) const GROUP: u64 = if cfg!(loom) { 2 } else { (64 << 10) / CHUNK_BYTES };

/// Groups whose cells are a huge page.
const BLOCK: u64 = (2 << 20) / CHUNK_BYTES / GROUP;
/// Blocks that are not foreseen: threads that begin to fill arrays at many places have a chunk of many groups each.
/// Sixteen threads and 256 streams of a radix sort do so.
const FIRST: u64 = 8;
/// Bytes of cells that are not foreseen; they are to be in huge pages.
pub const UNFORESEEN: u64 = FIRST * BLOCK * GROUP * CHUNK_BYTES;

/// Told of each later block of hashed mode before any of it is given out: whether it is likely to be dense, as what was
/// given out some time before it is. Rows that lie 64 KiB apart use a chunk of each group, and a page of that: in huge
/// pages their cells took 280 MB instead of 70, and up to a third of an ocean's time to be cleared. Any thread calls
/// it, once for each block.
pub type Foresee = fn(Segment, bool);

/// Gives a zeroed segment to a thread that has used up another one (`None`: its first), or `None` when there is no
/// memory. Any thread calls it, several at a time.
pub type Grow = fn(Option<Segment>) -> Option<Segment>;

/// Exact mode: chunks that a thread has taken and not yet used. One for each thread; what is left in it when the thread
/// ends serves its successor.
#[derive(Debug, Default)]
pub struct ChunkStock {
    next: u64,
    end: u64,
    /// What it has taken last.
    segment: Option<Segment>,
}

#[expect(clippy::large_enum_variant, reason = "there is one for a process, and nothing that could allocate")]
enum Source {
    Fixed(Fixed),
    Growing(Grow),
}

/// The region of hashed mode.
struct Fixed {
    region: Segment,
    /// Chunks of memory that use each chunk of cells.
    occupants: *const AtomicU32,
    /// Groups given out.
    groups: Counter,
    /// Chunks of cells that somebody uses.
    used: Counter,
    /// Where the search for a free chunk goes on.
    sought: Counter,
    foresee: Foresee,
}

/// The source of chunks and the account of who shares them.
pub struct Pool {
    source: Source,
    chunks: Counter,
    aliased: Counter,
}

// SAFETY: the raw pointer leads to atomics that live as long as the pool (contract of `fixed`).
unsafe impl Send for Pool {}
// SAFETY: as above; shared state is only touched through atomics.
unsafe impl Sync for Pool {}

/// A chunk of cells for a chunk of memory, which the directory does not show yet.
pub(crate) struct Offer {
    /// Address of the first cell.
    pub(crate) cells: u64,
    /// Hashed mode: number of the chunk, which counts one more user.
    number: Option<u64>,
}

impl Pool {
    /// Hashed mode.
    ///
    /// # Safety
    /// `region` is zeroed memory of at least one chunk, with exposed provenance; `occupants` points to
    /// `region.chunks` zeros. Both live as long as the pool and every directory that maps onto it, and nobody else
    /// writes them.
    pub unsafe fn fixed(region: Segment, occupants: *const AtomicU32, foresee: Foresee) -> Self {
        let (groups, used, sought) = (Counter::new(), Counter::new(), Counter::new());
        Self::with(Source::Fixed(Fixed { region, occupants, groups, used, sought, foresee }))
    }

    /// Exact mode.
    ///
    /// # Safety
    /// What `grow` returns is zeroed memory with exposed provenance that lives as long as every directory that maps
    /// onto it and that nobody else writes.
    pub unsafe fn growing(grow: Grow) -> Self {
        Self::with(Source::Growing(grow))
    }

    fn with(source: Source) -> Self {
        Self { source, chunks: Counter::new(), aliased: Counter::new() }
    }

    /// Hashed mode: where all chunks come from.
    pub fn region(&self) -> Option<Segment> {
        match &self.source {
            Source::Fixed(fixed) => Some(fixed.region),
            Source::Growing(_) => None,
        }
    }

    /// Chunks of memory that have cells.
    pub fn chunks(&self) -> u64 {
        self.chunks.load(Ordering::Relaxed)
    }

    /// Chunks of memory that share their cells with another chunk of memory.
    pub fn chunks_aliased(&self) -> u64 {
        self.aliased.load(Ordering::Relaxed)
    }

    /// Bytes of cells in use.
    pub fn bytes_in_use(&self) -> u64 {
        match &self.source {
            Source::Fixed(fixed) => fixed.used.load(Ordering::Relaxed) * CHUNK_BYTES,
            Source::Growing(_) => self.chunks() * CHUNK_BYTES,
        }
    }

    /// Cells for the chunk of memory with this number. `beside`: where they would be if they followed those of its
    /// neighbours in its group ([`GROUP`]). `None`: no memory.
    ///
    /// An offer in hashed mode counts as a user at once, so that no event in shared cells can go unmarked.
    pub(crate) fn offer(&self, chunk: u64, beside: impl Iterator<Item = u64>, stock: &mut ChunkStock) -> Option<Offer> {
        match &self.source {
            Source::Fixed(fixed) => {
                let number = fixed.own(chunk, beside).unwrap_or_else(|| {
                    let number = spread(chunk, fixed.region.chunks);
                    self.share(fixed.occupants(number));
                    number
                });
                Some(Offer { cells: fixed.region.base + number * CHUNK_BYTES, number: Some(number) })
            }
            Source::Growing(grow) => {
                if stock.next == stock.end {
                    let segment = grow(stock.segment).filter(|segment| segment.chunks > 0)?;
                    stock.segment = Some(segment);
                    stock.next = segment.base;
                    stock.end = segment.base + segment.chunks * CHUNK_BYTES;
                }
                Some(Offer { cells: stock.next, number: None })
            }
        }
    }

    /// One more user, of cells that had some when they were looked at.
    fn share(&self, occupants: &AtomicU32) {
        // Sharers of a chunk with n users: n if n > 1, else 0. Each step adds its difference.
        let gained = match occupants.fetch_add(1, Ordering::Relaxed) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        self.aliased.fetch_add(gained, Ordering::Relaxed);
    }

    /// The directory holds the cells.
    pub(crate) fn keep(&self, offer: Offer, stock: &mut ChunkStock) {
        if offer.number.is_none() {
            stock.next += CHUNK_BYTES;
        }
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }

    /// The directory does not hold the cells, as another thread was first.
    pub(crate) fn leave(&self, offer: Offer) {
        let (Source::Fixed(fixed), Some(number)) = (&self.source, offer.number) else { return };
        let lost = match fixed.occupants(number).fetch_sub(1, Ordering::Relaxed) {
            0 | 1 => {
                fixed.used.fetch_sub(1, Ordering::Relaxed);
                0
            }
            2 => 2,
            _ => 1,
        };
        self.aliased.fetch_sub(lost, Ordering::Relaxed);
    }

    /// Whether the cells at this address serve more than one chunk of memory.
    #[inline]
    pub fn is_shared(&self, cells: u64) -> bool {
        let Source::Fixed(fixed) = &self.source else { return false };
        fixed.number_of(cells).is_some_and(|number| fixed.occupants(number).load(Ordering::Relaxed) > 1)
    }
}

impl Fixed {
    /// Number of the chunk at this address, if it is one of the region's.
    #[inline]
    fn number_of(&self, cells: u64) -> Option<u64> {
        Some(cells.wrapping_sub(self.region.base) / CHUNK_BYTES).filter(|number| *number < self.region.chunks)
    }

    #[inline]
    fn occupants(&self, number: u64) -> &AtomicU32 {
        debug_assert!(number < self.region.chunks);
        // SAFETY: callers' numbers are below the region's, the length of `occupants`.
        unsafe { &*self.occupants.add(number as usize) }
    }

    /// Number of a chunk that nobody else uses, and that counts as used from now on. `None`: there is none.
    fn own(&self, chunk: u64, beside: impl Iterator<Item = u64>) -> Option<u64> {
        beside
            .filter_map(|cells| self.number_of(cells))
            .find(|number| self.take(*number))
            .or_else(|| self.of_a_new_group(chunk).filter(|number| self.take(*number)))
            .or_else(|| self.search())
    }

    /// The chunk's place in a group that nobody has.
    fn of_a_new_group(&self, chunk: u64) -> Option<u64> {
        let groups = self.region.chunks.div_ceil(GROUP);
        // The load keeps the counter from growing for ever; it may pass the end by one for each thread.
        let group = match self.groups.load(Ordering::Relaxed) {
            n if n < groups => self.groups.fetch_add(1, Ordering::Relaxed),
            n => n,
        };
        if group % BLOCK == BLOCK / 2 && group / BLOCK + 1 >= FIRST {
            self.look_ahead(group);
        }
        // The last group may be shorter.
        (group < groups).then_some(group * GROUP + chunk % GROUP).filter(|number| *number < self.region.chunks)
    }

    /// Says what the block behind that of a group is like.
    #[cold]
    fn look_ahead(&self, group: u64) {
        let (next, block) = ((group / BLOCK + 1) * BLOCK * GROUP, BLOCK * GROUP);
        if next >= self.region.chunks {
            return;
        }
        // Of the last ones threads may just begin to use the other chunks.
        let chunks = (group - 3 * BLOCK) * GROUP..(group - BLOCK) * GROUP;
        let of = chunks.end - chunks.start;
        let used = chunks.filter(|number| self.occupants(*number).load(Ordering::Relaxed) > 0).count() as u64;
        let base = self.region.base + next * CHUNK_BYTES;
        // A chunk of each group and some more of them are a quarter and more.
        (self.foresee)(Segment { base, chunks: block.min(self.region.chunks - next) }, 8 * used > 3 * of);
    }

    /// Any chunk that is free: each that is so all the time is found. Twice around, as another thread that has lost a
    /// race may give a chunk back behind the search and take one before it.
    fn search(&self) -> Option<u64> {
        let chunks = self.region.chunks;
        let around = || {
            if self.used.load(Ordering::Relaxed) >= chunks {
                return None;
            }
            let begin = self.sought.load(Ordering::Relaxed);
            let found = (begin..begin + chunks).map(|at| at % chunks).find(|number| self.take(*number))?;
            self.sought.store(found + 1, Ordering::Relaxed);
            Some(found)
        };
        around().or_else(around)
    }

    /// `false`: somebody uses it.
    fn take(&self, number: u64) -> bool {
        // No look before: it might see what the chunk was before somebody gave it back.
        let taken = self.occupants(number).compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if taken {
            self.used.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }
}

/// A number below `n`, the same for the same chunk in every run at the same address.
fn spread(chunk: u64, n: u64) -> u64 {
    ((u128::from(xxh3_64(&chunk.to_le_bytes())) * u128::from(n)) >> 64) as u64
}
