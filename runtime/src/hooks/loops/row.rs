//! The usual loop: each of its accesses reads a row of one state.

use super::{dense, granules_each, new_rows, plain};
use crate::hooks::scan::{all_agree, prefetch_line};
use crate::process::Process;
use crate::thread::{Thread, memos};
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, WRITE};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::{CHUNK_BYTES, GRANULE};

/// Loops with more rows have fewer of each kind of question than of elements.
const MOST: usize = 4;
/// Bytes of a cache line.
const LINE: u64 = 64;
/// Of longer rows it is worth knowing what they are beyond the loop ([`Quiet`](crate::thread::quiet::Quiet),
/// [`Steady`](crate::thread::steady::Steady)).
const MOST_BYTES: u64 = 4096;
/// Bytes at the start of each row that are asked for at once, cells and data, before the first cell says what the row
/// is: rows that pointers lead to are where no hardware has foreseen them. Longer ones it has found by then.
const AHEAD: u64 = 512;

/// Counts the loop if the cells of each row are all own, or in a state of which reads are no events or reuse that this
/// thread knows, and no sample is due. What [`super::settle`] does otherwise takes as long for two dozen elements as
/// the elements themselves.
#[inline]
pub fn settle(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    match accesses {
        [one] if !p.is_paused() => {
            row(t, p, one, iterations).is_some_and(|found| found.is_none_or(|reuse| count(t, &[reuse])))
        }
        several => foreign(t, p, several, iterations),
    }
}

/// The same of rows that are not all own: of own ones more is known than what their cells tell. Such as are not in one
/// state that is known are [read](new_rows). Not made part of the question of one row, which is short.
#[inline(never)]
pub fn foreign(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    let own = |access: &Access| {
        let cell = p.signature.directory.translate(access.address);
        // SAFETY: the directory leads to cells that live for ever.
        let state = cell.map_or(NONE, |cell| unsafe { &*cell }.load(Ordering::Relaxed));
        t.header.is_own(state)
    };
    if p.is_paused() || accesses.len() > MOST {
        return false;
    }
    // The cells are looked at only after all that the accesses themselves tell.
    if accesses.iter().any(|access| granules(access, iterations).is_none()) {
        return false;
    }
    for access in accesses {
        ahead(p, access, iterations);
    }
    if accesses.iter().all(own) {
        return false;
    }
    let mut reuse = [(core::ptr::null_mut(), 0); MOST];
    let mut used = 0;
    for access in accesses {
        let Some(found) = row(t, p, access, iterations) else {
            return new_rows::read(t, p, accesses, iterations);
        };
        if let Some(found) = found {
            let Some(place) = reuse.get_mut(used) else { return false };
            *place = found;
            used += 1;
        }
    }
    reuse.get(..used).is_some_and(|reuse| reuse.is_empty() || count(t, reuse))
}

/// Asks for a row's cells, and for the data that the loop is about to read.
#[inline(always)]
fn ahead(p: &Process, access: &Access, iterations: u64) {
    let Some(cells) = p.signature.directory.translate(access.address) else { return };
    let bytes = (iterations * u64::from(access.bytes)).min(AHEAD);
    for line in 0..bytes.div_ceil(LINE) {
        prefetch_line(cells.cast::<u32>().wrapping_byte_add((line * LINE) as usize));
        prefetch_line((access.address + line * LINE) as *const u32);
    }
}

/// So many reads of granules count there.
pub type Reuse = (*mut EventCounter, u64);

/// The granules of a row that is read, lies in one chunk and is short, and how often they are read together: parts of
/// granules are an event each, and so are both parts of a granule that two accesses share.
#[inline(always)]
fn granules(access: &Access, iterations: u64) -> Option<(u64, u64)> {
    // 0 iterations: 2^64 of them, in the pass's arithmetic.
    if access.flags & WRITE != 0 || access.stride <= 0 || iterations == 0 || iterations > MOST_BYTES {
        return None;
    }
    let bytes = iterations * u64::from(access.bytes);
    let fits = bytes <= MOST_BYTES && access.address % CHUNK_BYTES + bytes <= CHUNK_BYTES;
    if fits && dense(access) {
        let granules = bytes / GRANULE;
        return Some((granules, granules));
    }
    let each = in_parts(access).filter(|_| fits)?;
    Some(((access.address % GRANULE + bytes).div_ceil(GRANULE), each * iterations))
}

/// How many granules an access reads in each iteration if it reads all bytes of a row, one after the other, but not
/// granule after granule: parts of them, or such as begin inside of one.
#[inline]
pub fn in_parts(access: &Access) -> Option<u64> {
    if access.stride == i64::from(access.bytes) { granules_each(access) } else { None }
}

/// The events of a row that is in one state; `None`: it may not be, or what it is has to be found out. Always part of
/// its callers: as a function of its own it makes k-means 2 % slower.
#[inline(always)]
fn row(t: &Thread, p: &Process, access: &Access, iterations: u64) -> Option<Option<Reuse>> {
    let (granules, reads) = granules(access, iterations)?;
    let cells = p.signature.directory.translate(access.address)?;
    // SAFETY: the row lies in one chunk, whose cells are contiguous and live for ever.
    let cells = plain(unsafe { slice::from_raw_parts(cells.cast::<AtomicU32>(), granules as usize) });
    let &state = cells.first()?;
    let header = &t.header;
    if header.is_own(state) {
        return all_agree(cells, header.own_base, !(header.own_span - 1)).then_some(None);
    }
    let counter = if state == NONE { t.idle_counter() } else { t.counter_of(state, access.site)? };
    let found = (counter != t.idle_counter()).then_some((counter, reads));
    all_agree(cells, state, u32::MAX).then_some(found)
}

/// Counts all of it, or nothing if some of it is to be sampled.
#[inline(always)]
pub fn count(t: &mut Thread, reuse: &[Reuse]) -> bool {
    memos::settle(memos::used(&mut t.header));
    // Several rows may count in one counter: the last one to do so sees whether all of them have room.
    let mut free = true;
    for &(counter, granules) in reuse {
        // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in
        // them.
        let counter = unsafe { &mut *counter };
        counter.rar = counter.rar.saturating_add(granules);
        free &= counter.rar < counter.next;
    }
    if !free {
        for &(counter, granules) in reuse {
            // SAFETY: as above.
            unsafe { (*counter).rar -= granules };
        }
    }
    free
}
