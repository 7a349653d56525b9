//! Threads of the profiled program.
//!
//! A *control block* ([`Thread`]) is the memory of a live thread; blocks are recycled. A *logical thread* is a number
//! in the profile; it is never used again. [`attach`] brings the two together, [`detach`] parts them.

pub mod allowance;
pub mod checked;
pub mod column;
pub mod diversity;
pub mod firsts;
pub mod lookups;
pub mod memos;
pub mod mixtures;
pub mod pair;
pub mod patterns;
pub mod pending;
pub mod pool;
pub mod questions;
pub mod quiet;
pub mod roll;
pub mod seen;
pub mod steady;
pub mod visits;
pub mod windows;

use crate::core_api::CreationTicket;
use crate::distance::bystander::Bystander;
use crate::distance::trace::Traces;
use crate::distance::watch::Watches;
use crate::events::Table;
use crate::execution::Execution;
use crate::file::appender::Appender;
use crate::lifecycle::{threads, tls};
use crate::memory;
use crate::memory::arena::Arena;
use crate::objects::Allocated;
use crate::phases::Phases;
use crate::process::Process;
use allowance::Allowance;
use checked::Checked;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use diversity::Diversity;
use firsts::Firsts;
use lookups::Lookups;
use mixtures::Mixtures;
use patterns::Patterns;
use questions::Questions;
use quiet::{Pattern, Quiet};
use seen::Seen;
use steady::Steady;
use threadtalk_abi::bundle::LEARN_IN;
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_abi::memo::{MEMOS, Memo};
use threadtalk_abi::thread::{
    EMPTY_KEY, EVENT_SITE_FACTOR, EVENT_SLOTS, EventCounter, EventSlot, QUIETS, ThreadHeader,
};
use threadtalk_abi::window::{NUMBERS, SHORTEST, SHORTEST_ASKED};
use threadtalk_abi::{DIRECTORY_ENTRIES, GRANULE};
use threadtalk_profile::layout::{EventRecord, ThreadRecord, block};
use threadtalk_sigmem::open::Known;
use threadtalk_sigmem::{ChunkStock, Transition, View, Writable};
use visits::Visits;
use windows::Windows;

/// log2 of the slots of a thread's transition cache: 1024 of 16 bytes.
const TRANSITIONS_LOG2: u32 = 10;

/// The control block. Only its own thread touches it, but for `header.events` (pause) and the pool's link.
///
/// What each first read looks at comes first, in two lines of the cache.
#[repr(C)]
pub struct Thread {
    /// What inlined code sees; first.
    pub header: ThreadHeader,
    /// A hook is at work: another one that arrives now comes from a signal handler. Only [`pair`] reads another
    /// thread's.
    pub busy: AtomicBool,
    /// True communications that may be counted with nothing else to be done.
    pub allowance: Allowance,
    /// The real event cache, while `header.events` may point to the empty one.
    pub events: *mut EventSlot,
    /// Innermost open user region, or 0.
    pub context: u32,
    /// First reads that it has made.
    pub firsts: Firsts,
    /// Whether it meets ever new sets of readers.
    pub diversity: Diversity,
    /// Elements whose next usage is waited for.
    pub watches: *mut Watches,
    /// Where reads that are no events count.
    pub idle: EventCounter,
    /// What whole loops have seen in the running nest.
    pub seen: Seen,
    /// What they have seen in chunks that the thread has claimed.
    pub quiet: Quiet,
    /// What is known reuse in chunks of which it shares a claim.
    pub steady: Steady,
    /// Its directory for writes.
    pub writable: Writable,
    /// What loops of the running nest have seen, for inlined code.
    pub windows: Windows,
    /// Which short loops it asks about.
    pub questions: Questions,
    /// What bundles of reads know.
    pub patterns: Patterns,
    /// What some of them count in.
    pub mixtures: Mixtures,
    /// This thread's view of the signature.
    pub view: View,
    /// Chunks of cells taken and not yet used.
    pub chunks: ChunkStock,
    /// Its event records.
    pub table: Table<*mut EventRecord>,
    /// Where new ones go.
    pub records: Appender<EventRecord>,
    /// They have used up the part of their budget that is for records with lines.
    pub records_full: bool,
    /// Reuse distance.
    pub traces: Traces,
    /// Reads of elements that others wait for.
    pub bystander: Bystander,
    /// Memory for exact traces.
    pub arena: Arena,
    /// Region entries.
    pub visits: Visits,
    /// Communication over time.
    pub phases: Phases,
    /// What it has allocated last.
    pub latest_block: Allocated,
    /// True communications whose allocation is looked up.
    pub lookups: Lookups,
    /// Reuse that is followed exactly and whose allocation is looked up.
    pub reuse_lookups: Lookups,
    /// Its record in the profile.
    pub record: *mut ThreadRecord,
    /// Events whose cells were checked for aliasing.
    pub checked: Checked,
    /// Counters of control flow, waits, parallel sections.
    pub execution: Execution,
    /// Next free block in the pool.
    pub next_free: AtomicU64,
}

