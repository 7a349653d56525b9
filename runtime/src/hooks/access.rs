//! Scalar accesses on the slow path: what the inlined code could not settle.

use super::event::{self, Event, event};
use super::{again, open};
use crate::distance::watch::BLOCK;
use crate::process::{Process, accuracy};
use crate::thread::Thread;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_sigmem::marks::mark;
use threadtalk_sigmem::open::OpenName;
use threadtalk_sigmem::{Alike, FreshId, Read, Run};

/// A read of `BYTES` bytes: one event for each granule that it touches.
#[inline(always)]
pub fn read<const BYTES: u64>(t: &mut Thread, p: &Process, address: u64, site: u32) {
    if p.is_paused() {
        return;
    }
    match BYTES {
        1 | 2 | 4 => read_aligned::<BYTES, 1>(t, p, address, site),
        8 => read_aligned::<BYTES, 2>(t, p, address, site),
        16 => read_aligned::<BYTES, 4>(t, p, address, site),
        32 => read_aligned::<BYTES, 8>(t, p, address, site),
        64 => read_aligned::<BYTES, 16>(t, p, address, site),
        _ => read_granules::<BYTES>(t, p, address, site),
    }
}

/// The same, of an access whose granules are `CELLS` if it is aligned.
#[inline(always)]
fn read_aligned<const BYTES: u64, const CELLS: usize>(t: &mut Thread, p: &Process, address: u64, site: u32) {
    let offset = p.signature.directory.offset(address).filter(|_| address.is_multiple_of(BYTES));
    let Some(offset) = offset else { return read_granules::<BYTES>(t, p, address, site) };
    let element = address & !(GRANULE - 1);
    let first = core::ptr::with_exposed_provenance::<[AtomicU32; CELLS]>(element.wrapping_add(offset) as usize);
    // SAFETY: an aligned access lies in one chunk, whose cells follow each other and live for ever.
    let cells = unsafe { &*first };
    let settled = again::settle(t, p, cells, (element, site), CELLS <= 2);
    if settled < CELLS {
        let rest = cells.get(settled..).unwrap_or(&[]);
        read_cells(t, p, rest, element + settled as u64 * GRANULE, site);
    }
}

/// The same, of any access.
#[inline(never)]
fn read_granules<const BYTES: u64>(t: &mut Thread, p: &Process, address: u64, site: u32) {
    let mut stock = core::mem::take(&mut t.chunks);
    for run in p.signature.cells(address, BYTES, &mut stock) {
        if let Run::Mapped { address, cells } = run {
            read_by_blocks(t, p, cells, address, site);
        }
    }
    t.chunks = stock;
}

/// The reads of neighbouring elements that may lie in several blocks: half of the vectors of an array that is aligned
/// as `malloc` does it.
fn read_by_blocks(t: &mut Thread, p: &Process, cells: &[AtomicU32], mut element: u64, site: u32) {
    let mut rest = cells;
    while !rest.is_empty() {
        let room = BLOCK - element / GRANULE % BLOCK;
        let (block, others) = rest.split_at_checked(room as usize).unwrap_or((rest, &[]));
        let settled = again::settle(t, p, block, (element, site), false);
        if let Some(unsettled @ [_, ..]) = block.get(settled..) {
            read_cells(t, p, unsettled, element + settled as u64 * GRANULE, site);
        }
        element += block.len() as u64 * GRANULE;
        rest = others;
    }
}

/// Reads of neighbouring elements from `element` on, in this order. Of several cells, the inlined code has only found
/// that they are not all in one state that it knows.
#[inline(never)]
pub fn read_cells(t: &mut Thread, p: &Process, cells: &[AtomicU32], element: u64, site: u32) {
    let mut at = 0;
    while let Some(rest @ [first, ..]) = cells.get(at..) {
        let element = element + at as u64 * GRANULE;
        at += if is_settled(t, first, element, site) { 1 } else { read_alike(t, p, rest, element, site) };
    }
}

