//! From the address of memory to its cells.
//!
//! One 8-byte entry for each chunk of the address space (16 KiB) says what to add to a granule's address to get
//! the address of its cell. 0 = the chunk has no cells yet. An entry is set once and never changes.
//!
//! Behind the entries is a bit for each 32 MiB, set when a chunk there gets cells: 64 GiB of entries, of which nearly
//! all were never touched, cannot be looked through.

use crate::primitive::{AtomicU32, AtomicU64, Ordering};
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};

/// log2 of the bytes of memory that have one bit.
const STRETCH_SHIFT: u32 = 25;

/// The array of entries. The memory behind it is not owned.
pub struct Directory {
    entries: *const AtomicU64,
    address_bits: u32,
}

// SAFETY: the entries are atomics that live as long as the directory (contract of `new`).
unsafe impl Send for Directory {}
// SAFETY: as above; every method takes `&self` and only loads and exchanges atomics.
unsafe impl Sync for Directory {}

/// The part of a range of memory that lies in one chunk.
pub enum Run<'a> {
    /// The chunk has cells: those of the granules from `address` on.
    Mapped {
        /// First granule.
        address: u64,
        /// One cell for each granule.
        cells: &'a [AtomicU32],
    },
    /// The chunk has none: all its elements are without a writer.
    Unmapped {
        /// First granule.
        address: u64,
        /// How many.
        granules: u64,
    },
}

impl Directory {
    /// Words of the memory for a directory of so many bits of addresses: an entry for each chunk, and the bits.
    pub const fn words(address_bits: u32) -> usize {
        (1 << (address_bits - CHUNK_SHIFT)) + (1_usize << address_bits).div_ceil(64 << STRETCH_SHIFT)
    }

    /// # Safety
    /// `entries` points to [`Directory::words`] words, zero at first, that live and are not written by others as long
    /// as this directory and its users. `CHUNK_SHIFT < address_bits < 64`.
    pub unsafe fn new(entries: *const AtomicU64, address_bits: u32) -> Self {
        Self { entries, address_bits }
    }

    /// Address of the first entry, for the inlined code.
    pub fn base(&self) -> *const AtomicU64 {
        self.entries
    }

    /// Whether the directory covers this address.
    #[inline]
    pub fn covers(&self, address: u64) -> bool {
        address >> self.address_bits == 0
    }

    #[inline]
    fn entry(&self, address: u64) -> Option<&AtomicU64> {
        if !self.covers(address) {
            return None;
        }
        // SAFETY: the address is below `1 << address_bits`, so the index is below the number of entries.
        Some(unsafe { &*self.entries.add((address >> CHUNK_SHIFT) as usize) })
    }

    /// The entry for `address`: what to add to a granule's address. `None`: not mapped, or outside the address space.
    #[inline]
    pub fn offset(&self, address: u64) -> Option<u64> {
        match self.entry(address)?.load(Ordering::Acquire) {
            0 => None,
            offset => Some(offset),
        }
    }

    /// The cell of the granule that holds the byte at `address`, if its chunk has cells.
    #[inline]
    pub fn translate(&self, address: u64) -> Option<*const AtomicU32> {
        let cell = (address & !(GRANULE - 1)).wrapping_add(self.offset(address)?);
        Some(core::ptr::with_exposed_provenance(cell as usize))
    }

    /// Where the cells of the chunk of `address` would be if they followed those of other chunks in its group of so
    /// many.
    pub(crate) fn beside(&self, address: u64, group: u64) -> impl Iterator<Item = u64> {
        let first = chunk_base(address) & !(group * CHUNK_BYTES - 1);
        (0..group)
            .map(move |i| first + i * CHUNK_BYTES)
            .filter(move |other| *other != chunk_base(address))
            .filter_map(|other| self.offset(other))
            .map(move |offset| chunk_base(address).wrapping_add(offset))
    }

    /// Gives the chunk of `address` the cells at `cells`, unless it has some.
    /// `Ok`: done. `Err`: another thread was first; the offset that holds.
    pub(crate) fn publish(&self, address: u64, cells: u64) -> Result<u64, u64> {
        let offset = cells.wrapping_sub(chunk_base(address));
        let Some(entry) = self.entry(address) else { return Err(0) };
        // Release: whoever finds the entry also finds the pool's note of who shares the chunk.
        match entry.compare_exchange(0, offset, Ordering::Release, Ordering::Acquire) {
            Ok(_) => {
                self.mark(address);
                Ok(offset)
            }
            Err(held) => Err(held),
        }
    }

    /// The bits, 64 in each word.
    fn stretches(&self) -> &[AtomicU64] {
        let entries = 1 << (self.address_bits - CHUNK_SHIFT);
        // SAFETY: that many words follow the entries (contract of `new`).
        unsafe { core::slice::from_raw_parts(self.entries.add(entries), Self::words(self.address_bits) - entries) }
    }

