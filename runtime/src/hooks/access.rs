//! Scalar accesses on the slow path: what the inlined code could not settle.

use crate::distance::trace::{NO_TRACE, Verdict};
use crate::events::EventKey;
use crate::process::{Process, accuracy};
use crate::thread::{Thread, memos};
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::{NONE, SHARED, TRACKED};
use threadtalk_profile::layout::{CrdMode, EventRecord, event_flags};
use threadtalk_sigmem::{FreshId, Read, track, untrack};

/// A read of `BYTES` bytes: one event for each granule that it touches.
#[inline(always)]
pub fn read<const BYTES: u64>(t: &mut Thread, p: &Process, address: u64, site: u32) {
    if p.is_paused() {
        return;
    }
    let last = address.saturating_add(BYTES - 1);
    let mut granule = address & !(GRANULE - 1);
    while granule <= last {
        // Of several cells, the inlined code has only found that they are not all in one state that it knows.
        if let Some(cell) = p.signature.cell(granule, &mut t.chunks)
            && (BYTES <= GRANULE || !is_settled(t, cell, site))
        {
            read_cell(t, p, cell, granule, site);
        }
        granule += GRANULE;
    }
}

/// Settles the read of an element that is own, or in a state that the event cache knows.
#[inline]
fn is_settled(t: &Thread, cell: &AtomicU32, site: u32) -> bool {
    let state = cell.load(Ordering::Relaxed);
    if state.wrapping_sub(t.header.own_base) < t.header.own_span {
        return true;
    }
    let Some(counter) = t.known(state, site) else { return false };
    // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in them.
    let counter = unsafe { &mut *counter };
    let free = counter.rar.saturating_add(1) < counter.next;
    counter.rar += u64::from(free);
    free
}

/// A write of `BYTES` bytes.
#[inline(always)]
pub fn write<const BYTES: u64>(t: &mut Thread, p: &Process, address: u64, site: u32) {
    let fresh = fresh_id(t, p, site);
    let last = address.saturating_add(BYTES - 1);
    let mut granule = address & !(GRANULE - 1);
    while granule <= last {
        if let Some(cell) = p.signature.cell(granule, &mut t.chunks) {
            threadtalk_sigmem::write(cell, fresh);
        }
        granule += GRANULE;
    }
}

/// The id that a write of this thread at a global site leaves. The inlined code adds the module's own base for writes; hooks get the
/// global number, and what does not fit is the first number without a line.
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
        Read::Own { state, tracked: false } if state & SHARED != 0 => t.remember_no_event(state, site),
        Read::Own { .. } => {}
        Read::Communication { writer, state, tracked } => {
            event(t, p, cell, element, site, Event { writer, state, tracked, raw: true });
        }
        Read::Reuse { writer, state, tracked } => {
            event(t, p, cell, element, site, Event { writer, state, tracked, raw: false });
        }
        Read::Exhausted { writer, state, tracked } => {
            p.header_count(accuracy::STATES_EXHAUSTED, 1);
            event(t, p, cell, element, site, Event { writer, state, tracked, raw: false });
        }
    }
}

struct Event {
    writer: FreshId,
    state: u32,
    tracked: bool,
    raw: bool,
}

#[inline]
fn event(t: &mut Thread, p: &Process, cell: &AtomicU32, element: u64, site: u32, e: Event) {
    check_alias(t, p, element);
    let key = EventKey { written: e.writer.0, site, context: t.context };
    let Some(record) = find_record(t, p, key) else { return };
    // SAFETY: records of this thread's table are mapped for the life of the process, and only this thread counts in them.
    unsafe {
        if e.raw {
            (*record).raw += 1;
            look_up(t, p, site, element);
        } else {
            (*record).rar += 1;
        }
    }
    let verdict = if p.plan.mode == CrdMode::Off {
        Verdict::Count
    } else {
        // SAFETY: `find_record` made the record; the watches belong to this block.
        unsafe {
            let thread = (&mut t.arena, &mut *t.watches, memos::used(&mut t.header), &p.file);
            t.traces.usage(record, element / GRANULE, e.raw, e.tracked, &p.plan, thread)
        }
    };
    match verdict {
        Verdict::Count if !e.tracked => t.remember(e.state, site, record.cast()),
        Verdict::Track { instead_of } => {
            track(cell, e.state);
            instead_of.into_iter().for_each(|other| unmark(p, other));
        }
        Verdict::Untrack => {
            untrack(cell, e.state);
            t.remember(e.state, site, record.cast());
        }
        Verdict::Count | Verdict::Report => {}
    }
}

