//! Where chunks of cells come from.
//!
//! *Hashed mode*: a fixed region. When it is used up, a new chunk of memory is hashed onto a chunk of cells that
//! others use.
//! *Exact mode*: segments from the owner of the memory; every chunk gets its own cells.
//!
//! A thread takes chunks into a private [`ChunkStock`] and strikes them off only once the directory holds them,
//! so a lost race for a directory entry costs nothing: the chunk is the next one to be handed out.

use crate::primitive::{AtomicU32, Counter, Ordering};
use threadtalk_abi::CHUNK_BYTES;
use xxhash_rust::xxh3::xxh3_64;

/// Zeroed memory for whole chunks of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address, aligned to 4 bytes at least.
    pub base: u64,
    /// Length in chunks of 64 KiB.
    pub chunks: u64,
}

/// Gives a zeroed segment to a thread that has used up another one (`None`: its first), or `None` when there is no
/// memory. Any thread calls it, several at a time.
pub type Grow = fn(Option<Segment>) -> Option<Segment>;

/// Chunks that a thread has taken and not yet used. One for each thread; what is left in it when the thread
/// ends serves its successor.
#[derive(Debug, Default)]
pub struct ChunkStock {
    next: u64,
    end: u64,
    /// Exact mode: what it has taken last.
    segment: Option<Segment>,
}

enum Source {
    Fixed { region: Segment, taken: Counter, occupants: *const AtomicU32 },
    Growing(Grow),
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

/// A chunk of cells on offer.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    /// Nobody else has it. In hashed mode with its number.
    Own(u64),
    /// Chunk number so and so of the fixed region, which others use too.
    Shared(u64),
}

impl Pool {
    /// Hashed mode.
    ///
    /// # Safety
    /// `region` is zeroed memory of at least one chunk, with exposed provenance; `occupants` points to
    /// `region.chunks` zeros. Both live as long as the pool and every directory that maps onto it, and nobody else
    /// writes them.
    pub unsafe fn fixed(region: Segment, occupants: *const AtomicU32) -> Self {
        Self::with(Source::Fixed { region, taken: Counter::new(), occupants })
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
            Source::Fixed { region, .. } => Some(*region),
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
            Source::Fixed { region, taken, .. } => taken.load(Ordering::Relaxed).min(region.chunks) * CHUNK_BYTES,
            Source::Growing(_) => self.chunks() * CHUNK_BYTES,
        }
    }

    /// Address of the cells for the chunk of memory with this number, not yet struck off the stock. `None`: no
    /// memory.
    pub(crate) fn offer(&self, chunk: u64, stock: &mut ChunkStock) -> Option<(Offer, u64)> {
        if stock.next == stock.end {
            match &self.source {
                Source::Fixed { region, taken, .. } => {
                    // The load keeps the counter from growing for ever; it may pass the end by one for each thread.
                    let number = match taken.load(Ordering::Relaxed) {
                        n if n < region.chunks => taken.fetch_add(1, Ordering::Relaxed),
                        n => n,
                    };
                    if number >= region.chunks {
                        let number = spread(chunk, region.chunks);
                        return Some((Offer::Shared(number), region.base + number * CHUNK_BYTES));
                    }
                    stock.next = region.base + number * CHUNK_BYTES;
                    stock.end = stock.next + CHUNK_BYTES;
                }
                Source::Growing(grow) => {
                    let segment = grow(stock.segment).filter(|segment| segment.chunks > 0)?;
                    stock.segment = Some(segment);
                    stock.next = segment.base;
                    stock.end = segment.base + segment.chunks * CHUNK_BYTES;
                }
            }
        }
        let number = match &self.source {
            Source::Fixed { region, .. } => (stock.next - region.base) / CHUNK_BYTES,
            Source::Growing(_) => 0,
        };
        Some((Offer::Own(number), stock.next))
    }

    /// Notes one more user of the offer's cells. Before the directory shows them to anybody, so that no event
    /// in shared cells can go unmarked.
    pub(crate) fn enter(&self, offer: Offer) {
        if let Some(occupants) = self.occupants(offer) {
            // Sharers of a chunk with n users: n if n > 1, else 0. Each step adds its difference.
            let gained = match occupants.fetch_add(1, Ordering::Relaxed) {
                0 => 0,
                1 => 2,
                _ => 1,
            };
            self.aliased.fetch_add(gained, Ordering::Relaxed);
        }
    }

    /// The directory holds the cells: strikes them off the stock.
    pub(crate) fn keep(&self, offer: Offer, stock: &mut ChunkStock) {
        if let Offer::Own(_) = offer {
            stock.next += CHUNK_BYTES;
        }
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }

    /// Another thread was first: takes [`Pool::enter`] back.
    pub(crate) fn leave(&self, offer: Offer) {
        if let Some(occupants) = self.occupants(offer) {
            let lost = match occupants.fetch_sub(1, Ordering::Relaxed) {
                0 | 1 => 0,
                2 => 2,
                _ => 1,
            };
            self.aliased.fetch_sub(lost, Ordering::Relaxed);
        }
    }

    /// Whether the cells at this address serve more than one chunk of memory.
    #[inline]
    pub fn is_shared(&self, cells: u64) -> bool {
        let Source::Fixed { region, occupants, .. } = &self.source else { return false };
        let number = cells.wrapping_sub(region.base) / CHUNK_BYTES;
        // SAFETY: the number is below the length of `occupants`.
        number < region.chunks && unsafe { &*occupants.add(number as usize) }.load(Ordering::Relaxed) > 1
    }

    fn occupants(&self, offer: Offer) -> Option<&AtomicU32> {
        let (Offer::Own(number) | Offer::Shared(number)) = offer;
        match &self.source {
            // SAFETY: offers carry numbers below `region.chunks`, the length of `occupants`.
            Source::Fixed { occupants, .. } => Some(unsafe { &*occupants.add(number as usize) }),
            Source::Growing(_) => None,
        }
    }
}

/// A number below `n`, the same for the same chunk in every run at the same address.
fn spread(chunk: u64, n: u64) -> u64 {
    ((u128::from(xxh3_64(&chunk.to_le_bytes())) * u128::from(n)) >> 64) as u64
}
