//! The part of one thread in a dynamic instance: opened where it begins, closed where the thread arrives.
//!
//! What is recorded of a section with very many instances: the first ones, then a sample that is thinned further with
//! each doubling, drawn by a hash of the ordinal, so that all threads choose the same instances and no period of the
//! program is preferred. Each carries the number of instances that it stands for.

use super::cache::{CACHE_BYTES, Cache};
use super::counters::Reading;
use crate::file::appender::Appender;
use crate::memory;
use crate::module::COLUMN;
use crate::process::Process;
use crate::thread::Thread;
use core::mem::{self, size_of};
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use threadtalk_profile::layout::{CountKind, CountRecord, InstanceKind, InstanceRecord, instance_flags};

/// What all threads' parts share.
pub struct Budget {
    next_number: AtomicU32,
    /// Bytes of counts of parts so far.
    used: AtomicU64,
}

impl Budget {
    /// Nothing used.
    pub const fn new() -> Self {
        Self { next_number: AtomicU32::new(1), used: AtomicU64::new(0) }
    }
}

/// What an instance is.
#[derive(Clone, Copy, Default)]
pub struct Identity {
    /// See [`InstanceRecord::kind`].
    pub kind: InstanceKind,
    /// See [`InstanceRecord::key`]; 0 = not known yet.
    pub key: u64,
    /// See [`InstanceRecord::ordinal`].
    pub ordinal: u64,
    /// See [`InstanceRecord::weight`].
    pub weight: u64,
    /// [`instance_flags`].
    pub flags: u16,
    /// See [`InstanceRecord::team`].
    pub team: u32,
    /// Where it begins.
    pub begin_site: u32,
}

/// A part that may be open.
#[derive(Clone, Copy)]
pub struct Part {
    /// What it belongs to.
    pub identity: Identity,
    /// Between begin and arrival.
    pub is_open: bool,
    /// Its counts are recorded, too.
    pub is_counted: bool,
    /// When it began.
    pub begin_ns: u64,
    begin_cpu_ns: u64,
    /// The counters when it began; null until there are any. Once closed, those of that moment.
    base: *mut u64,
    /// The part that began at the same moment, whose counters and caches of then are this one's, too, until it is
    /// closed.
    began_with: Option<fn(&mut Thread) -> &mut Part>,
    /// Those of the caches, in their order.
    cache_base: *mut u64,
    cache_words: usize,
    /// What the kernel had counted when it began.
    reading: Reading,
    /// Its record, once closed.
    pub record: *mut InstanceRecord,
}

impl Part {
    /// None.
    pub const fn new() -> Self {
        let identity =
            Identity { kind: InstanceKind::Barrier, key: 0, ordinal: 0, weight: 0, flags: 0, team: 0, begin_site: 0 };
        Self {
            identity,
            is_open: false,
            is_counted: false,
            begin_ns: 0,
            begin_cpu_ns: 0,
            base: ptr::null_mut(),
            began_with: None,
            cache_base: ptr::null_mut(),
            cache_words: 0,
            reading: Reading::NONE,
            record: ptr::null_mut(),
        }
    }

    /// Whether there is room for the counters.
    fn make_room(&mut self) -> bool {
        if self.base.is_null() {
            self.base = memory::reserve(COLUMN * size_of::<u64>()).map_or(ptr::null_mut(), |m| m.as_ptr().cast());
        }
        !self.base.is_null()
    }

    /// Whether there is room for the caches' counters.
    fn make_room_for_caches(&mut self) -> bool {
        if self.cache_base.is_null() {
            self.cache_base = memory::reserve(CACHE_BYTES).map_or(ptr::null_mut(), |m| m.as_ptr().cast());
        }
        !self.cache_base.is_null()
    }
}

/// How many instances the one with this ordinal stands for: 1 for each of the first `first`, then `2^k` with
/// probability `2^-k` in the k-th doubling; 0 = it is not recorded.
fn weight(ordinal: u64, first: u64) -> u64 {
    if first == 0 {
        return 0;
    }
    let doublings = (ordinal / first).saturating_add(1).checked_ilog2().unwrap_or(0);
    let stride = 1u64 << doublings.min(40);
    // Fibonacci hashing: its upper bits are spread evenly over any run of ordinals.
    let hash = ordinal.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    if hash & (stride - 1) == 0 { stride } else { 0 }
}

