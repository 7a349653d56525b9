//! Memory for cells: huge pages where the cells are dense, small pages where they are sparse.
//!
//! A chunk has cells for 16 KiB of memory, of which a program may use a few bytes. In small pages the cells then take
//! what the used memory takes; in a huge page a program that touches a page in each 16 KiB would pay four times that.
//! Where a program goes on as it did, the block of cells that a thread has just filled tells which kind the next one is
//! to be. In hashed mode the chunks that are used tell it ([`threadtalk_sigmem::Foresee`]).

use crate::memory;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_sigmem::Segment;

/// A block: the cells of 2 MiB of memory, which is a huge page.
const BLOCK: u64 = 2 << 20;
/// Blocks reserved at a time.
const RESERVED: u64 = 32;
/// A block is dense if this many of its pages, of [`PAGES`], are in use: the next one wastes a quarter then, if it is
/// no better.
const DENSE: usize = 410;
const PAGE: u64 = 4096;
/// Small pages of a block.
const PAGES: usize = (BLOCK / PAGE) as usize;
/// Cells looked at in each page: one in 128 bytes.
const LOOKS: usize = 32;

/// Reserved blocks: the address of the next one, whose low bits are free, with how many are left; 0 = none.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A block for a thread that has used up another one (`None`: its first). `None`: no memory.
pub fn block(used_up: Option<Segment>, huge_pages: bool) -> Option<Segment> {
    let base = take()?;
    // SAFETY: a block of cells as this function gave it out, mapped for ever.
    if huge_pages && used_up.is_some_and(|segment| unsafe { is_dense(segment.base) }) {
        memory::prefer_huge_pages(NonNull::new(core::ptr::with_exposed_provenance_mut(base as usize))?, BLOCK as usize);
    }
    Some(Segment { base, chunks: BLOCK / CHUNK_BYTES })
}

/// Hashed mode: chooses the pages of a block of cells that nobody uses yet.
pub fn foresee(block: Segment, dense: bool) {
    let at = core::ptr::with_exposed_provenance_mut(block.base as usize);
    if let Some(at) = NonNull::new(at) {
        let choose = if dense { memory::prefer_huge_pages } else { memory::prefer_small_pages };
        choose(at, (block.chunks * CHUNK_BYTES) as usize);
    }
}

fn take() -> Option<u64> {
    let mut next = NEXT.load(Ordering::Relaxed);
    loop {
        let (base, left) = (next & !(BLOCK - 1), next & (BLOCK - 1));
        let (taken, rest, fresh) = if left > 0 {
            (base, pack(base + BLOCK, left - 1), None)
        } else {
            let fresh = memory::reserve_aligned((RESERVED * BLOCK) as usize, BLOCK as usize)?;
            let base = fresh.as_ptr().expose_provenance() as u64;
            (base, pack(base + BLOCK, RESERVED - 1), Some(fresh))
        };
        // Relaxed: the blocks are zeroed memory that nobody wrote; only their numbers go from thread to thread.
        match NEXT.compare_exchange_weak(next, rest, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(taken),
            Err(now) => next = now,
        }
        if let Some(fresh) = fresh {
            // SAFETY: reserved above, and nobody has seen it.
            unsafe { memory::release(fresh, (RESERVED * BLOCK) as usize) };
        }
    }
}

/// Addresses of blocks are multiples of a block: their low bits have room for a number.
fn pack(base: u64, left: u64) -> u64 {
    if left == 0 { 0 } else { base | left }
}

/// Whether most pages of a block hold cells in use. A page with few of them may pass for empty: for such, small pages
/// are right.
///
/// # Safety
/// `block` is the address of a block that [`block`] returned.
unsafe fn is_dense(block: u64) -> bool {
    let used = |page: &usize| {
        (0..LOOKS).any(|look| {
            let cell = block + *page as u64 * PAGE + look as u64 * (PAGE / LOOKS as u64);
            // SAFETY: an aligned word of the block; all users of cells use atomics.
            let cell = unsafe { AtomicU32::from_ptr(core::ptr::with_exposed_provenance_mut(cell as usize)) };
            cell.load(Ordering::Relaxed) != 0
        })
    };
    (0..PAGES).filter(used).count() >= DENSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::vec::Vec;

    #[test]
    fn no_block_is_given_out_twice() {
        let takers: Vec<_> =
            (0..4).map(|_| std::thread::spawn(|| (0..50).map(|_| take().unwrap()).collect::<Vec<_>>())).collect();
        let blocks: Vec<u64> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
        assert!(blocks.iter().all(|block| block % BLOCK == 0));
        assert_eq!(blocks.iter().collect::<HashSet<_>>().len(), 200);
    }

    #[test]
    fn a_block_is_dense_when_most_of_its_pages_are() {
        let block = block(None, true).unwrap().base;
        let mark = |page: usize| {
            // SAFETY: a word of the block, which is this test's alone.
            unsafe { core::ptr::with_exposed_provenance_mut::<u32>(block as usize + page * 4096).write(1) };
        };
        // SAFETY: a block.
        let dense = || unsafe { is_dense(block) };
        assert!(!dense());
        (0..PAGES).step_by((CHUNK_BYTES / PAGE) as usize).for_each(mark);
        assert!(!dense(), "one page in each chunk");
        (0..DENSE).for_each(mark);
        assert!(dense());
    }
}
