//! The traces of a thread: exact at first, then sampled ([`sampling`]).

mod sampling;

use super::change::Intervals;
use super::histogram::{self, Pages};
use super::pace::{Pace, Plan};
use super::stack::{ExactStack, Usage};
use super::watch::{Link, Watches};
use crate::events::{EventKey, Table};
use crate::file::ProfileFile;
use crate::file::appender::Appender;
use crate::memory::arena::Arena;
use crate::thread::pending::Pending;
use core::ptr;
use threadtalk_profile::layout::{BUCKET_PAGES, CrdMode, EventRecord, LENGTH_PAGES, TraceRecord, block};

/// Records of a trace besides the first: what changes more often is a mixture after all.
const MOST_FURTHER: u32 = 15;

/// A trace in memory. Zeroed memory is not a valid one.
///
/// What each first read looks at is in the first line: in two, it took a thirtieth of the time of a sparse product by
/// 16 threads, whose 240 traces are not in the first-level cache.
#[repr(C, align(64))]
pub struct Trace {
    /// True communication until the next sample.
    raw_countdown: u64,
    sampled: bool,
    /// Its latest watch.
    newest: Link,
    /// How often its period was doubled for reads of other traces.
    doublings: u32,
    record: *mut TraceRecord,
    /// The event records that make up this trace, linked through `EventRecord::link`.
    events: *mut EventRecord,
    /// Events that all of its samples stood for when they began.
    begun: u64,
    /// Reads of other traces that its watches have sent to the slow path since its period was last doubled.
    in_the_way: u32,
    /// Records besides the first.
    further_records: u32,
    /// The intervals of its latest record.
    intervals: Intervals,
    stack: ExactStack,
}

/// What the caller is to do with the element's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Later reuse may be counted inline.
    Count,
    /// Later reuse must come here.
    Report,
    /// As `Report`, for this element only: mark its cell. The watch of another element may have made room.
    Track {
        /// The other element, if nobody waits for it any more: its mark is to be taken away.
        instead_of: Option<u64>,
    },
    /// As `Count`, and nobody waits for the element any more: its mark is to be taken away.
    Untrack,
}

fn empty(reader: u32, writer: u32, region: u32) -> TraceRecord {
    TraceRecord {
        reader,
        writer,
        region,
        flags: 0,
        exact_usages: 0,
        exact_elements: 0,
        samples: 0,
        abandoned: 0,
        distinct: [0; BUCKET_PAGES],
        index: [0; BUCKET_PAGES],
        sampled: [0; BUCKET_PAGES],
        begun: [0; LENGTH_PAGES],
        open: [0; LENGTH_PAGES],
    }
}

/// All traces of one thread. Lives in zeroed memory of the thread's control block.
pub struct Traces {
    slots: *mut Trace,
    count: usize,
    /// Slots for traces. The one behind them is of none: it counts down to no sample.
    room: usize,
    /// Number of the trace of (writer, region).
    names: Table<u32>,
    records: Appender<TraceRecord>,
    pages: Pages,
    /// What [`Pages::left`] is for a new thread.
    budget: u64,
    pace: Pace,
    /// Traces that went over to sampling or were not begun because a budget was used up.
    budget_reached: u64,
}

/// Room for so many traces in a thread; the events of more are counted and not measured.
const MOST_TRACES: usize = 1 << 20;
/// What a trace takes besides its tables and pages: its record, its slot, and up to four slots of the table of names.
const TRACE_BYTES: u64 = (size_of::<TraceRecord>() + size_of::<Trace>() + 4 * 24) as u64;

/// `EventRecord::private` of a record whose events belong to no trace.
pub const NO_TRACE: u32 = u32::MAX;

impl Traces {
    /// No traces, with reserved memory for all of them. What they leave in the profile takes `budget` bytes at most.
    /// `None`: no memory.
    pub fn new(budget: u64) -> Option<Self> {
        let slots = |room: usize| Some((crate::memory::reserve((room + 1) * size_of::<Trace>())?, room));
        // Where addresses are scarce, events are counted and not measured.
        let (slots, room) = slots(MOST_TRACES).or_else(|| slots(0))?;
        let slots = slots.as_ptr().cast::<Trace>();
        // SAFETY: the last of as many slots as were reserved.
        unsafe { (*slots.add(room)).raw_countdown = u64::MAX };
        Some(Self {
            slots,
            room,
            count: 0,
            names: Table::new(),
            records: Appender::new(block::TRACES),
            pages: Pages::new(budget),
            budget,
            pace: Pace::new(),
            budget_reached: 0,
        })
    }

    /// The trace of (writer, region), begun if it is new. `None`: no room for one.
    pub fn of(&mut self, (reader, writer): (u32, u32), region: u32, plan: &Plan, file: &ProfileFile) -> Option<u32> {
        let key = EventKey { written: writer, site: region, context: 0 };
        match self.names.get(key) {
            Some(number) => Some(number),
            None => {
                let number = self.begin(reader, writer, region, file)?;
                plan.shares.enter(region);
                self.names.insert(key, number)
            }
        }
    }

