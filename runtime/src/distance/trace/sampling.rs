//! Traces that are sampled: single events are watched until their element is used again.

use super::super::histogram;
use super::super::pace::Plan;
use super::super::watch::{Inserted, Sample, Watch, Watches};
use super::{NO_TRACE, Traces, Verdict};
use crate::file::ProfileFile;
use crate::memory::arena::Arena;
use crate::thread::pending::Pending;
use threadtalk_profile::layout::{EventRecord, trace_flags};

/// Open watches that the end of an interval looks at, in the mean: where more began inside, one end in so many does.
const MOST_LOOKED_AT: u64 = 4;

/// Reads that a trace's watches have sent to the slow path are looked at when there are so many more.
const LOOK_AT: u32 = 256;

/// A trace's period doubles no more often for what its watches cost others: in a doubling of its length, all traces of
/// a region together have 256 samples left of 4096.
const MOST_DOUBLINGS: u32 = 4;

impl Traces {
    /// A number of events of a record from one that is sampled to the next one.
    ///
    /// # Safety
    /// As for [`Self::usage`].
    pub unsafe fn gap(&mut self, event: *const EventRecord, plan: &Plan) -> u64 {
        // SAFETY: the caller's promise.
        let number = unsafe { (*event).private };
        // SAFETY: adopted records carry the number of a trace that exists.
        if number == NO_TRACE || unsafe { !(*self.slots.add(number as usize)).sampled } {
            return u64::MAX / 2;
        }
        self.pace.gap(self.period(number, self.clock(number), plan))
    }

    /// The trace has been followed exactly for long enough.
    pub(super) fn go_sampling(&mut self, number: u32, arena: &mut Arena, plan: &Plan) {
        let period = self.period(number, self.clock(number), plan);
        // SAFETY: the number is that of a trace.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        t.stack.dissolve(arena);
        t.sampled = true;
        let mut event = t.events;
        // SAFETY: as above; the record is mapped.
        unsafe { (*t.record).flags |= trace_flags::SAMPLED | trace_flags::MAKES_UP };
        let first = self.pace.gap(period);
        // SAFETY: as above.
        unsafe { (*self.slots.add(number as usize)).raw_countdown = first };
        while !event.is_null() {
            let gap = self.pace.gap(period);
            // SAFETY: the list holds event records of this thread, mapped for the life of the process.
            unsafe {
                (*event).next = (*event).rar + gap;
                event = (*event).link as *mut EventRecord;
            }
        }
    }

