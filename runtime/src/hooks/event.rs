//! Events: what the slow path counts, and what hangs on a count.

use super::open;
use crate::distance::trace::{NO_TRACE, Verdict};
use crate::events::EventKey;
use crate::process::{Process, accuracy};
use crate::thread::Thread;
use crate::thread::firsts::{Key, Known};
use crate::thread::pending::Pending;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::thread::EventCounter;
use threadtalk_profile::layout::{CrdMode, EventRecord, event_flags};
use threadtalk_sigmem::open::{OpenName, is_open};
use threadtalk_sigmem::{FreshId, MemberRead, track};

/// What a read was.
pub struct Event {
    /// The state that the cell is in now.
    pub state: u32,
    /// Its element is marked.
    pub tracked: bool,
    /// True communication, not reuse.
    pub raw: bool,
}

/// The event of one element, of a value that `writer` wrote.
#[inline]
pub fn event(t: &mut Thread, p: &Process, cell: &AtomicU32, element: u64, site: u32, (writer, e): (FreshId, Event)) {
    if e.raw {
        check_alias(t, p, element, 1);
    }
    let Some(record) = find_record(t, p, key(t, writer, site)) else { return };
    count(t, p, cell, element, site, (record, &e));
}

/// The same true communication of each of these cells' elements, from `element` on: they were in state `from`, and are
/// in `state` now.
#[inline]
pub fn communications(
    t: &mut Thread,
    p: &Process,
    cells: &[AtomicU32],
    element: u64,
    site: u32,
    (writer, from, state): (FreshId, u32, u32),
) {
    // Where the thread has come across the new state before, the event cache knows the record.
    let known = t.known(state, site).filter(|counter| *counter != t.idle_counter());
    let key = key(t, writer, site);
    let found = known.map(<*mut EventCounter>::cast).or_else(|| find_record(t, p, key));
    if let Some(record) = found {
        if OpenName::of(state).is_none() {
            // SAFETY: the record is this thread's.
            let countdown = unsafe { t.traces.countdown(record) };
            t.firsts.put(Key::new(from, site, t.context), Known { to: state, record, countdown });
        }
        communications_in(t, p, cells, element, site, (record, state));
    } else {
        check_alias(t, p, element, cells.len() as u32);
    }
}

/// [`communications`] of a kind that the thread has made before: the record is known. All are in one cache line of
/// cells.
#[inline(always)]
pub fn communications_again(t: &mut Thread, p: &Process, cells: &[AtomicU32], element: u64, site: u32, known: Known) {
    let n = cells.len() as u64;
    let Known { to: state, record, countdown } = known;
    let looked_up = p.options.objects > 0 && t.lookups.are_due(n);
    // SAFETY: what the thread knows of its first reads are records of its own, with what their traces hold.
    if looked_up || !unsafe { is_before_sample(t, element, n, countdown) } {
        return communications_in(t, p, cells, element, site, (record, state));
    }
    check_alias(t, p, element, n as u32);
    t.lookups.pass(n as u32);
    // SAFETY: as above.
    unsafe { add(n, record, countdown) };
    t.remember(state, site, record.cast());
}

/// Whether true communications of `n` elements of one block from `element` on begin and end no distance.
///
/// # Safety
/// `countdown` is that of a trace of the thread's.
#[inline(always)]
unsafe fn is_before_sample(t: &Thread, element: u64, n: u64, countdown: *const u64) -> bool {
    // SAFETY: the caller's promise; the watches belong to this block.
    unsafe { *countdown > n && !(*t.watches).may_watch(element / GRANULE) }
}

/// Adds true communications of which [`is_before_sample`] said so.
///
/// # Safety
/// `record` is one of the thread's, and `countdown` that of its trace.
#[inline(always)]
unsafe fn add(n: u64, record: *mut EventRecord, countdown: *mut u64) {
    // SAFETY: records of a thread's table are mapped for the life of the process, and only this thread counts in them,
    // or in what its traces hold.
    unsafe {
        *countdown -= n;
        (*record).raw += n;
    }
}

