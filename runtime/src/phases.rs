//! Communication over time: what a thread has read of each other one since it last said so.
//!
//! Nothing is added where events are counted. At certain moments a thread adds up its own event records by writer and
//! writes what is more than the last time: when it begins to wait ([`boundary`]; it has time
//! then), and in slow paths when a slice of time is over ([`tick`]). What it counts after its last set is known from
//! its records: no set is written at its end, so threads that live shortly cost nothing here.
//!
//! Two things are bounded. Memory: slices double each time half of what is left of the budget is used, and with
//! nothing left no set is written. Time: after a sum that took `c`, none follows for 64 `c`, times the threads for each
//! processor, unless all boundaries are asked for.

use crate::events::{EventKey, Table};
use crate::file::appender::Appender;
use crate::memory;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::pending::Pending;
use core::num::NonZeroU32;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};
use threadtalk_profile::layout::{PhaseEnd, PhaseRecord, block, phase_flags};

/// Value of the option `phases` for "off".
pub const OFF: u64 = u64::MAX;
/// Hooks between two looks at the clock: at 25 ns each, less than half a nanosecond a hook.
const HOOKS: u32 = 64;
/// A sum may take this part of the time.
const SHARE: u64 = 64;

/// Meetings of teams: no barrier's number has this bit, as long as there are fewer than 2^23 of them.
const TEAMS: u64 = 1 << 63;
/// Bits for the barriers of a region; 43 are left for regions.
const BARRIERS: u32 = 20;

/// What all threads share.
pub struct Plan {
    /// Nanoseconds between two sets of a thread; 0 = at boundaries only, and at all of them; [`OFF`] = never.
    period_ns: u64,
    /// Bytes of records at most.
    budget: u64,
    used: AtomicU64,
    /// That the process may use.
    processors: NonZeroU32,
}

impl Plan {
    /// From the options `phases` (in milliseconds) and `phases_bytes`, and the number of processors.
    pub fn new(milliseconds: u64, budget: u64, processors: NonZeroU32) -> Self {
        let period_ns = if milliseconds == OFF { OFF } else { milliseconds * 1_000_000 };
        Self { period_ns, budget, used: AtomicU64::new(0), processors }
    }

    /// How long no sum may follow one that took `spent`. The clock runs for threads that wait for a processor as well:
    /// of 16 threads on two processors each has an eighth of the time.
    fn rest(&self, spent: u64, threads: u32) -> u64 {
        spent * SHARE * u64::from(threads.saturating_sub(1) / self.processors + 1)
    }

    fn is_off(&self) -> bool {
        self.period_ns == OFF
    }

    /// How often the period has doubled.
    fn doublings(&self) -> u32 {
        let left = self.budget.saturating_sub(self.used.load(Ordering::Relaxed));
        (self.budget / left.max(1)).checked_ilog2().unwrap_or(0)
    }

    /// Takes room for records out of the budget.
    fn take(&self, bytes: u64) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = used + bytes <= self.budget;
        if !fits {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }
}

/// Events of one writer's data.
#[derive(Clone, Copy)]
struct Sum {
    writer: u32,
    now: [u64; 2],
    written: [u64; 2],
}

/// A thread's part.
pub struct Phases {
    records: Appender<PhaseRecord>,
    /// Index in `sums` of each writer.
    index: Table<u32>,
    sums: *mut Sum,
    len: usize,
    capacity: usize,
    /// When the present set began.
    since_ns: u64,
    /// When its slice is over.
    slice_ns: u64,
    /// Before this no sum is made.
    rest_ns: u64,
    hooks: u32,
    /// The meeting at which the thread is about to arrive; 0 = none.
    meeting: u64,
    /// Everything counted is written.
    is_clean: bool,
}

impl Phases {
    /// Of a block that serves nobody yet.
    pub const fn new() -> Self {
        Self {
            records: Appender::new(block::PHASES),
            index: Table::new(),
            sums: ptr::null_mut(),
            len: 0,
            capacity: 0,
            since_ns: 0,
            slice_ns: 0,
            rest_ns: 0,
            hooks: HOOKS,
            meeting: 0,
            is_clean: false,
        }
    }

    /// The block begins to serve a logical thread.
    pub fn begin(&mut self, process: &Process) {
        self.index.clear();
        self.len = 0;
        (self.is_clean, self.meeting) = (false, 0);
        self.since_ns = if process.phases.is_off() { 0 } else { process.elapsed_ns() };
        (self.slice_ns, self.rest_ns) = (self.since_ns.saturating_add(process.phases.period_ns), self.since_ns);
    }