    /// [`Traces::usage`] in a trace that is sampled.
    ///
    /// # Safety
    /// `event` is a record of the trace of this number.
    #[inline]
    pub(super) unsafe fn sampled_usage(
        &mut self,
        (event, number): (*mut EventRecord, u32),
        (element, raw, watched): (u64, bool, bool),
        plan: &Plan,
        (watches, threads): (&mut Watches, u32),
        pending: &mut Pending<'_>,
        file: &ProfileFile,
    ) -> Verdict {
        // `waits`: this thread counts among those who wait for the element, for this trace.
        let (mut ended, mut waits) = (false, false);
        // SAFETY: the number is that of a trace.
        let newest = unsafe { &mut (*self.slots.add(number as usize)).newest };
        if (raw || watched)
            && let Some(watch) = watches.take(element, number, newest)
        {
            pending.settle();
            let clock = self.clock(number);
            let interval = clock - watch.start;
            self.look_inside(number, &watch, interval, watches, file);
            // SAFETY: as above; no other reference into the slots is live.
            let t = unsafe { &mut *self.slots.add(number as usize) };
            // SAFETY: the record is mapped.
            let record = unsafe { &mut *t.record };
            histogram::add(&mut record.sampled, interval, u64::from(watch.weight), &mut self.pages, file);
            record.samples += 1;
            if t.intervals.note(interval, clock) {
                self.begin_anew(number, file);
            }
            (ended, waits) = (true, true);
        }
        // SAFETY: as above.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        let due = if raw {
            t.raw_countdown = t.raw_countdown.saturating_sub(1);
            t.raw_countdown == 0
        } else {
            // SAFETY: the caller's promise.
            unsafe { (*event).rar >= (*event).next }
        };
        if due {
            pending.settle();
            let clock = self.clock(number);
            let period = self.period(number, clock, plan);
            let gap = self.pace.gap(period);
            // SAFETY: as above.
            unsafe {
                if raw {
                    (*self.slots.add(number as usize)).raw_countdown = gap;
                } else {
                    (*event).next = (*event).rar + gap;
                }
            }
            let random = self.pace.random() as u32;
            // SAFETY: as above.
            let t = unsafe { &mut *self.slots.add(number as usize) };
            let begun = t.begun + period;
            let sample = Sample { element, start: clock, trace: number, weight: period as u32, begun };
            watches.share_with(threads);
            waits = waits || plan.waiters.enter(element);
            // Without that, another thread is taking the mark away: another event is sampled instead.
            match waits.then(|| watches.insert(sample, random, &mut t.newest)) {
                None | Some(Inserted::AlreadyWatched) => {}
                Some(Inserted::Watched) => {
                    t.begun = begun;
                    return Verdict::Track { instead_of: None };
                }
                Some(Inserted::Instead { of_trace, element, now_newest }) => {
                    t.begun = begun;
                    self.pace.crowded();
                    // SAFETY: watches carry numbers of traces that exist: they are cleared with the traces.
                    let other = unsafe { &mut *self.slots.add(of_trace as usize) };
                    other.newest = now_newest.unwrap_or(other.newest);
                    // SAFETY: the record is mapped.
                    unsafe { (*other.record).abandoned += 1 };
                    return Verdict::Track { instead_of: plan.waiters.leave(element).then_some(element) };
                }
            }
        }
        // A mark that stays is another thread's. It sends the element's next read to the slow path, whatever is known
        // of its state.
        if waits && plan.waiters.leave(element) {
            return Verdict::Untrack;
        }
        // A write took the mark along, and another trace waits for the element.
        let is_lost = raw && !ended && !watched && watches.unwatched(element, 1) == 0;
        if is_lost { Verdict::Track { instead_of: None } } else { Verdict::Count }
    }

    /// How many true communications of neighbouring elements from `first` on, `most` at most, can be counted in `event`
    /// with nothing else to be done: the trace is sampled, no sample is due before them, nobody waits for the elements.
    /// They are taken off the time until the next sample; the caller counts them.
    ///
    /// # Safety
    /// As for [`Self::usage`].
    #[inline]
    pub unsafe fn quiet(&mut self, event: *const EventRecord, first: u64, most: u64, watches: &mut Watches) -> u64 {
        // SAFETY: the caller's promise.
        let number = unsafe { (*event).private };
        if number == NO_TRACE {
            return most;
        }
        // SAFETY: adopted records carry the number of a trace that exists.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        if !t.sampled {
            return 0;
        }
        let quiet = watches.unwatched(first, most.min(t.raw_countdown.saturating_sub(1)));
        t.raw_countdown -= quiet;
        quiet
    }

    /// What counts down to the next sample of the true communications of a record's trace: not above 0 as long as that
    /// is followed exactly. Good for as long as the record's thread lives.
    ///
    /// # Safety
    /// As for [`Self::usage`].
    pub unsafe fn countdown(&self, event: *const EventRecord) -> *mut u64 {
        // SAFETY: the caller's promise.
        let number = unsafe { (*event).private };
        let place = if number == NO_TRACE { self.room } else { number as usize };
        // SAFETY: adopted records carry the number of a trace that exists; the last slot is there, too.
        unsafe { &raw mut (*self.slots.add(place)).raw_countdown }
    }

    /// Whether so many true communications of an event can be counted before one of them is sampled.
    ///
    /// # Safety
    /// As for [`Self::usage`].
    pub unsafe fn have_room(&self, event: *const EventRecord, n: u64) -> bool {
        // SAFETY: the caller's promise.
        let number = unsafe { (*event).private };
        if number == NO_TRACE {
            return true;
        }
        // SAFETY: adopted records carry the number of a trace that exists.
        let t = unsafe { &*self.slots.add(number as usize) };
        t.sampled && t.raw_countdown > n
    }

    /// A watch of the trace has sent a read of another trace to the slow path.
    #[inline]
    pub fn is_in_the_way(&mut self, number: u32, plan: &Plan) {
        // SAFETY: watches carry numbers of traces that exist: they are cleared with the traces.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        t.in_the_way += 1;
        if t.in_the_way.is_multiple_of(LOOK_AT) {
            self.gives_way(number, plan);
        }
    }

    /// [`Traces::is_in_the_way`], unless the trace is to be looked at for that: false, and nothing was done.
    #[inline(always)]
    pub fn bears(&mut self, number: u32) -> bool {
        // SAFETY: as above.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        let is_due = (t.in_the_way + 1).is_multiple_of(LOOK_AT);
        t.in_the_way += u32::from(!is_due);
        !is_due
    }

    #[cold]
    #[inline(never)]
    fn gives_way(&mut self, number: u32, plan: &Plan) {
        let most = plan.most_in_the_way(self.region(number));
        // SAFETY: as above.
        let t = unsafe { &mut *self.slots.add(number as usize) };
        if u64::from(t.in_the_way) >= most {
            (t.in_the_way, t.doublings) = (0, (t.doublings + 1).min(MOST_DOUBLINGS));
        }
    }

    /// An interval has ended. Of the samples that began inside of it, those that are still open are of elements that
    /// were not used again: what they stand for is an estimate of its distinct elements, the others of its repetitions.
    /// One interval tells little; the shares of all of a length tell the analysis how distances of this length become
    /// distinct ones, in this trace, at these times.
    fn look_inside(&mut self, number: u32, watch: &Watch, interval: u64, watches: &Watches, file: &ProfileFile) {
        // SAFETY: the number is that of a trace; its record is mapped.
        let t = unsafe { &*self.slots.add(number as usize) };
        let inside = t.begun.saturating_sub(watch.begun);
        let one_in = (inside / u64::from(watch.weight.max(1)) / MOST_LOOKED_AT).max(1);
        if inside == 0 || !self.pace.random().is_multiple_of(one_in) {
            return;
        }
        let open = watches.open_since(watch.begun, t.newest);
        // SAFETY: as above.
        let record = unsafe { &mut *t.record };
        let weight = u64::from(watch.weight).saturating_mul(one_in);
        let weighted = |events: u64| weight.saturating_mul(events);
        histogram::add_length(&mut record.begun, interval, weighted(inside), &mut self.pages, file);
        histogram::add_length(&mut record.open, interval, weighted(open), &mut self.pages, file);
    }

    /// The sampling period of a trace with so many events.
    fn period(&self, number: u32, clock: u64, plan: &Plan) -> u64 {
        // SAFETY: the number is that of a trace.
        let doublings = unsafe { (*self.slots.add(number as usize)).doublings };
        self.pace.period(clock, self.region(number), doublings, plan)
    }
}