/// Whether [`communications_again`] of one access of `n` granules from `element` on would only count.
///
/// Like [`communications_at_once`] it calls nothing and uses no vector registers, so that nobody has to save them.
///
/// # Safety
/// `countdown` is that of a trace of the thread's.
#[inline(always)]
pub unsafe fn is_only_counted(t: &Thread, p: &Process, (element, n): (u64, u32), countdown: *const u64) -> bool {
    // SAFETY: the caller's promise.
    t.allowance.covers(n)
        && p.signature.pool.chunks_aliased() == 0
        && unsafe { is_before_sample(t, element, n.into(), countdown) }
}

/// Counts an access that was made after [`is_only_counted`] said so.
///
/// # Safety
/// `known` is what the thread knows of the read.
#[inline(always)]
pub unsafe fn communications_at_once(t: &mut Thread, p: &Process, (element, n): (u64, u32), known: Known) {
    t.allowance.take(n);
    // SAFETY: the caller's promise.
    unsafe { add(n.into(), known.record, known.countdown) };
    p.claims.touch_line(element);
}

/// Reads at one site of elements in one state.
#[derive(Clone, Copy)]
pub struct Reads {
    /// The state that they are in now.
    pub state: u32,
    /// Who wrote them.
    pub writer: FreshId,
    /// The site.
    pub site: u32,
    /// True communications.
    pub raw: u64,
    /// Reuse, of what one of the sites has just read or the thread had read before.
    pub rar: u64,
}

impl Reads {
    /// None.
    pub const NONE: Self = Reads { state: 0, writer: FreshId(NONE), site: 0, raw: 0, rar: 0 };
}

/// Counts reads of `n` elements from `element` on if no more is to be done about them; false: nothing was done.
pub fn reads_of_alike(t: &mut Thread, p: &Process, (element, n): (u64, u64), reads: &[Reads]) -> bool {
    // SAFETY: the watches belong to this block.
    if unsafe { (*t.watches).unwatched(element / GRANULE, n) } < n {
        return false;
    }
    let some = || reads.iter().filter(|reads| reads.raw + reads.rar > 0);
    let record = |t: &Thread, reads: &Reads| {
        let known = t.counter_of(reads.state, reads.site).filter(|counter| *counter != t.idle_counter());
        // Of a value that many threads read there are more states than the event cache has slots.
        known.map(<*mut EventCounter>::cast).or_else(|| t.table.get(key(t, reads.writer, reads.site)))
    };
    let reuse: u64 = some().map(|reads| reads.rar).sum();
    let is_counted = |reads: &Reads| {
        record(t, reads).is_some_and(|record| {
            // SAFETY: counters of the event cache that are not idle are heads of this thread's records. Several sites
            // may share a trace, and several states a record.
            unsafe { t.traces.have_room(record, n) && (*record).rar.saturating_add(reuse) < (*record).next }
        })
    };
    if !some().all(is_counted) {
        return false;
    }
    check_alias(t, p, element, n as u32);
    for reads in some() {
        let Some(record) = record(t, reads) else { continue };
        // SAFETY: as above; only this thread counts in its records, and in what its traces hold.
        unsafe {
            add(reads.raw, record, t.traces.countdown(record));
            (*record).rar += reads.rar;
        }
        if reads.raw > 0 {
            look_up(t, p, record, element, reads.raw);
        }
    }
    true
}

/// Where reuse at a site of cells in `state` counts, if the thread knows that: see [`known_read`].
pub fn reuse_counter(t: &mut Thread, p: &Process, state: u32, site: u32) -> Option<*mut EventCounter> {
    if let known @ Some(_) = t.known(state, site) {
        return known;
    }
    let counter = known_read(t, p, state, site).filter(|known| known.to == state)?.record.cast();
    t.remember(state, site, counter);
    Some(counter)
}

/// What a read at a site of cells in state `from` is, if the thread has read there what the same line wrote before,
/// whoever else had read it then: of values that many threads read there are more states than tables have slots.
pub fn known_read(t: &mut Thread, p: &Process, from: u32, site: u32) -> Option<Known> {
    if is_open(from) {
        return None;
    }
    let place = Key::new(from, site, t.context);
    if let known @ Some(_) = t.firsts.get(place) {
        return known;
    }
    // Pairs with the release of the exchange that left the name in its cell, which was loaded without an ordering.
    fence(Ordering::Acquire);
    let member = t.view.member(&p.states, from)?;
    let is_known = match member.read {
        MemberRead::Nothing => false,
        MemberRead::Reuse => member.state == from,
        MemberRead::Communication => OpenName::of(member.state).is_none(),
    };
    let record = if is_known { t.table.get(key(t, member.writer, site))? } else { return None };
    // SAFETY: the record is this thread's. A trace that is followed exactly has room for nothing.
    let countdown = unsafe { t.traces.have_room(record, 0).then(|| t.traces.countdown(record))? };
    let known = Known { to: member.state, record, countdown };
    t.firsts.put(place, known);
    Some(known)
}