impl Thread {
    /// A new control block for any number of logical threads, one after the other.
    pub fn create(process: &Process) -> Option<*mut Thread> {
        let place = memory::reserve(size_of::<Thread>())?.as_ptr().cast::<Thread>();
        let events = memory::reserve(size_of::<EventSlot>() * EVENT_SLOTS as usize)?.as_ptr().cast::<EventSlot>();
        let transitions = memory::reserve(size_of::<Transition>() << TRANSITIONS_LOG2)?.as_ptr().cast::<Transition>();
        let windows = Windows::new()?;
        let patterns = Patterns::new()?;
        let watches = memory::reserve(size_of::<Watches>())?.as_ptr().cast::<Watches>();
        // SAFETY: zeroed memory of the right size that belongs to this block for ever.
        let mut view = unsafe { View::new(0, process.site_bits, transitions, TRANSITIONS_LOG2) };
        let lines = process.open_lines;
        if !lines.is_empty() {
            let known = memory::reserve(lines.len() * size_of::<AtomicU64>())?.as_ptr().cast_const().cast();
            // SAFETY: zeroed, a word for each line, never unmapped, and this block's alone.
            view.known = unsafe { Known::new(lines, known) };
        }
        let thread = Thread {
            header: ThreadHeader {
                directory: process.signature.directory.base().cast(),
                own_base: 0,
                own_span: view.own_span(),
                write_base: 0,
                site_bits: process.site_bits,
                events,
                visits: ptr::null_mut(),
                call_site: 0,
                memos_used: 0,
                column: process.levels.waste(),
                own: 0,
                foreign: 0,
                write: 0,
                writable: process.signature.directory.base().cast(),
                memos: [const { Memo::new(ptr::null_mut()) }; MEMOS],
                ranges: 0,
                windows: windows.table(),
                stamp: NUMBERS,
                shortest: SHORTEST,
                settled: 0,
                events_first: u64::MAX,
                events_end: 0,
                quiets: [NONE as u64; QUIETS],
                called: u64::MAX,
                patterns: patterns.table(),
                learn_in: LEARN_IN,
                least_asked: SHORTEST_ASKED,
            },
            windows,
            questions: Questions::new(),
            patterns,
            mixtures: Mixtures::new()?,
            firsts: Firsts::new()?,
            seen: Seen::new(),
            quiet: Quiet::new()?,
            steady: Steady::new()?,
            writable: Writable::NONE,
            busy: AtomicBool::new(false),
            allowance: Allowance::default(),
            events,
            idle: EventCounter { rar: 0, next: u64::MAX },
            diversity: Diversity::default(),
            view,
            chunks: ChunkStock::default(),
            table: Table::new(),
            records: Appender::new(block::EVENTS),
            records_full: false,
            traces: Traces::new(process.options.crd_bytes)?,
            watches,
            bystander: Bystander::default(),
            arena: Arena::with_budget(process.options.crd_bytes as usize),
            visits: Visits::new(),
            phases: Phases::new(),
            context: 0,
            latest_block: Allocated::default(),
            lookups: Lookups::default(),
            reuse_lookups: Lookups::default(),
            record: ptr::null_mut(),
            checked: Checked::default(),
            // A constant, not put together on the stack: the smallest ones have 16 KiB.
            execution: const { Execution::new() },
            next_free: AtomicU64::new(0),
        };
        // SAFETY: `place` is ours and large enough.
        unsafe { place.write(thread) };
        // SAFETY: just written.
        unsafe { (*place).forget_memos() };
        Some(place)
    }

    /// Gives the block a directory for writes, if there is address space; without, nobody claims anything.
    pub fn join(&mut self, process: &Process) {
        let entries = if memory::is_limited() { None } else { memory::reserve((DIRECTORY_ENTRIES * 8) as usize) };
        // SAFETY: zeroed, of the right length, never unmapped, and this block's for ever.
        match entries.and_then(|entries| unsafe { process.claims.join(entries.as_ptr().cast()) }) {
            Some(writable) => {
                self.writable = writable;
                self.header.writable = writable.base().cast();
            }
            None => process.claims.give_up(),
        }
    }