    /// The next boundary is where the threads of a barrier meet for the `number`-th time. Barriers of a run are
    /// numbered.
    pub fn meets(&mut self, barrier: u64, number: u64) {
        self.meeting = barrier << 40 | number & ((1 << 40) - 1);
    }

    /// The next boundary is where a team of OpenMP meets for the `barrier`-th time in the region of this number, which
    /// no other region of the run has; 0 = unknown.
    pub fn meets_in_region(&mut self, region: u64, barrier: u64) {
        let meeting = TEAMS | region << BARRIERS | barrier & ((1 << BARRIERS) - 1);
        self.meeting = if region == 0 { 0 } else { meeting };
    }

    /// The meeting is over, whether the thread waited or not.
    pub fn parts(&mut self) {
        self.meeting = 0;
    }

    fn sum(&mut self, writer: u32) -> Option<&mut Sum> {
        let key = EventKey { written: writer, site: 0, context: 0 };
        let at = match self.index.get(key) {
            Some(at) => at,
            None => {
                if self.len == self.capacity && !self.grow() {
                    return None;
                }
                // SAFETY: len < capacity, and the memory is this thread's.
                unsafe { self.sums.add(self.len).write(Sum { writer, now: [0; 2], written: [0; 2] }) };
                self.len += 1;
                self.index.insert(key, self.len as u32 - 1)?
            }
        };
        // SAFETY: the index holds places below `len`.
        Some(unsafe { &mut *self.sums.add(at as usize) })
    }

    fn grow(&mut self) -> bool {
        let capacity = (self.capacity * 2).max(64);
        let Some(fresh) = memory::reserve(capacity * size_of::<Sum>()) else { return false };
        if let Some(old) = NonNull::new(self.sums) {
            // SAFETY: both have room for `len` sums; the old memory came from `reserve` with this size and is not used
            // again.
            unsafe {
                fresh.as_ptr().cast::<Sum>().copy_from_nonoverlapping(old.as_ptr(), self.len);
                memory::release(old.cast(), self.capacity * size_of::<Sum>());
            }
        }
        (self.sums, self.capacity) = (fresh.as_ptr().cast(), capacity);
        true
    }

    fn all(&mut self) -> &mut [Sum] {
        if self.sums.is_null() {
            return &mut [];
        }
        // SAFETY: the first `len` sums were written.
        unsafe { core::slice::from_raw_parts_mut(self.sums, self.len) }
    }
}

/// Once in each hook: is the slice over?
#[inline(always)]
pub fn tick(t: &mut Thread, p: &Process) {
    t.phases.hooks -= 1;
    if t.phases.hooks == 0 {
        look(t, p);
    }
}

#[cold]
fn look(t: &mut Thread, p: &Process) {
    t.phases.hooks = HOOKS;
    t.reconsider_windows(|| p.elapsed_ns());
    t.questions.look(&mut t.header.least_asked);
    if p.phases.is_off() || p.phases.period_ns == 0 {
        return;
    }
    let now = p.elapsed_ns();
    if now >= t.phases.slice_ns {
        write(t, p, now, PhaseEnd::Slice);
        t.phases.slice_ns = now.saturating_add(p.phases.period_ns << p.phases.doublings().min(20));
    }
}

/// The thread arrives where it may wait for others; see [`resume`]. Sets of a thread are a tenth of a slice apart at
/// least, so that a barrier every few microseconds does not fill the budget.
pub fn boundary(t: &mut Thread, p: &Process, now: u64, end: PhaseEnd) {
    if !p.phases.is_off() {
        write(t, p, now, end);
    }
    t.phases.meeting = 0;
}

/// The thread goes on after a [`boundary`]: the time that it waited belongs to no phase.
pub fn resume(t: &mut Thread, p: &Process, now: u64) {
    t.reconsider_windows(|| now);
    if t.phases.is_clean {
        t.phases.since_ns = now;
        t.phases.slice_ns = now.saturating_add(p.phases.period_ns << p.phases.doublings().min(20));
    }
}