fn key(t: &Thread, writer: FreshId, site: u32) -> EventKey {
    EventKey { written: writer.0, site, context: t.context }
}

/// [`communications`], where the record is known.
#[inline(never)]
fn communications_in(
    t: &mut Thread,
    p: &Process,
    cells: &[AtomicU32],
    mut element: u64,
    site: u32,
    (record, state): (*mut EventRecord, u32),
) {
    check_alias(t, p, element, cells.len() as u32);
    let mut rest = cells;
    while let Some(first) = rest.first() {
        let quiet = if p.plan.mode == CrdMode::Off {
            rest.len()
        } else {
            // SAFETY: the record is this thread's; the watches belong to this block.
            unsafe { t.traces.quiet(record, element / GRANULE, rest.len() as u64, &mut *t.watches) as usize }
        };
        if quiet == 0 {
            count(t, p, first, element, site, (record, &Event { state, tracked: false, raw: true }));
        } else {
            // SAFETY: records of this thread's table are mapped for the life of the process, and only this thread
            // counts in them.
            unsafe { (*record).raw += quiet as u64 };
            look_up(t, p, record, element, quiet as u64);
            remember(t, p, state, site, record);
        }
        let done = quiet.max(1);
        rest = rest.get(done..).unwrap_or(&[]);
        element += done as u64 * GRANULE;
    }
}

/// Once for each sample this divides, so it is not made part of what calls it.
#[inline(never)]
fn count(
    t: &mut Thread,
    p: &Process,
    cell: &AtomicU32,
    element: u64,
    site: u32,
    (record, e): (*mut EventRecord, &Event),
) {
    // SAFETY: records of this thread's table are mapped for the life of the process, and only this thread counts in
    // them.
    unsafe {
        if e.raw {
            (*record).raw += 1;
            look_up(t, p, record, element, 1);
        } else {
            (*record).rar += 1;
        }
    }
    // SAFETY: as above.
    let next = unsafe { (*record).next };
    let verdict = if p.plan.mode == CrdMode::Off {
        Verdict::Count
    } else {
        // SAFETY: `find_record` made the record; the watches belong to this block.
        unsafe {
            // Relaxed: a number, no more.
            let watches = (&mut *t.watches, p.alive.load(Ordering::Relaxed));
            let pending = &mut Pending::of(&mut t.header, &mut t.patterns);
            let thread = (&mut t.arena, watches, pending, &p.file);
            t.traces.usage(record, element / GRANULE, e.raw, e.tracked, &p.plan, thread)
        }
    };
    if !e.raw {
        // SAFETY: as above.
        let (rar, new_next) = unsafe { ((*record).rar, (*record).next) };
        let until_next = if new_next == next { 0 } else { new_next.saturating_sub(rar) };
        check_reuse(t, p, element, if verdict == Verdict::Report { 1 } else { until_next });
        look_up_reuse(t, p, record, element, if verdict == Verdict::Report { None } else { Some(until_next) });
    }
    match verdict {
        Verdict::Count => {
            remember(t, p, e.state, site, record);
            if OpenName::of(e.state).is_none() && !e.raw {
                t.firsts.put_reuse(e.state, site, t.context, record);
            }
        }
        Verdict::Track { instead_of } => {
            track(cell);
            t.forget_windows_at(element);
            t.steady.forget(t.header.own_base, element);
            instead_of.into_iter().for_each(|other| take_mark_away(p, other));
        }
        Verdict::Untrack => {
            p.plan.waiters.take_away(element / GRANULE, Some(cell));
            remember(t, p, e.state, site, record);
        }
        Verdict::Report => {}
    }
}