    /// Before the thread's inlined code, or what stands for it, writes the cell of a granule.
    #[inline]
    pub fn enter(&mut self, process: &Process, address: u64) {
        if !process.claims.is_entered(&self.writable, address) {
            self.enter_anew(process, address);
        }
    }

    #[cold]
    fn enter_anew(&mut self, process: &Process, address: u64) {
        // One that stays on the slow path ends shared claims all the same.
        process.claims.overwrite(&self.writable, address);
        if !self.quiet.bears((&process.claims, &self.writable), self.header.own_base, address)
            && let Some(offset) = process.signature.directory.offset(address)
        {
            self.quiet.is_entered(self.header.own_base, address);
            process.claims.enter(&self.writable, address, offset);
        }
    }

    /// Before a loop of the thread, or a function whose range is known, writes `from .. to`, in one chunk with cells.
    #[inline]
    pub fn overwrite(&mut self, process: &Process, (from, to): (u64, u64)) {
        process.claims.overwrite(&self.writable, from);
        self.quiet.forget(self.header.own_base, (from, to), Pattern::ALL);
    }

    /// The block begins to serve logical thread `id`. False without room for its counters.
    ///
    /// # Safety
    /// `record` is null or that thread's place on the roll.
    pub unsafe fn begin(&mut self, process: &Process, id: u32, record: *mut ThreadRecord, alone: bool) -> bool {
        self.view.pass_on(id);
        // SAFETY: this block's own memory, from `reserve`.
        self.view.known.forget(|at, bytes| unsafe { memory::forget(at, bytes) });
        self.header.set_own(self.view.own_base(), self.view.own_span());
        self.header.quiets = [NONE.into(); QUIETS];
        self.set_alone(alone);
        self.record = record;
        self.context = 0;
        self.busy.store(false, Ordering::Relaxed);
        self.forget_events();
        self.firsts.clear();
        self.forget_memos();
        self.phases.begin(process);
        self.header.visits = match self.visits.begin(process, id) {
            Some(counters) => counters,
            None => return false,
        };
        self.header.events = if process.is_paused() { process.no_events } else { self.events };
        self.header.patterns = if process.is_paused() { process.no_patterns } else { self.patterns.table() };
        self.header.windows = if process.is_paused() { process.no_windows } else { self.windows.table() };
        // SAFETY: the caller's promise: this is the calling thread's block.
        unsafe { Execution::begin(self, process) };
        true
    }

    /// The block's thread ends: its counts go where they stay.
    pub fn end(&mut self, process: &Process) {
        // What a jump out of a signal handler has left over.
        memos::settle(&mut self.header.memos);
        self.forget_memos();
        self.patterns.forget();
        Execution::end(self, process);
        self.settle_allowance();
        self.checked.flush(process);
        self.visits.end(process, self.view.thread());
        self.table.clear();
        self.records_full = false;
        process.header_count(crate::process::accuracy::CRD_BUDGET_REACHED, self.traces.clear());
        let mut ended = |element| {
            if process.plan.waiters.leave(element) {
                crate::hooks::event::take_mark_away(process, element);
            }
        };
        // SAFETY: the watches belong to this block.
        unsafe { (*self.watches).clear(&mut ended) };
        self.bystander = Bystander::default();
        // SAFETY: the traces that used it are gone.
        unsafe { self.arena.reset() };
    }

    /// Whether this thread is the only one: what it writes from now on is serial.
    pub fn set_alone(&mut self, alone: bool) {
        let parallel = if alone { 0 } else { 1 << self.header.site_bits };
        self.header.set_write_base(self.header.own_base + parallel);
    }

    /// Empties the event cache.
    pub fn forget_events(&mut self) {
        self.patterns.forget();
        for i in 0..EVENT_SLOTS as usize {
            // SAFETY: below the length of the cache.
            unsafe { (*self.events.add(i)).key = EMPTY_KEY };
        }
    }

    /// The counter of reads at `site` of cells in `state`, if the event cache has it.
    #[inline]
    pub fn known(&self, state: u32, site: u32) -> Option<*mut EventCounter> {
        // SAFETY: this block's cache.
        unsafe { known_at((self.events.cast_const(), site), state) }
    }

    /// The same of a pair that may have lost its slot to another one: where a loop has some dozens of pairs, two of
    /// them meet as often as not.
    #[inline]
    pub fn counter_of(&self, state: u32, site: u32) -> Option<*mut EventCounter> {
        self.known(state, site).or_else(|| {
            let known = self.firsts.get(firsts::Key::new(state, site, self.context))?;
            (known.to == state).then_some(known.record.cast())
        })
    }