/// Cold: it comes once in many microseconds at most, and locks and divides.
#[cold]
fn write(t: &mut Thread, p: &Process, now: u64, end: PhaseEnd) {
    t.phases.is_clean = false;
    if now < t.phases.rest_ns {
        return;
    }
    Pending::of(&mut t.header, &mut t.patterns).settle();
    t.phases.all().iter_mut().for_each(|sum| sum.now = [0; 2]);
    for record in t.table.values() {
        // SAFETY: records of this thread's table are mapped for the life of the process, and only this thread counts in
        // them.
        let (writer, raw, rar) = unsafe { ((*record).writer, (*record).raw, (*record).rar) };
        // A writer without a place is written nowhere: the decoder finds its events in the records alone.
        if let Some(sum) = t.phases.sum(writer) {
            sum.now = [sum.now[0] + raw, sum.now[1] + rar];
        }
    }
    let sets = t.phases.all().iter().filter(|sum| sum.now != sum.written).count();
    let gap = (p.phases.period_ns << p.phases.doublings().min(20)) / 10;
    if sets == 0 {
        t.phases.since_ns = now;
        t.phases.is_clean = true;
    } else if now - t.phases.since_ns >= gap && p.phases.take((sets * size_of::<PhaseRecord>()) as u64) {
        append(t, p, now, end);
    }
    if p.phases.period_ns > 0 {
        let spent = p.elapsed_ns().saturating_sub(now);
        t.phases.rest_ns = now.saturating_add(p.phases.rest(spent, p.alive.load(Ordering::Relaxed)));
    }
}

fn append(t: &mut Thread, p: &Process, now: u64, end: PhaseEnd) {
    let coarse = if p.phases.doublings() > 0 { phase_flags::COARSE } else { 0 };
    let Phases { records, sums, len, since_ns, meeting, .. } = &mut t.phases;
    for i in 0..*len {
        // SAFETY: below `len`.
        let sum = unsafe { &mut *sums.add(i) };
        if sum.now == sum.written {
            continue;
        }
        let record = PhaseRecord {
            reader: t.view.thread(),
            writer: sum.writer,
            from_ns: *since_ns,
            to_ns: now,
            raw: sum.now[0] - sum.written[0],
            rar: sum.now[1] - sum.written[1],
            meeting: if end == PhaseEnd::Slice { 0 } else { *meeting },
            end: end as u16,
            flags: coarse,
            reserved: 0,
        };
        if records.append(&p.file, record).is_some() {
            sum.written = sum.now;
        }
    }
    t.phases.since_ns = now;
    t.phases.is_clean = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_double_with_each_half_of_the_budget_and_end_with_it() {
        let plan = Plan::new(10, 1024, NonZeroU32::MIN);
        assert_eq!((plan.period_ns, plan.doublings()), (10_000_000, 0));
        let mut taken = 0;
        let mut last = 0;
        while plan.take(48) {
            taken += 48;
            let left = 1024 - taken;
            assert!(plan.doublings() >= last);
            last = plan.doublings();
            // The next power of two is not reached before half of the rest is used.
            assert!(1024 >> last >= left && (left == 0 || 1024 >> (last + 1) < left), "{left} left: {last}");
        }
        assert_eq!(taken, 1008);
        assert!(plan.take(16) && !plan.take(1));
    }

    #[test]
    fn threads_that_share_processors_make_sums_as_rarely_as_all_together_may() {
        for (threads, processors) in [(1, 8), (8, 8), (16, 2), (17, 2), (100, 1)] {
            let rest = Plan::new(10, 1024, NonZeroU32::new(processors).unwrap()).rest(40_000, threads);
            // Each is at it once in that time, and they have no more processors than that.
            let part = f64::from(threads) * 40_000.0 / rest as f64 / f64::from(processors.min(threads));
            assert!(part <= 1.0 / 64.0 && part > 1.0 / 64.0 / 2.0, "{threads} on {processors}: {part}");
        }
    }

    #[test]
    fn meetings_of_barriers_and_of_teams_are_told_apart() {
        let mut phases = Phases::new();
        let mut found = Vec::new();
        for (number, barrier) in [(1, 0), (1, 1), (2, 0), (1 << 20, 3), (3, (1 << 20) - 1)] {
            phases.meets(number, barrier);
            found.push(phases.meeting);
            phases.meets_in_region(number, barrier);
            found.push(phases.meeting);
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!((found.len(), found[0] > 0), (10, true));
        phases.meets_in_region(0, 7);
        assert_eq!(phases.meeting, 0, "regions that nobody numbered do not meet each other");
    }

    #[test]
    fn writers_keep_their_sums_while_the_list_grows() {
        let mut phases = Phases::new();
        for writer in 0..1000 {
            phases.sum(writer * 3).unwrap().now = [u64::from(writer), 1];
        }
        for writer in 0..1000 {
            assert_eq!(phases.sum(writer * 3).unwrap().now, [u64::from(writer), 1]);
        }
        assert_eq!(phases.all().len(), 1000);
    }
}