/// Counters of a program that are looked through in a few microseconds.
const FEW_COUNTERS: u64 = 1 << 12;
/// Instances that are all recorded however many counters there are, unless less are wanted.
const LEAST_INSTANCES: u64 = 8;

/// How many instances the one with this ordinal stands for; 0 = it is not recorded. All counters are looked through
/// where a part is opened and where it is closed, so that of a program with very many fewer instances are recorded one
/// by one: LightGBM has 119 000 counters, and spent half of its time on that, CloverLeaf's 104 sections a third with 16
/// threads, each of which has a row of counters for each number of threads.
pub fn weight_in(p: &Process, ordinal: u64) -> u64 {
    weight(ordinal, recorded_first(p.options.instances, p.sites.counters()))
}

/// How many instances are all recorded.
fn recorded_first(wanted: u64, counters: u32) -> u64 {
    let fewer = wanted.saturating_mul(FEW_COUNTERS) / u64::from(counters).max(FEW_COUNTERS);
    fewer.max(LEAST_INSTANCES.min(wanted))
}

/// Opens the part that `which` names, unless its weight is 0.
pub fn open(t: &mut Thread, p: &Process, which: fn(&mut Thread) -> &mut Part, identity: Identity) {
    if !begin(t, which, identity) {
        return;
    }
    let counted = may_count(p);
    let part = which(t);
    part.is_counted = counted && part.make_room();
    if part.is_counted {
        let base = part.base;
        let copy = |first: u32, totals: &[u64]| {
            // SAFETY: the part's own array, as long as a column.
            let before = unsafe { slice::from_raw_parts_mut(base.add(first as usize), totals.len()) };
            // Of a large program a thread runs little: pages of which nothing was counted stay the system's zeros.
            if before != totals {
                before.copy_from_slice(totals);
            }
        };
        // SAFETY: `t` is the calling thread's block.
        unsafe { t.execution.columns.own_totals(p.sites.counters(), copy) };
    }
    start(t, p, which);
}

/// Opens it where the thread has counted nothing since it closed it the last time: what the counters are is known.
pub fn reopen(t: &mut Thread, p: &Process, which: fn(&mut Thread) -> &mut Part, identity: Identity) {
    let before = *which(t);
    if before.record.is_null() || !before.is_counted || !may_count(p) {
        open(t, p, which, identity);
    } else if begin(t, which, identity) {
        start(t, p, which);
    }
}

/// Opens it where `other` has just been opened, which will not be closed before it: the counters are looked through
/// once for both. Most regions have no barrier inside, and both end together as well.
pub fn open_with(
    t: &mut Thread,
    which: fn(&mut Thread) -> &mut Part,
    other: fn(&mut Thread) -> &mut Part,
    identity: Identity,
) {
    let from = *other(t);
    if !begin(t, which, identity) {
        return;
    }
    let part = which(t);
    (part.is_counted, part.began_with, part.cache_words) = (from.is_counted, Some(other), from.cache_words);
    (part.begin_ns, part.begin_cpu_ns, part.reading) = (from.begin_ns, from.begin_cpu_ns, from.reading);
}

/// Counts of parts have room left.
fn may_count(p: &Process) -> bool {
    p.sites.counters() > 0 && p.budget.used.load(Ordering::Relaxed) < p.options.instance_bytes
}

/// What the part is from now on; whether it is recorded.
fn begin(t: &mut Thread, which: fn(&mut Thread) -> &mut Part, identity: Identity) -> bool {
    let part = which(t);
    (part.record, part.cache_words, part.began_with) = (ptr::null_mut(), 0, None);
    part.is_open = identity.weight > 0;
    if part.is_open {
        part.identity = identity;
    }
    part.is_open
}

/// Caches, events and times as they are now.
fn start(t: &mut Thread, p: &Process, which: fn(&mut Thread) -> &mut Part) {
    if let Some((now, words)) = t.execution.cache.words(p.sites.sites())
        && let part = which(t)
        && part.make_room_for_caches()
    {
        part.cache_words = words;
        // SAFETY: both arrays have room for the counters of all sites.
        unsafe { part.cache_base.copy_from_nonoverlapping(now.as_ptr(), words) };
    }
    let reading = t.execution.counters.read();
    let (begin, cpu) = (p.elapsed_ns(), t.execution.tree.cpu_ns());
    let part = which(t);
    part.reading = reading.unwrap_or(Reading::NONE);
    (part.begin_ns, part.begin_cpu_ns) = (begin, cpu);
}