    /// Whether a reuse distance of this thread waits for the element at an address.
    #[inline]
    pub fn waits_for(&self, address: u64) -> bool {
        // SAFETY: the watches belong to this block.
        unsafe { (*self.watches).unwatched(address / GRANULE, 1) == 0 }
    }

    /// The counter of reads that are no events.
    pub fn idle_counter(&self) -> *mut EventCounter {
        (&raw const self.idle).cast_mut()
    }

    /// From now on a read at `site` of a cell in `state` is no event, and is settled inline.
    #[inline]
    pub fn remember_no_event(&mut self, state: u32, site: u32) {
        if state & SHARED != 0 {
            let both = u64::from(state) << 32 | u64::from(state);
            if let Some(place) = self.header.quiets.get_mut(state as usize % QUIETS) {
                *place = both;
            }
        }
        let idle = &raw mut self.idle;
        self.remember(state, site, idle);
    }

    /// From now on a read at `site` of a cell in `state` is counted inline in `counter`.
    #[inline]
    pub fn remember(&mut self, state: u32, site: u32, counter: *mut EventCounter) {
        let slot = state.wrapping_add(site.wrapping_mul(EVENT_SITE_FACTOR)) % EVENT_SLOTS as u32;
        // SAFETY: below the length of the cache.
        unsafe {
            *self.events.add(slot as usize) = EventSlot { key: u64::from(site) << 32 | u64::from(state), counter }
        };
    }

    /// Whether one more event record fits into `budget` bytes together with the table that finds them.
    pub fn has_room_for_record(&self, budget: u64) -> bool {
        let records = (self.table.len() + 1) * size_of::<EventRecord>();
        (self.table.bytes_with_one_more() + records) as u64 <= budget
    }
}

/// The counter of reads at a site of cells in `state`, if an event cache has it.
///
/// # Safety
/// `events` is a thread's cache, the calling thread's own.
#[inline]
pub unsafe fn known_at((events, site): (*const EventSlot, u32), state: u32) -> Option<*mut EventCounter> {
    let slot = state.wrapping_add(site.wrapping_mul(EVENT_SITE_FACTOR)) % EVENT_SLOTS as u32;
    // SAFETY: below the length of the cache.
    let slot = unsafe { &*events.add(slot as usize) };
    (slot.key == u64::from(site) << 32 | u64::from(state)).then_some(slot.counter)
}

/// The calling thread's control block; null until it is attached.
#[inline(always)]
pub fn own_block() -> *mut Thread {
    tls::thread().cast()
}

/// Gives the calling thread a control block.
pub fn set_own_block(thread: *mut Thread) {
    tls::set_thread(thread.cast());
}

/// The calling thread's control block; attached now if it was not. Never null once the process is set up.
pub fn current() -> *mut Thread {
    let thread = own_block();
    if thread.is_null() { attach_unknown() } else { thread }
}

/// Attaches a thread that nobody announced: the first one, or one made by a raw `clone`.
#[cold]
pub fn attach_unknown() -> *mut Thread {
    let process = crate::process::start();
    if !process.is_recording() {
        set_own_block(process.off);
        return process.off;
    }
    let first = process.roll.is_empty();
    if !first {
        process.alive.fetch_add(1, Ordering::Relaxed);
        process.levels.come(process, 1);
    }
    let ticket = process.roll.enter(process, 0, 0);
    if !first {
        threads::adopt(CreationTicket(u64::from(ticket.id)));
    }
    attach(process, ticket, first)
}

/// Attaches the calling thread as a logical thread. `alone`: it is the only one.
pub fn attach(process: &'static Process, ticket: roll::Ticket, alone: bool) -> *mut Thread {
    // The first thread is alone and is bound later: see [`crate::process::binding`].
    if !alone {
        process.binding.thread_begins(ticket.id);
    }
    let Some(thread) = process.pool.take(process) else {
        set_own_block(process.off);
        return process.off;
    };
    // SAFETY: the pool gave the block to this thread alone.
    let begun = unsafe { (*thread).begin(process, ticket.id, ticket.record, alone) };
    let thread = if begun { thread } else { process.off };
    set_own_block(thread);
    roll::started(ticket.record, process);
    thread
}

/// The calling thread ends; its block serves another one.
pub fn detach(process: &'static Process) {
    let thread = own_block();
    if thread.is_null() || thread == process.off {
        return;
    }
    set_own_block(process.off);
    // SAFETY: this thread's block; the thread-local pointer does not lead to it any more.
    unsafe {
        (*thread).end(process);
        roll::ended((*thread).record, process);
    }
    process.alive.fetch_sub(1, Ordering::Relaxed);
    process.pool.put(thread);
}