/// Attributes one communication in `objects` to the allocation of its memory. Intervals are random, because programs read
/// their arrays in turns: every eighth read may always be the same one's.
#[inline]
fn look_up(t: &mut Thread, p: &Process, site: u32, element: u64) {
    if t.until_lookup > 1 {
        t.until_lookup -= 1;
    } else if p.options.objects > 0 {
        p.objects.communication(site, element, p.options.objects);
        // Uniform from 1 to 2n - 1, which is n on average: a step of a linear congruential generator (Knuth, MMIX) whose state is
        // what this thread has checked and where.
        let mixed = (element ^ u64::from(t.checked) << 32).wrapping_mul(6_364_136_223_846_793_005) >> 33;
        t.until_lookup = (mixed % (2 * p.options.objects - 1)) as u32 + 1;
    }
}

#[inline]
fn find_record(t: &mut Thread, p: &Process, key: EventKey) -> Option<*mut EventRecord> {
    match t.table.get(key) {
        Some(record) => Some(record),
        None => new_record(t, p, key),
    }
}

/// A new combination. When the thread's records have used up half of their budget, it counts without the line of the
/// writer: such records are few, one for each reading line and writing thread. They may use the other half, in which the table
/// can double once more.
#[cold]
fn new_record(t: &mut Thread, p: &Process, key: EventKey) -> Option<*mut EventRecord> {
    let budget = p.options.records_bytes;
    if t.has_room_for_record(budget / 2) {
        return make_record(t, p, key);
    }
    if !t.records_full {
        t.records_full = true;
        p.header_count(accuracy::RECORDS_BUDGET_REACHED, 1);
    }
    let written = FreshId(key.written);
    let who = (written.thread(p.site_bits), !written.serial(p.site_bits));
    let key = EventKey { written: FreshId::new(who.0, who.1, p.lineless_sites, p.site_bits).0, ..key };
    if let Some(record) = t.table.get(key) {
        return Some(record);
    }
    if !t.has_room_for_record(budget) {
        p.header_count(accuracy::DROPPED_BUDGET, 1);
        return None;
    }
    make_record(t, p, key)
}

fn make_record(t: &mut Thread, p: &Process, key: EventKey) -> Option<*mut EventRecord> {
    let reader = t.view.thread();
    {
        let written = FreshId(key.written);
        let site = written.site(p.site_bits);
        let (writer, region) = (written.thread(p.site_bits), p.sites.region(key.site));
        let mut flags = 0;
        if written.serial(p.site_bits) {
            flags |= event_flags::SERIAL;
        }
        if p.sites.is_atomic(key.site) {
            flags |= event_flags::SYNC;
        }
        let record = EventRecord {
            rar: 0,
            next: u64::MAX,
            raw: 0,
            reader,
            writer,
            writer_site: if site < p.lineless_sites { site } else { 0 },
            reader_site: key.site,
            region,
            context: key.context,
            flags,
            private: NO_TRACE,
            link: 0,
        };
        let place = t.records.append(p.file(), record)?;
        if p.plan.mode != CrdMode::Off {
            // Without room for a trace the events count all the same.
            if let Some(trace) = t.traces.of(reader, writer, region, &p.file) {
                // SAFETY: the record is new and this thread's.
                unsafe { t.traces.adopt(trace, place, &p.plan) };
            }
        }
        t.table.insert(key, place)
    }
}

/// Nobody waits for this element any more, as far as this thread knows.
pub fn unmark(p: &Process, element: u64) {
    let Some(cell) = p.signature.directory.translate(element * GRANULE) else { return };
    // SAFETY: the directory leads to cells that live for ever.
    let cell = unsafe { &*cell };
    let state = cell.load(Ordering::Relaxed);
    if state & (SHARED | TRACKED) == SHARED | TRACKED {
        untrack(cell, state & !TRACKED);
    }
}

/// Counts how many events fall into cells that serve more than one chunk of memory: any of these may be false.
#[inline]
fn check_alias(t: &mut Thread, p: &Process, element: u64) {
    t.checked += 1;
    if p.signature.pool.chunks_aliased() > 0 && p.signature.is_aliased(element) {
        t.suspect += 1;
    }
    if t.checked >= 4096 {
        t.flush_checked(p);
    }
}

const _: () = assert!(core::mem::offset_of!(EventRecord, rar) == 0 && core::mem::offset_of!(EventRecord, next) == 8);
