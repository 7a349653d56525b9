//! Whole loops: all accesses counted before the loop runs, if their order does not matter.
//!
//! The order matters where something other than a counter would change: a first read, a state that this thread does not know yet, a
//! trace that is being followed, an element that a distance waits for, a value of another thread that the loop overwrites. Then the
//! loop's instrumented copy runs. Whether a loop is settled here is decided before anything is counted.
//!
//! While events are sampled (`crd=auto`), one loop in [`IN_ORDER`] that has any is left to its instrumented copy: samples start there,
//! and they end there because a watched element's cell is marked.

use super::access::fresh_id;
use super::scan::{equal_prefix, own_prefix};
use crate::process::Process;
use crate::thread::{Thread, memos};
use core::slice;
use core::sync::atomic::AtomicU32;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, MOST_ACCESSES, WRITE};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};
use threadtalk_profile::layout::CrdMode;
use threadtalk_sigmem::Run;

/// One in so many loops with events runs with hooks.
const IN_ORDER: u64 = 16;
/// Different (state, site) pairs with events in a loop.
const MOST_COUNTS: usize = 16;
/// Gaps up to so many times the access are looked at together with it: 16 cells take as long as one by itself.
const NEAR: u64 = 8;

/// Events that the loop makes.
struct Counts {
    entries: [(*mut EventCounter, u64); MOST_COUNTS],
    len: usize,
}

/// An access as a range: `first ..= last` byte over all iterations.
#[derive(Clone, Copy)]
struct Span {
    first: u64,
    last: u64,
}

/// See [`threadtalk_abi::hooks::LOOP`].
pub fn settle(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    // 0 iterations: 2^64 of them, in the pass's arithmetic.
    if p.is_paused() || accesses.len() > MOST_ACCESSES || iterations == 0 {
        return false;
    }
    let mut counts = Counts { entries: [(core::ptr::null_mut(), 0); MOST_COUNTS], len: 0 };
    for (i, access) in accesses.iter().enumerate() {
        let Some(span) = span(access, iterations) else { return false };
        if access.flags & WRITE != 0 {
            continue;
        }
        let before = counts.len;
        if !read(t, p, access, span, iterations, &mut counts) {
            return false;
        }
        // Another thread's value that the loop overwrites is an event before and none after: order matters.
        if counts.len > before && overwritten(accesses, iterations, i, span) {
            return false;
        }
    }
    if counts.len > 0 && p.plan.mode != CrdMode::Off {
        memos::settle(memos::used(&mut t.header));
        if t.traces.one_in(IN_ORDER) {
            return false;
        }
        if counts.used().iter().any(|(counter, n)| {
            // SAFETY: counters from this thread's event cache, mapped for the life of the process.
            let c = unsafe { &**counter };
            c.rar.saturating_add(*n) >= c.next
        }) {
            return false;
        }
    }
    for (counter, n) in counts.used() {
        // SAFETY: as above.
        unsafe { (**counter).rar += n };
    }
    for access in accesses.iter().filter(|a| a.flags & WRITE != 0) {
        write(t, p, access, iterations);
    }
    true
}

impl Counts {
    fn used(&self) -> &[(*mut EventCounter, u64)] {
        self.entries.get(..self.len).unwrap_or(&[])
    }

    fn add(&mut self, counter: *mut EventCounter, n: u64) -> bool {
        let known = self.entries.iter_mut().take(self.len).find(|e| e.0 == counter);
        if let Some(entry) = known {
            entry.1 += n;
            return true;
        }
        match self.entries.get_mut(self.len) {
            Some(free) => {
                *free = (counter, n);
                self.len += 1;
                true
            }
            None => false,
        }
    }
}

/// `None` if the addresses wrap around or leave the address space.
fn span(access: &Access, iterations: u64) -> Option<Span> {
    let reach = i128::from(access.stride) * i128::from(iterations - 1);
    let start = i128::from(access.address);
    let (first, last) = (start + reach.min(0), start + reach.max(0) + i128::from(access.bytes) - 1);
    let limit = 1i128 << threadtalk_abi::ADDRESS_BITS;
    (first >= 0 && last < limit && access.bytes > 0).then_some(Span { first: first as u64, last: last as u64 })
}

fn overwritten(accesses: &[Access], iterations: u64, reader: usize, read: Span) -> bool {
    accesses.iter().enumerate().any(|(i, a)| {
        i != reader
            && a.flags & WRITE != 0
            && span(a, iterations)
                .is_none_or(|w| w.first <= read.last | (GRANULE - 1) && read.first & !(GRANULE - 1) <= w.last)
    })
}

