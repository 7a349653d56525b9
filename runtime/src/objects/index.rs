//! From an address to the call that allocated it.
//!
//! One word for each chunk of the address space (16 KiB): 0, the site of a block that covers the whole chunk, or the
//! number of a page with a word for each 16 bytes, which is the alignment of heap blocks. Pages are never given back;
//! there are 64 MiB of them, for 256 MiB of small blocks, and what lies in chunks beyond is not attributed.
//! Blocks of more than 16 GiB are entered to that length.

use crate::memory;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::{ADDRESS_BITS, CHUNK_BYTES, CHUNK_SHIFT, DIRECTORY_ENTRIES};

/// Bytes that a word of a page stands for.
const PIECE: u64 = 16;
/// Words of a page.
const PIECES: u64 = CHUNK_BYTES / PIECE;
/// Most pages.
const PAGES: u32 = ((256 << 20) / CHUNK_BYTES) as u32;
/// In a chunk's word: what follows is the number of a page.
const PAGE: u32 = 1 << 31;
/// Most bytes of a block that are entered.
const MOST_BYTES: u64 = 16 << 30;

/// See the module's documentation.
pub struct Index {
    chunks: *const AtomicU32,
    pages: *const AtomicU32,
    taken: AtomicU32,
}

// SAFETY: both arrays live for ever and consist of atomics.
unsafe impl Sync for Index {}

impl Index {
    /// An empty one: 32 GiB of addresses, used sparsely.
    pub fn new() -> Option<Self> {
        let words = |n: u64| memory::reserve((n * 4) as usize).map(|p| p.as_ptr().cast_const().cast::<AtomicU32>());
        Some(Self {
            chunks: words(DIRECTORY_ENTRIES)?,
            pages: words(u64::from(PAGES) * PIECES)?,
            taken: AtomicU32::new(0),
        })
    }

    /// The block at `address` was allocated at `site`.
    pub fn set(&self, address: u64, bytes: u64, site: u32) {
        self.fill(address, bytes.min(MOST_BYTES), site & !PAGE);
    }

    /// The block is gone.
    pub fn forget(&self, address: u64, bytes: u64) {
        self.fill(address, bytes.min(MOST_BYTES), 0);
    }

    /// The site for an address; 0 = not known.
    pub fn site_of(&self, address: u64) -> u32 {
        let Some(chunk) = self.chunk(address) else { return 0 };
        let word = chunk.load(Ordering::Relaxed);
        if word & PAGE == 0 {
            return word;
        }
        self.piece(word & !PAGE, address).load(Ordering::Relaxed)
    }

    /// Relaxed throughout: the program orders a block's allocation before its uses, and an attribution is all that
    /// hangs on it.
    fn fill(&self, address: u64, bytes: u64, site: u32) {
        let end = address.saturating_add(bytes).min(1 << ADDRESS_BITS);
        let mut at = address;
        while at < end {
            let stop = end.min((at | (CHUNK_BYTES - 1)) + 1);
            if let Some(chunk) = self.chunk(at) {
                self.fill_chunk(chunk, at, stop, site);
            }
            at = stop;
        }
    }

    fn fill_chunk(&self, chunk: &AtomicU32, from: u64, to: u64, site: u32) {
        let mut word = chunk.load(Ordering::Relaxed);
        if word & PAGE == 0 {
            if to - from == CHUNK_BYTES {
                if word != site {
                    // Fails only if a page came meanwhile: then somebody else has a part of this chunk after all.
                    let _ = chunk.compare_exchange(word, site, Ordering::Relaxed, Ordering::Relaxed);
                }
                return;
            }
            if site == 0 {
                // The part of a large block that is cut off: the rest keeps its name, and this part with it until it is
                // used again.
                return;
            }
            let page = match self.taken.load(Ordering::Relaxed) {
                n if n < PAGES => self.taken.fetch_add(1, Ordering::Relaxed),
                n => n,
            };
            if page >= PAGES {
                return;
            }
            match chunk.compare_exchange(word, PAGE | page, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => word = PAGE | page,
                // The page is lost; this happens once for a chunk and thread at most.
                Err(held) => word = held,
            }
        }
        if word & PAGE == 0 {
            return;
        }
        let mut at = from;
        while at < to {
            self.piece(word & !PAGE, at).store(site, Ordering::Relaxed);
            at += PIECE;
        }
    }

    fn chunk(&self, address: u64) -> Option<&AtomicU32> {
        if address >> ADDRESS_BITS != 0 {
            return None;
        }
        // SAFETY: the address is below `1 << ADDRESS_BITS`, so that its chunk is below the number of entries.
        Some(unsafe { &*self.chunks.add((address >> CHUNK_SHIFT) as usize) })
    }

    fn piece(&self, page: u32, address: u64) -> &AtomicU32 {
        let page = page.min(PAGES - 1);
        let piece = (address & (CHUNK_BYTES - 1)) / PIECE;
        // SAFETY: the page is below their number, the piece below that of a page's.
        unsafe { &*self.pages.add((u64::from(page) * PIECES + piece) as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x7000_0000_0000;

    #[test]
    fn neighbours_of_16_bytes_are_told_apart() {
        let index = Index::new().unwrap();
        index.set(BASE + 32, 24, 5);
        index.set(BASE + 64, 16, 6);
        let sites = [16, 32, 48, 55, 64, 80].map(|at| index.site_of(BASE + at));
        assert_eq!(sites, [0, 5, 5, 5, 6, 0]);
        index.forget(BASE + 32, 32);
        assert_eq!([32, 48, 64].map(|at| index.site_of(BASE + at)), [0, 0, 6]);
    }

    #[test]
    fn large_blocks_are_entered_by_chunks() {
        let index = Index::new().unwrap();
        index.set(BASE + 16, 3 * CHUNK_BYTES, 7);
        for at in [16, CHUNK_BYTES, 2 * CHUNK_BYTES + 4000, 3 * CHUNK_BYTES] {
            assert_eq!(index.site_of(BASE + at), 7, "{at}");
        }
        assert_eq!((index.site_of(BASE), index.site_of(BASE + 3 * CHUNK_BYTES + 16)), (0, 0));
        index.forget(BASE + 16, 3 * CHUNK_BYTES);
        assert_eq!([16, CHUNK_BYTES, 3 * CHUNK_BYTES].map(|at| index.site_of(BASE + at)), [0; 3]);
        // The freed middle serves a small block, and the name of the large one does not come back.
        index.set(BASE + CHUNK_BYTES + 64, 16, 8);
        assert_eq!([0, 64, 80].map(|at| index.site_of(BASE + CHUNK_BYTES + at)), [0, 8, 0]);
    }

    #[test]
    fn addresses_outside_of_the_directory_have_no_site() {
        let index = Index::new().unwrap();
        index.set(u64::MAX - 100, 100, 3);
        assert_eq!((index.site_of(u64::MAX - 50), index.site_of(1 << ADDRESS_BITS)), (0, 0));
    }
}