    /// A chunk of the stretch of `address` has cells.
    fn mark(&self, address: u64) {
        let (number, bit) = (address >> STRETCH_SHIFT, 1 << (address >> STRETCH_SHIFT & 63));
        if let Some(word) = self.stretches().get((number / 64) as usize)
            && word.load(Ordering::Relaxed) & bit == 0
        {
            // Relaxed: it says where to look, and nothing of what is there.
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// The ranges (address, bytes) that may have cells, in the order of addresses. A chunk that gets its cells in the
    /// meantime may be missed.
    pub fn used(&self) -> impl Iterator<Item = (u64, u64)> {
        let bytes = 1 << STRETCH_SHIFT.min(self.address_bits);
        self.stretches().iter().zip(0..).flat_map(move |(word, at)| {
            let word = word.load(Ordering::Relaxed);
            let numbers = (0..64).filter(move |bit| word != 0 && word >> bit & 1 != 0).map(move |bit| at * 64 + bit);
            numbers.map(move |number| (number << STRETCH_SHIFT, bytes))
        })
    }

    /// The range `address .. address + bytes` chunk by chunk: every granule that it touches.
    #[inline]
    pub fn runs(&self, address: u64, bytes: u64) -> Runs<'_> {
        let (next, end) = granules(address, bytes, 1 << self.address_bits);
        Runs { directory: self, next, end }
    }

    /// The one run of a range that lies in one chunk, outside the address space as well; `None` for others, and for no
    /// bytes.
    #[inline]
    pub fn one_run(&self, address: u64, bytes: u64) -> Option<Run<'_>> {
        let lies_in_one = bytes > 0 && bytes <= CHUNK_BYTES && address % CHUNK_BYTES + bytes <= CHUNK_BYTES;
        lies_in_one.then(|| self.run(address & !(GRANULE - 1), (address % GRANULE + bytes).div_ceil(GRANULE)))
    }

    /// So many granules of one chunk.
    #[inline]
    fn run(&self, address: u64, granules: u64) -> Run<'_> {
        match self.translate(address) {
            None => Run::Unmapped { address, granules },
            Some(cells) => {
                // SAFETY: a chunk's cells are contiguous, as many as it has granules, and live as long as the
                // directory (contract of the pool); the run ends inside the chunk.
                let cells = unsafe { core::slice::from_raw_parts(cells, granules as usize) };
                Run::Mapped { address, cells }
            }
        }
    }

    /// The elements of every granule that the range touches lose their writer.
    /// Chunks without cells cost one load each; lines of cells that are 0 are not written, so that pages of cells
    /// that nobody used stay unbacked.
    pub fn clear(&self, address: u64, bytes: u64) {
        for run in self.runs(address, bytes) {
            if let Run::Mapped { cells, .. } = run {
                let (lines, rest) = cells.as_chunks::<LINE>();
                lines.iter().for_each(|line| clear_line(line));
                clear_line(rest);
            }
        }
    }
}

/// Cells of a cache line.
const LINE: usize = 16;

/// Always part of its callers: of a whole line all is known, and it takes a few instructions.
#[inline(always)]
fn clear_line(cells: &[AtomicU32]) {
    if !are_zero(cells) {
        zero(cells);
    }
}

#[cfg(not(loom))]
#[inline(always)]
fn zero(cells: &[AtomicU32]) {
    // SAFETY: atomics may be changed through a shared reference, and zero bytes are a 0 of each. In a race-free program
    // nobody else touches cells of elements that die, and aligned words are stored whole in any case.
    unsafe { core::ptr::write_bytes(cells.as_ptr().cast_mut(), 0, cells.len()) };
}

#[cfg(loom)]
fn zero(cells: &[AtomicU32]) {
    cells.iter().for_each(|cell| cell.store(0, Ordering::Relaxed));
}

/// All at once: one after the other took a tenth of a program whose stack frames hold tables of 2 KiB.
#[cfg(not(loom))]
#[inline(always)]
fn are_zero(cells: &[AtomicU32]) -> bool {
    // SAFETY: a cell is a word like any other, and nobody else touches those of elements that die, as above.
    let words = unsafe { core::slice::from_raw_parts(cells.as_ptr().cast::<u32>(), cells.len()) };
    words.iter().fold(0, |any, word| any | word) == 0
}

#[cfg(loom)]
fn are_zero(cells: &[AtomicU32]) -> bool {
    cells.iter().all(|cell| cell.load(Ordering::Relaxed) == 0)
}

/// First address of the chunk.
#[inline]
pub fn chunk_base(address: u64) -> u64 {
    address & !(CHUNK_BYTES - 1)
}

/// First granule touched and the end of the last one, both below `limit`. No bytes touch nothing.
#[inline]
fn granules(address: u64, bytes: u64, limit: u64) -> (u64, u64) {
    if bytes == 0 || address >= limit {
        return (0, 0);
    }
    let last = address.saturating_add(bytes - 1).min(limit - 1);
    (address & !(GRANULE - 1), (last | (GRANULE - 1)) + 1)
}

/// See [`Directory::runs`].
pub struct Runs<'a> {
    directory: &'a Directory,
    next: u64,
    end: u64,
}

impl Runs<'_> {
    /// Where the next run begins.
    #[inline]
    pub(crate) fn position(&self) -> Option<u64> {
        (self.next < self.end).then_some(self.next)
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    #[inline]
    fn next(&mut self) -> Option<Run<'a>> {
        if self.next >= self.end {
            return None;
        }
        let address = self.next;
        self.next = (chunk_base(address) + CHUNK_BYTES).min(self.end);
        Some(self.directory.run(address, (self.next - address) / GRANULE))
    }
}