/// Whether the access covers its span without gaps, each granule as often as `times` says.
fn dense(access: &Access, iterations: u64) -> Option<u64> {
    if access.stride == 0 {
        Some(iterations)
    } else if access.stride.unsigned_abs() == u64::from(access.bytes)
        && u64::from(access.bytes).is_multiple_of(GRANULE)
        && access.address.is_multiple_of(GRANULE)
    {
        Some(1)
    } else {
        None
    }
}

fn read(t: &Thread, p: &Process, access: &Access, span: Span, iterations: u64, counts: &mut Counts) -> bool {
    match dense(access, iterations) {
        Some(times) => read_range(t, p, span.first, span.last - span.first + 1, times, access.site, counts),
        None => {
            let whole = [access.address, u64::from(access.bytes), access.stride.unsigned_abs()];
            let whole = whole.iter().all(|n| n.is_multiple_of(GRANULE));
            if whole && access.stride.unsigned_abs() <= NEAR * u64::from(access.bytes) && apart(access) {
                read_near(t, p, access, span, counts)
            } else {
                read_strided(t, p, access, iterations, counts)
            }
        }
    }
}

/// Whether no granule is accessed in two iterations.
fn apart(access: &Access) -> bool {
    access.stride.unsigned_abs() >= u64::from(access.bytes)
}

/// Accesses with gaps, looked at together with the gaps: where the cells are own, which is nearly always nearly all of them, the gaps
/// do not matter; elsewhere the granules that are accessed are counted by their place in the stride.
fn read_near(t: &Thread, p: &Process, access: &Access, span: Span, counts: &mut Counts) -> bool {
    let (stride, bytes) = (access.stride.unsigned_abs(), u64::from(access.bytes));
    for run in p.signature.directory.runs(span.first, span.last - span.first + 1) {
        let Run::Mapped { address, cells } = run else { continue };
        let mut rest = plain(cells);
        let mut at = address;
        while let [first, ..] = rest {
            let (length, events) = match event_counter(t, *first, access.site) {
                Ok(counter) if counter.is_null() && *first != NONE => (stretch(t, rest, *first), None),
                Ok(counter) if counter.is_null() => (1, None),
                known => (1, Some(known)),
            };
            if let Some(known) = events
                && (at - span.first) % stride < bytes
            {
                match known {
                    Ok(counter) if counts.add(counter, 1) => {}
                    _ => return false,
                }
            }
            rest = rest.get(length..).unwrap_or(&[]);
            at += length as u64 * GRANULE;
        }
    }
    true
}

/// How many cells from the start are own, or in the state of the first.
#[inline]
fn stretch(t: &Thread, cells: &[u32], state: u32) -> usize {
    if state.wrapping_sub(t.header.own_base) < t.header.own_span {
        own_prefix(cells, t.header.own_base, t.header.own_span)
    } else {
        equal_prefix(cells, state)
    }
}

/// One access at a time, with the chunk's translation at hand and equal states counted together.
fn read_strided(t: &Thread, p: &Process, access: &Access, iterations: u64, counts: &mut Counts) -> bool {
    let bytes = u64::from(access.bytes);
    let (mut at, mut chunk, mut offset) = (access.address, u64::MAX, 0);
    // The state seen last and where its events go: null for none.
    let (mut last, mut counter, mut pending) = (NONE, core::ptr::null_mut(), 0);
    for _ in 0..iterations {
        if at >> CHUNK_SHIFT != chunk {
            chunk = at >> CHUNK_SHIFT;
            offset = p.signature.directory.offset(at).unwrap_or(0);
        }
        let first = at & !(GRANULE - 1);
        let granules = (at + bytes - 1) / GRANULE - at / GRANULE + 1;
        if (at + bytes - 1) >> CHUNK_SHIFT != chunk {
            if !read_range(t, p, at, bytes, 1, access.site, counts) {
                return false;
            }
        } else if offset != 0 {
            let cells = core::ptr::with_exposed_provenance::<u32>(first.wrapping_add(offset) as usize);
            for i in 0..granules as usize {
                // SAFETY: the access lies in one chunk, which has cells for all its granules.
                let state = unsafe { cells.add(i).read() };
                if state != last {
                    if pending > 0 && !counts.add(counter, pending) {
                        return false;
                    }
                    (last, pending) = (state, 0);
                    counter = match event_counter(t, state, access.site) {
                        Ok(counter) => counter,
                        Err(Unsettled) => return false,
                    };
                }
                pending += u64::from(!counter.is_null());
            }
        }
        at = at.wrapping_add_signed(access.stride);
    }
    pending == 0 || counts.add(counter, pending)
}