/// From now on reuse at `site` of cells in `state`, which this thread has read, may be counted with nothing else to be
/// done, until `record` says otherwise.
#[inline]
fn remember(t: &mut Thread, p: &Process, state: u32, site: u32, record: *mut EventRecord) {
    if !t.view.is_unlisted(&p.states, state) {
        t.remember(state, site, record.cast());
    }
    if let Some(name) = OpenName::of(state) {
        // SAFETY: the record is this thread's.
        unsafe { open::put(t, p, name, site, record) };
    }
}

/// Looks up one in `objects` of `n` communications whose elements follow each other.
#[inline]
fn look_up(t: &mut Thread, p: &Process, record: *const EventRecord, element: u64, n: u64) {
    if p.options.objects > 0 && t.lookups.are_due(n) {
        attribute(t, p, record, element, n);
    } else {
        t.lookups.pass(n as u32);
    }
}

/// Attributes communications to the allocations of their memory.
#[cold]
fn attribute(t: &mut Thread, p: &Process, record: *const EventRecord, mut element: u64, mut n: u64) {
    // What this thread has checked and where is different each time.
    while let Some((number, weight)) = t.lookups.next_of(n, p.options.objects, random(t, element)) {
        let found = element + (number - 1) * GRANULE;
        // SAFETY: the record is this thread's.
        p.objects.communication(unsafe { sites(record) }, found, weight);
        element = found + GRANULE;
        n -= number;
    }
}

/// Attributes a reuse that stands for `weight` of them, which a sample of its trace does; None: it is followed exactly
/// and one in `objects` is looked up.
fn look_up_reuse(t: &mut Thread, p: &Process, record: *const EventRecord, element: u64, weight: Option<u64>) {
    if p.options.objects == 0 {
        return;
    }
    let weight = match weight {
        Some(weight) => weight,
        None => t.reuse_lookups.next_of(1, p.options.objects, random(t, element)).map_or(0, |(_, weight)| weight),
    };
    if weight > 0 {
        // SAFETY: the record is this thread's.
        p.objects.reuse(unsafe { sites(record) }, element, weight);
    }
}

fn random(t: &Thread, element: u64) -> u64 {
    element ^ u64::from(t.checked.events) << 32
}

/// Who reads what is counted in a record and who wrote it.
///
/// # Safety
/// `record` is mapped.
unsafe fn sites(record: *const EventRecord) -> (u32, u32) {
    // SAFETY: the caller's promise.
    unsafe { ((*record).reader_site, (*record).writer_site) }
}

#[inline]
fn find_record(t: &mut Thread, p: &Process, key: EventKey) -> Option<*mut EventRecord> {
    match t.table.get(key) {
        Some(record) => Some(record),
        None => new_record(t, p, key),
    }
}

/// A new combination. When the thread's records have used up half of their budget, it counts without the line of the
/// writer: such records are few, one for each reading line and writing thread. They may use the other half, in which
/// the table can double once more.
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
    let key = EventKey { written: FreshId(key.written).without_site(p.site_bits).0, ..key };
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
            if let Some(trace) = t.traces.of((reader, writer), region, &p.plan, &p.file) {
                // SAFETY: the record is new and this thread's.
                unsafe { t.traces.adopt(trace, place, &p.plan) };
            }
        }
        t.table.insert(key, place)
    }
}

/// Takes the mark of the element of this number away, for which nobody waits any more.
pub fn take_mark_away(p: &Process, element: u64) {
    let cell = p.signature.directory.translate(element * GRANULE);
    // SAFETY: the directory leads to cells that live for ever.
    p.plan.waiters.take_away(element, cell.map(|cell| unsafe { &*cell }));
}

/// Looks at true communications of `n` elements from this one on, which lie in one chunk.
#[inline]
fn check_alias(t: &mut Thread, p: &Process, element: u64, n: u32) {
    t.checked.communications(n, is_suspect(p, element));
    t.checked.flush_if_many(p);
}

/// Looks at a reuse that stands for so many, if for any.
fn check_reuse(t: &mut Thread, p: &Process, element: u64, weight: u64) {
    if weight > 0 {
        t.checked.reuse(weight, is_suspect(p, element));
        t.checked.flush_if_many(p);
    }
}

#[inline]
fn is_suspect(p: &Process, element: u64) -> bool {
    p.signature.pool.chunks_aliased() > 0 && p.signature.is_aliased(element)
}

const _: () = assert!(core::mem::offset_of!(EventRecord, rar) == 0 && core::mem::offset_of!(EventRecord, next) == 8);