/// The part is about to be closed: from now on it has counters of its own.
fn leave_other(t: &mut Thread, p: &Process, which: fn(&mut Thread) -> &mut Part) {
    let Some(other) = which(t).began_with.take() else { return };
    let from = *other(t);
    debug_assert!(from.is_open, "closed before the part that began with it");
    let part = which(t);
    part.is_counted &= part.make_room();
    if part.is_counted {
        // SAFETY: both are as long as a column.
        unsafe { part.base.copy_from_nonoverlapping(from.base, p.sites.counters() as usize) };
    }
    if part.cache_words > 0 && part.make_room_for_caches() {
        // SAFETY: both have room for the counters of all sites.
        unsafe { part.cache_base.copy_from_nonoverlapping(from.cache_base, part.cache_words) };
    }
}

/// The thread has arrived at the end of the part; writes its record. The part remembers it.
pub fn close(t: &mut Thread, p: &Process, which: fn(&mut Thread) -> &mut Part, end_site: u32) {
    if !which(t).is_open {
        return;
    }
    leave_other(t, p, which);
    let part = *which(t);
    let (now, cpu) = (p.elapsed_ns(), t.execution.tree.cpu_ns());
    let reading = t.execution.counters.read();
    which(t).is_open = false;
    let i = part.identity;
    let number = p.budget.next_number.fetch_add(1, Ordering::Relaxed);
    let arrive_ns = now.max(part.begin_ns);
    let record = InstanceRecord {
        number,
        thread: t.view.thread(),
        kind: i.kind as u16,
        flags: i.flags | if part.is_counted { instance_flags::COUNTED } else { 0 },
        team: i.team,
        begin_site: i.begin_site,
        end_site,
        key: i.key,
        ordinal: i.ordinal,
        begin_ns: part.begin_ns,
        arrive_ns,
        release_ns: arrive_ns,
        cpu_ns: cpu.saturating_sub(part.begin_cpu_ns),
        weight: i.weight,
    };
    if let Some(reading) = reading {
        write_events(t, p, number, (&part.reading, &reading));
    }
    if part.is_counted {
        write_misses(t, p, number, &part);
        let thread = t.view.thread();
        let execution = &mut t.execution;
        let (columns, counters) = (&execution.columns, p.sites.counters());
        // SAFETY: `t` is the calling thread's block.
        let totals = |act: &mut dyn FnMut(u32, &[u64])| unsafe { columns.own_totals(counters, act) };
        write_counts(totals, &mut execution.counts, p, thread, number, part.base);
    }
    let place = t.execution.sections.records.append(&p.file, record);
    which(t).record = place.unwrap_or(ptr::null_mut());
}

/// The thread is let go.
pub fn release(p: &Process, part: &Part) {
    if !part.record.is_null() {
        let now = p.elapsed_ns();
        // SAFETY: a record of the profile, mapped for the life of the process; an aligned word.
        unsafe { AtomicU64::from_ptr(&raw mut (*part.record).release_ns).fetch_max(now, Ordering::Relaxed) };
    }
}

/// Counts of the caches since the part began. A thread whose caches came to be in it has counted from 0.
fn write_misses(t: &mut Thread, p: &Process, number: u32, part: &Part) {
    let thread = t.view.thread();
    let execution = &mut t.execution;
    let Some((now, words)) = execution.cache.words(p.sites.sites()) else { return };
    for index in 0..words {
        // SAFETY: below the counters of all sites; the base is as long.
        let (now, before) = unsafe {
            let is_known = index < part.cache_words && !part.cache_base.is_null();
            (*now.add(index).as_ptr(), if is_known { *part.cache_base.add(index) } else { 0 })
        };
        let count = now.wrapping_sub(before);
        if count > 0
            && let Some((id, kind)) = Cache::meaning(index)
        {
            let record = CountRecord { part: number, thread, id, kind: kind as u16, level: 0, count };
            execution.counts.append(&p.file, record);
            p.budget.used.fetch_add(size_of::<CountRecord>() as u64, Ordering::Relaxed);
        }
    }
}

/// What the kernel counted for the calling thread in the part of this number, from one reading to the other.
pub fn write_events(t: &mut Thread, p: &Process, number: u32, (before, now): (&Reading, &Reading)) {
    let thread = t.view.thread();
    let (counters, counts) = (&t.execution.counters, &mut t.execution.counts);
    counters.records(before, now, (number, thread), |record| {
        counts.append(&p.file, record);
        p.budget.used.fetch_add(size_of::<CountRecord>() as u64, Ordering::Relaxed);
    });
}

