//! The usual loop: one access reads a row of one state.

use super::{dense, plain};
use crate::hooks::scan::{all_agree, prefix};
use crate::process::Process;
use crate::thread::{Thread, memos};
use core::slice;
use core::sync::atomic::AtomicU32;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, WRITE};
use threadtalk_abi::{CHUNK_BYTES, GRANULE};

/// Counts the loop if all its cells are own, or in a state of which reads are no events or reuse that this thread
/// knows, and no sample is due. What [`super::settle`] does otherwise takes as long for two dozen elements as the
/// elements themselves.
pub fn settle(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    let [access] = accesses else { return false };
    if access.flags & WRITE != 0 || access.stride <= 0 || !dense(access) || p.is_paused() {
        return false;
    }
    // 0 iterations: 2^64 of them, in the pass's arithmetic.
    if iterations == 0 || iterations > CHUNK_BYTES {
        return false;
    }
    let bytes = iterations * u64::from(access.bytes);
    if access.address % CHUNK_BYTES + bytes > CHUNK_BYTES {
        return false;
    }
    let Some(cells) = p.signature.directory.translate(access.address) else { return false };
    // SAFETY: the row lies in one chunk, whose cells are contiguous and live for ever.
    let cells = plain(unsafe { slice::from_raw_parts(cells.cast::<AtomicU32>(), (bytes / GRANULE) as usize) });
    let Some(&state) = cells.first() else { return false };
    let header = &t.header;
    if state.wrapping_sub(header.own_base) < header.own_span {
        return agree(cells, header.own_base, !(header.own_span - 1));
    }
    let counter = if state == NONE { Some(t.idle_counter()) } else { t.known(state, access.site) };
    let Some(counter) = counter else { return false };
    if !agree(cells, state, u32::MAX) {
        return false;
    }
    if counter == t.idle_counter() {
        return true;
    }
    memos::settle(memos::used(&mut t.header));
    // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in them.
    let counter = unsafe { &mut *counter };
    let after = counter.rar.saturating_add(cells.len() as u64);
    let free = after < counter.next;
    if free {
        counter.rar = after;
    }
    free
}

/// Cells of longer rows are fetched ahead.
const SHORT: usize = 1024;

#[inline]
fn agree(cells: &[u32], value: u32, mask: u32) -> bool {
    if cells.len() <= SHORT { all_agree(cells, value, mask) } else { prefix(cells, value, mask, 0) == cells.len() }
}