    fn begin(&mut self, reader: u32, writer: u32, region: u32, file: &ProfileFile) -> Option<u32> {
        if self.count == self.room || !self.pages.take(TRACE_BYTES) {
            self.budget_reached += 1;
            return None;
        }
        let record = self.records.append(file, empty(reader, writer, region))?;
        let number = self.count;
        self.count += 1;
        let trace = Trace {
            raw_countdown: 0,
            sampled: false,
            newest: 0,
            doublings: 0,
            record,
            events: ptr::null_mut(),
            begun: 0,
            in_the_way: 0,
            further_records: 0,
            intervals: Intervals::new(),
            stack: ExactStack::new(),
        };
        // SAFETY: number < room, which the reserved memory has.
        unsafe { self.slots.add(number).write(trace) };
        Some(number as u32)
    }

    /// Begins a further record of a trace: its intervals are of another kind than before.
    fn begin_anew(&mut self, number: u32, file: &ProfileFile) {
        // SAFETY: the number is that of a trace; its record is mapped.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        if t.further_records == MOST_FURTHER || !self.pages.take(size_of::<TraceRecord>() as u64) {
            return;
        }
        // SAFETY: as above.
        let old = unsafe { &*t.record };
        let record = TraceRecord { flags: old.flags, ..empty(old.reader, old.writer, old.region) };
        if let Some(new) = self.records.append(file, record) {
            (t.record, t.further_records) = (new, t.further_records + 1);
        }
    }

    /// Makes an event record part of a trace.
    ///
    /// # Safety
    /// `event` is a record of this thread that belongs to no trace, and `trace` came from [`Self::begin`].
    pub unsafe fn adopt(&mut self, trace: u32, event: *mut EventRecord, plan: &Plan) {
        // SAFETY: the caller's promise.
        let t = unsafe { &mut *self.slots.add(trace as usize) };
        // SAFETY: as above.
        unsafe {
            (*event).link = t.events as u64;
            (*event).private = trace;
        }
        t.events = event;
        // SAFETY: as above.
        unsafe { (*event).next = (*event).rar + self.gap(event, plan) };
    }

    /// An event of `element`, counted already in `event`. `watched`: the cell is marked. `thread`: what it has besides,
    /// and the number of threads that share what may be watched.
    ///
    /// # Safety
    /// `event` is a record of this thread; it was given to [`Self::adopt`] or its `private` is [`NO_TRACE`].
    pub unsafe fn usage(
        &mut self,
        event: *mut EventRecord,
        element: u64,
        raw: bool,
        watched: bool,
        plan: &Plan,
        thread: (&mut Arena, (&mut Watches, u32), &mut Pending<'_>, &ProfileFile),
    ) -> Verdict {
        let (arena, (watches, threads), pending, file) = thread;
        // SAFETY: the caller's promise.
        let number = unsafe { (*event).private };
        if number == NO_TRACE {
            return Verdict::Count;
        }
        // SAFETY: adopted records carry the number of a trace that exists.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        if !t.sampled {
            let full = self.exact_usage(number, element, arena, file);
            // SAFETY: as above; the record is mapped.
            let usages = unsafe { (*(*self.slots.add(number as usize)).record).exact_usages };
            let over = plan.mode == CrdMode::Auto && plan.follow(self.region(number), usages);
            if full || over {
                self.budget_reached += u64::from(full);
                self.go_sampling(number, arena, plan);
                return Verdict::Count;
            }
            return Verdict::Report;
        }
        // SAFETY: the caller's promise; the number is that of a trace.
        unsafe { self.sampled_usage((event, number), (element, raw, watched), plan, (watches, threads), pending, file) }
    }

    /// Forgets all traces; what they found is in the file. The arena is reset by the caller. Returns how many traces
    /// suffered from a budget that was used up; histograms that lack counts because of it count as one.
    pub fn clear(&mut self) -> u64 {
        self.count = 0;
        self.names.clear();
        self.pace.begin_anew();
        let suffered = self.budget_reached + u64::from(self.pages.refused);
        (self.budget_reached, self.pages.refused, self.pages.left) = (0, false, self.budget);
        suffered
    }

    fn exact_usage(&mut self, number: u32, element: u64, arena: &mut Arena, file: &ProfileFile) -> bool {
        // SAFETY: the number is that of a trace; its record is mapped.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        // SAFETY: as above.
        let record = unsafe { &mut *t.record };
        match t.stack.usage(element, arena) {
            Usage::First => record.exact_elements += 1,
            Usage::Again { distinct, index } => {
                histogram::add(&mut record.distinct, distinct, 1, &mut self.pages, file);
                histogram::add(&mut record.index, index, 1, &mut self.pages, file);
            }
            Usage::Full => return true,
        }
        record.exact_usages += 1;
        false
    }

    /// Events of the trace so far.
    fn clock(&self, number: u32) -> u64 {
        // SAFETY: the number is that of a trace; the list holds mapped records.
        let mut event = unsafe { (*self.slots.add(number as usize)).events };
        let mut sum = 0;
        while !event.is_null() {
            // SAFETY: as above.
            unsafe {
                sum += (*event).rar + (*event).raw;
                event = (*event).link as *mut EventRecord;
            }
        }
        sum
    }

    /// The region that a trace belongs to.
    fn region(&self, number: u32) -> u32 {
        // SAFETY: the number is that of a trace; its record is mapped.
        unsafe { (*(*self.slots.add(number as usize)).record).region }
    }
}