/// The order of events matters.
struct Unsettled;

/// Where reads of cells in `state` count; null if they are no events.
#[inline]
fn event_counter(t: &Thread, state: u32, site: u32) -> Result<*mut EventCounter, Unsettled> {
    if state == NONE || state.wrapping_sub(t.header.own_base) < t.header.own_span {
        return Ok(core::ptr::null_mut());
    }
    match t.known(state, site) {
        None => Err(Unsettled),
        Some(counter) if counter == t.idle_counter() => Ok(core::ptr::null_mut()),
        Some(counter) => Ok(counter),
    }
}

#[inline]
fn read_range(t: &Thread, p: &Process, address: u64, bytes: u64, times: u64, site: u32, counts: &mut Counts) -> bool {
    for run in p.signature.directory.runs(address, bytes) {
        // Memory without cells has no writer: reads of it are no events.
        let Run::Mapped { cells, .. } = run else { continue };
        if !read_cells(t, cells, times, site, counts) {
            return false;
        }
    }
    true
}

/// Cells in stretches of equal states: most ranges are one stretch.
fn read_cells(t: &Thread, cells: &[AtomicU32], times: u64, site: u32, counts: &mut Counts) -> bool {
    let mut rest = plain(cells);
    while let [first, ..] = rest {
        let state = *first;
        let length = stretch(t, rest, state);
        match event_counter(t, state, site) {
            Err(Unsettled) => return false,
            Ok(counter) if counter.is_null() => {}
            Ok(counter) => {
                if !counts.add(counter, times * length as u64) {
                    return false;
                }
            }
        }
        rest = rest.get(length..).unwrap_or(&[]);
    }
    true
}

/// The cells as plain numbers: relaxed loads that may be joined into vector loads.
fn plain(cells: &[AtomicU32]) -> &[u32] {
    // SAFETY: same layout. In a race-free program no other thread changes these cells during the loop, except readers of the same
    // values, whose exchange of one state for another this thread sees either way; a torn view is not possible for aligned words.
    unsafe { slice::from_raw_parts(cells.as_ptr().cast::<u32>(), cells.len()) }
}

fn write(t: &mut Thread, p: &Process, access: &Access, iterations: u64) {
    let fresh = fresh_id(t, p, access.site).0;
    let Some(span) = span(access, iterations) else { return };
    if dense(access, iterations).is_some() {
        fill(t, p, span.first, span.last - span.first + 1, fresh);
        return;
    }
    let bytes = u64::from(access.bytes);
    let (mut at, mut chunk, mut offset) = (access.address, u64::MAX, 0);
    for _ in 0..iterations {
        let (first, last) = (at & !(GRANULE - 1), at + bytes - 1);
        if last >> CHUNK_SHIFT != chunk {
            // Also makes cells where there are none.
            fill(t, p, at, bytes, fresh);
            chunk = last >> CHUNK_SHIFT;
            offset = p.signature.directory.offset(last).unwrap_or(0);
        } else if first >> CHUNK_SHIFT != chunk {
            fill(t, p, at, bytes, fresh);
        } else if offset != 0 {
            let cells = core::ptr::with_exposed_provenance_mut::<u32>(first.wrapping_add(offset) as usize);
            for i in 0..(last / GRANULE - first / GRANULE + 1) as usize {
                // SAFETY: the access lies in one chunk, which has cells for all its granules.
                unsafe { cells.add(i).write(fresh) };
            }
        }
        at = at.wrapping_add_signed(access.stride);
    }
}

#[inline]
fn fill(t: &mut Thread, p: &Process, address: u64, bytes: u64, fresh: u32) {
    let mut stock = core::mem::take(&mut t.chunks);
    for run in p.signature.cells(address, bytes, &mut stock) {
        let Run::Mapped { cells, .. } = run else { continue };
        // SAFETY: as in `plain`; in a race-free program nobody else touches the cells of memory that this thread is about to write.
        let cells = unsafe { slice::from_raw_parts_mut(cells.as_ptr().cast_mut().cast::<u32>(), cells.len()) };
        cells.fill(fresh);
    }
    t.chunks = stock;
}