/// The thread has done more for a part that is closed, with so much CPU time, up to now.
pub fn amend(p: &Process, part: &Part, cpu_ns: u64) {
    if part.record.is_null() {
        return;
    }
    release(p, part);
    let now = p.elapsed_ns();
    // SAFETY: as in `release`. The release was moved first: at no moment does it come before the arrival.
    unsafe {
        let released = (*part.record).release_ns;
        AtomicU64::from_ptr(&raw mut (*part.record).arrive_ns).fetch_max(now.min(released), Ordering::Relaxed);
        AtomicU64::from_ptr(&raw mut (*part.record).cpu_ns).fetch_add(cpu_ns, Ordering::Relaxed);
    }
}

/// Writes what `worker` has counted since its part was closed, through the calling thread `t`.
///
/// # Safety
/// `worker` is a control block whose thread does not change its parts now.
pub unsafe fn write_counts_of(worker: *mut Thread, t: &mut Thread, p: &Process, part: &Part) {
    if !part.is_counted || part.record.is_null() {
        return;
    }
    // SAFETY: blocks are never unmapped; the columns are made for readers on other threads, the record is the part's.
    let (columns, thread, number) =
        unsafe { (&(*worker).execution.columns, (*worker).view.thread(), (*part.record).number) };
    let totals = |act: &mut dyn FnMut(u32, &[u64])| columns.totals(p.sites.counters(), act);
    write_counts(totals, &mut t.execution.counts, p, thread, number, part.base);
}

/// Counts since `base`, which becomes the present state.
fn write_counts(
    all_totals: impl Fn(&mut dyn FnMut(u32, &[u64])),
    counts: &mut Appender<CountRecord>,
    p: &Process,
    thread: u32,
    part: u32,
    base: *mut u64,
) {
    let mut bytes = 0;
    all_totals(&mut |first, totals| {
        // SAFETY: the part's own array, as long as a column.
        let before = unsafe { slice::from_raw_parts_mut(base.add(first as usize), totals.len()) };
        // Of a large program a section runs little.
        if before == totals {
            return;
        }
        for ((id, total), before) in (first..).zip(totals).zip(before) {
            let count = total.wrapping_sub(mem::replace(before, *total));
            if count > 0 {
                counts.append(&p.file, CountRecord { part, thread, id, kind: CountKind::Edge as u16, level: 0, count });
                bytes += size_of::<CountRecord>() as u64;
            }
        }
    });
    p.budget.used.fetch_add(bytes, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::{recorded_first, weight};

    #[test]
    fn the_more_counters_there_are_the_fewer_instances_are_all_recorded() {
        assert_eq!([0, 1, 1 << 12].map(|counters| recorded_first(64, counters)), [64; 3]);
        assert_eq!([1 << 13, 1 << 14, 1 << 18, u32::MAX].map(|counters| recorded_first(64, counters)), [32, 16, 8, 8]);
        assert_eq!(
            [(0, 1 << 20), (3, 1 << 20), (1 << 20, 1 << 13)].map(|(n, c)| recorded_first(n, c)),
            [0, 3, 1 << 19]
        );
    }

    #[test]
    fn the_first_are_all_recorded_and_the_rest_stand_for_as_many_as_there_are() {
        assert!((0..64).all(|i| weight(i, 64) == 1));
        assert_eq!(weight(0, 0), 0);
        for exponent in 8..20 {
            let all = 1u64 << exponent;
            let weights = (0..all).map(|i| weight(i, 64));
            let (number, sum) = weights.filter(|w| *w > 0).fold((0, 0), |(n, s), w| (n + 1, s + w));
            let off = sum as f64 / all as f64 - 1.0;
            assert!(off.abs() < 0.1, "{number} of {all} instances stand for {sum}");
            assert!(number < 64 * (exponent - 4), "{number} of {all} instances are recorded");
        }
    }

    #[test]
    fn a_period_of_the_program_is_not_preferred() {
        // Of two barriers in a loop, both are found among the recorded ones.
        for period in 2..9 {
            let mut found = [0u32; 9];
            for i in (1000..100_000).filter(|i| weight(*i, 64) > 0) {
                found[(i % period) as usize] += 1;
            }
            let (least, most) = (found[..period as usize].iter().min(), found[..period as usize].iter().max());
            assert!(least.zip(most).is_some_and(|(l, m)| *l * 4 > *m), "{period}: {found:?}");
        }
    }
}
