//! Ranges: what memcpy, string functions and masked vectors touch.

use super::access::{fresh_id, read_cells, write_cells};
use super::loops;
use super::scan::{equal_prefix, own_prefix};
use crate::process::Process;
use crate::thread::Thread;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, WRITE};
use threadtalk_sigmem::Run;

/// So many elements are read one by one: for a structure, what a stream has to know first costs more.
const FEW: usize = 16;
/// Of longer ranges it is worth knowing what was written there before.
const LONG: u64 = 256;

/// Ranges of so many bytes are looked at without more ado: words that are compared, small structures, strings.
const SHORT: u64 = 16 * GRANULE;

/// Whether a short range holds nothing but values of the thread's own and none at all: most do that string functions
/// read, and a hook takes longer than such functions. False is not certain.
#[inline(always)]
pub fn is_quiet(t: &Thread, p: &Process, address: u64, bytes: u64) -> bool {
    bytes < SHORT
        && match p.signature.directory.one_run(address, bytes) {
            // Memory without cells has no writer.
            Some(Run::Unmapped { .. }) => true,
            Some(Run::Mapped { cells, .. }) => are_quiet(t, cells),
            None => bytes == 0,
        }
}

#[inline(always)]
fn are_quiet(t: &Thread, cells: &[AtomicU32]) -> bool {
    cells.iter().map(|cell| cell.load(Ordering::Relaxed)).all(|state| state == NONE || t.header.is_own(state))
}

/// Writes a short range, as inlined code does, if the thread writes in its chunk and keeps nothing in mind of what
/// others wrote there. False: nothing was done.
#[inline(always)]
pub fn write_at_once(t: &Thread, p: &Process, address: u64, bytes: u64, site: u32) -> bool {
    if bytes >= SHORT {
        return false;
    }
    match p.signature.directory.one_run(address, bytes) {
        Some(Run::Mapped { address, cells }) if p.claims.is_entered(&t.writable, address) => {
            if t.has_events_between(address, address + cells.len() as u64 * GRANULE) && !are_quiet(t, cells) {
                return false;
            }
            let fresh = fresh_id(t, p, site);
            cells.iter().for_each(|cell| threadtalk_sigmem::write(cell, fresh));
            true
        }
        _ => bytes == 0,
    }
}

/// Copies a short range of which nothing is to be counted, in the same way.
#[inline(always)]
pub fn copy_at_once(t: &Thread, p: &Process, (destination, source): (u64, u64), bytes: u64, site: u32) -> bool {
    is_quiet(t, p, source, bytes) && write_at_once(t, p, destination, bytes, site)
}

/// The elements of a short range lose their writer. False: it is none.
#[inline(always)]
pub fn clear_at_once(p: &Process, address: u64, bytes: u64) -> bool {
    bytes < SHORT
        && match p.signature.directory.one_run(address, bytes) {
            Some(Run::Unmapped { .. }) => true,
            Some(Run::Mapped { address, cells }) => {
                // Pages of cells that nobody used stay unbacked.
                if cells.iter().any(|cell| cell.load(Ordering::Relaxed) != NONE) {
                    cells.iter().for_each(|cell| cell.store(NONE, Ordering::Relaxed));
                }
                p.claims.died(address, address + cells.len() as u64 * GRANULE);
                true
            }
            None => bytes == 0,
        }
}

/// A read of a range.
pub fn read(t: &mut Thread, p: &Process, address: u64, bytes: u64, site: u32) {
    if p.is_paused() {
        return;
    }
    // Memory without cells has no writer: nothing to count, no cells to make.
    for run in p.signature.directory.runs(address, bytes) {
        let Run::Mapped { address, cells } = run else { continue };
        let quiet = quiet_prefix(t, cells);
        let (from, end) = (address + quiet as u64 * GRANULE, address + cells.len() as u64 * GRANULE);
        match cells.get(quiet..) {
            None | Some([]) => {}
            Some(few) if few.len() <= FEW => read_cells(t, p, few, from, site),
            Some(_) => loops::stream(t, p, (from, end), site),
        }
    }
}

/// How many cells from the start have nothing to count, as most copies are of what the thread itself wrote.
fn quiet_prefix(t: &Thread, cells: &[AtomicU32]) -> usize {
    let mut at = 0;
    while let Some(rest @ [first, ..]) = cells.get(at..) {
        let state = first.load(Ordering::Relaxed);
        at += match t.header.is_own(state) {
            true => own_prefix(loops::plain(rest), t.header.own_base, t.header.own_span, 0),
            false if state == NONE => equal_prefix(loops::plain(rest), NONE),
            false => return at,
        };
    }
    at
}

/// A write of a range.
pub fn write(t: &mut Thread, p: &Process, address: u64, bytes: u64, site: u32) {
    if bytes > LONG {
        let bytewise = Access { address, stride: 1, bytes: 1, flags: WRITE, site, window: 0 };
        return loops::write(t, p, &bytewise, bytes);
    }
    match bytes {
        0 => {}
        // The thread writes in the chunk from now on, and the next one is written at once.
        1..SHORT => write_cells(t, p, (address, bytes), site),
        _ => fill(t, p, address, bytes, fresh_id(t, p, site).0),
    }
}

/// Stores an id in all cells of a range.
#[inline]
pub fn fill(t: &mut Thread, p: &Process, address: u64, bytes: u64, fresh: u32) {
    let mut stock = core::mem::take(&mut t.chunks);
    for run in p.signature.cells(address, bytes, &mut stock) {
        let Run::Mapped { address, cells } = run else { continue };
        t.overwrite(p, (address, address + cells.len() as u64 * GRANULE));
        // SAFETY: as for `loops::plain`; in a race-free program nobody else touches the cells of memory that this
        // thread is about to write.
        let cells = unsafe { slice::from_raw_parts_mut(cells.as_ptr().cast_mut().cast::<u32>(), cells.len()) };
        cells.fill(fresh);
    }
    t.chunks = stock;
}

/// Calls `access` with the address and the bytes of active lanes: of those behind each other at once, if none shares a
/// granule with the next.
pub fn masked(address: u64, bytes: u64, mask: u64, mut access: impl FnMut(u64, u64)) {
    let are_whole = (address | bytes).is_multiple_of(GRANULE);
    let mut rest = mask;
    while rest != 0 {
        let first = rest.trailing_zeros();
        let lanes = if are_whole { (rest >> first).trailing_ones() } else { 1 };
        access(address + u64::from(first) * bytes, u64::from(lanes) * bytes);
        rest &= u64::MAX.checked_shl(first + lanes).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn lanes_behind_each_other_are_one_range_if_they_are_whole() {
        let ranges = |address, bytes, mask| {
            let mut ranges = Vec::new();
            masked(address, bytes, mask, |from, bytes| ranges.push((from, bytes)));
            ranges
        };
        assert_eq!(ranges(64, 4, 0b1101_0110), [(68, 8), (80, 4), (88, 8)]);
        assert_eq!(ranges(64, 8, u64::MAX), [(64, 512)]);
        assert_eq!(ranges(64, 4, 1 << 63 | 1), [(64, 4), (316, 4)]);
        assert_eq!(ranges(64, 2, 0b11), [(64, 2), (66, 2)]);
        assert_eq!(ranges(66, 4, 0b11), [(66, 4), (70, 4)]);
        assert_eq!(ranges(64, 4, 0), []);
    }
}