/// The read of the first of these elements, and of those behind it as far as theirs are true communications of the same
/// kind. Returns how many were read.
#[inline]
pub fn read_alike(t: &mut Thread, p: &Process, cells: &[AtomicU32], element: u64, site: u32) -> usize {
    let Some(Alike { writer, from, state, read }) = t.view.read_alike(&p.states, cells) else {
        if let Some(first) = cells.first() {
            read_cell(t, p, first, element, site);
        }
        return 1;
    };
    p.claims.touch(element, element + read as u64 * GRANULE);
    event::communications(t, p, cells.get(..read).unwrap_or(&[]), element, site, (writer, from, state));
    read
}

/// Settles the read of an element that is own, or in a state that the event cache knows, with the mark of another
/// thread or without: with 16 threads some elements are marked nearly always.
#[inline]
fn is_settled(t: &Thread, cell: &AtomicU32, element: u64, site: u32) -> bool {
    let found = cell.load(Ordering::Relaxed);
    if t.header.is_own(found) {
        return true;
    }
    let state = found & !mark(found);
    let Some(counter) = t.known(state, site) else { return false };
    if state != found && t.waits_for(element) {
        return false;
    }
    // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in them.
    let counter = unsafe { &mut *counter };
    let free = counter.rar.saturating_add(1) < counter.next;
    counter.rar += u64::from(free);
    free
}

/// A write of `BYTES` bytes.
#[inline(always)]
pub fn write<const BYTES: u64>(t: &mut Thread, p: &Process, address: u64, site: u32) {
    write_cells(t, p, (address, BYTES), site);
}

/// A write of some bytes, at least one.
#[inline(always)]
pub fn write_cells(t: &mut Thread, p: &Process, (address, bytes): (u64, u64), site: u32) {
    let fresh = fresh_id(t, p, site);
    let last = address.saturating_add(bytes - 1);
    let mut granule = address & !(GRANULE - 1);
    while granule <= last {
        if let Some(cell) = p.signature.cell(granule, &mut t.chunks) {
            t.enter(p, granule);
            let before = cell.load(Ordering::Relaxed);
            if before != NONE && !t.header.is_own(before) {
                t.overwrites(granule, granule + GRANULE);
            }
            threadtalk_sigmem::write(cell, fresh);
        }
        granule += GRANULE;
    }
}

/// The id that a write of this thread at a global site leaves. The inlined code adds the module's own base for writes;
/// hooks get the global number, and what does not fit is the first number without a line.
#[inline]
pub fn fresh_id(t: &Thread, p: &Process, site: u32) -> FreshId {
    // Site 0, a write of the runtime's own in the caller's name (realloc), has no line; of the first thread alone it
    // would be the name of "nobody".
    let numbered = if site == 0 { p.lineless_sites } else { site.min(p.lineless_sites) };
    FreshId(t.header.write_base + numbered)
}

/// The read of one element.
#[inline]
pub fn read_cell(t: &mut Thread, p: &Process, cell: &AtomicU32, element: u64, site: u32) {
    match t.view.read(&p.states, cell) {
        Read::Cold => t.remember_no_event(NONE, site),
        Read::Own { state, tracked: false } if state & SHARED != 0 => {
            t.remember_no_event(state, site);
            match OpenName::of(state) {
                Some(name) => open::put_own(t, name, site),
                None => {
                    let nobody = t.idle_counter().cast();
                    t.firsts.put_reuse(state, site, t.context, nobody);
                }
            }
        }
        Read::Own { .. } => {}
        Read::Communication { writer, state, tracked } => {
            p.claims.touch(element, element + GRANULE);
            event(t, p, cell, element, site, (writer, Event { state, tracked, raw: true }));
        }
        Read::Reuse { writer, state, tracked } => {
            event(t, p, cell, element, site, (writer, Event { state, tracked, raw: false }));
        }
        Read::Exhausted { writer, state, tracked } => {
            p.header_count(accuracy::STATES_EXHAUSTED, 1);
            event(t, p, cell, element, site, (writer, Event { state, tracked, raw: false }));
        }
    }
}
