//! The signature memory: directory and pool together.

use crate::directory::{Directory, Run, chunk_base};
use crate::pool::{ChunkStock, GROUP, Pool};
use crate::primitive::AtomicU32;
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};

/// Cells for all memory, made when first asked for.
pub struct Signature {
    /// Where the cells are.
    pub directory: Directory,
    /// Where they come from.
    pub pool: Pool,
}

impl Signature {
    /// Both parts must be new.
    pub fn new(directory: Directory, pool: Pool) -> Self {
        Self { directory, pool }
    }

    /// Sees to it that the chunk of `address` has cells and returns the directory's entry for it.
    /// `None`: outside the address space, or no memory.
    pub fn map(&self, address: u64, stock: &mut ChunkStock) -> Option<u64> {
        if let Some(offset) = self.directory.offset(address) {
            return Some(offset);
        }
        self.map_new(address, stock)
    }

    #[cold]
    fn map_new(&self, address: u64, stock: &mut ChunkStock) -> Option<u64> {
        if !self.directory.covers(address) {
            return None;
        }
        let beside = self.directory.beside(address, GROUP);
        let offer = self.pool.offer(address >> CHUNK_SHIFT, beside, stock)?;
        if offer.cells == chunk_base(address) {
            // A profiled access to the pool itself: its entry would be 0, which means "no cells".
            self.pool.leave(offer);
            return None;
        }
        match self.directory.publish(address, offer.cells) {
            Ok(offset) => {
                self.pool.keep(offer, stock);
                Some(offset)
            }
            Err(offset) => {
                self.pool.leave(offer);
                Some(offset)
            }
        }
    }

    /// The cell of the granule that holds the byte at `address`; made if need be. `None` as for [`Signature::map`].
    #[inline]
    pub fn cell(&self, address: u64, stock: &mut ChunkStock) -> Option<&AtomicU32> {
        let offset = self.map(address, stock)?;
        let cell = (address & !(GRANULE - 1)).wrapping_add(offset);
        // SAFETY: an entry of the directory leads from a granule to its cell in memory that the pool's makers
        // promised to keep.
        Some(unsafe { &*core::ptr::with_exposed_provenance::<AtomicU32>(cell as usize) })
    }

    /// The range chunk by chunk, as [`Directory::runs`], but with cells made where there are none: a run is
    /// unmapped only when there is no memory.
    pub fn cells<'a>(&'a self, address: u64, bytes: u64, stock: &'a mut ChunkStock) -> impl Iterator<Item = Run<'a>> {
        let mut runs = self.directory.runs(address, bytes);
        core::iter::from_fn(move || {
            self.map(runs.position()?, stock);
            runs.next()
        })
    }

    /// The elements of every granule that the range touches lose their writer.
    pub fn clear(&self, address: u64, bytes: u64) {
        self.directory.clear(address, bytes);
    }

    /// Whether the cells of `address` serve other memory as well, so that an event found there may be false.
    #[inline]
    pub fn is_aliased(&self, address: u64) -> bool {
        self.directory.offset(address).is_some_and(|offset| self.pool.is_shared(address.wrapping_add(offset)))
    }
}
