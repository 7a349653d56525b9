//! Threads that wait: time by place and kind, and the effective number of threads.
//!
//! A wait begins before the call that blocks and ends after it. Waits nest (OpenMP's barrier waits by a condition
//! variable): the outermost counts. Tasks of OpenMP that a thread executes while it waits interrupt the wait.
//!
//! A thread that waits in a loop is on a processor meanwhile, with nothing to do: that is no CPU time to [`tree`].
//!
//! A wait that a jump or a cancellation leaves is ended by the next one, or with the thread.

use super::{on_thread, tree, watched};
use crate::events::{EventKey, Table};
use crate::file::appender::Appender;
use crate::phases;
use crate::process::{Process, clock};
use crate::thread::Thread;
use core::sync::atomic::{AtomicU64, Ordering};
use threadtalk_profile::layout::{BlockedKind, BlockedRecord, LevelKind, PhaseEnd, block};

/// Waits and tasks inside one another; what is deeper is not told apart.
const DEPTH: usize = 32;
/// The caller of OMPT: its frame says nothing about when the wait is over.
pub(crate) const NO_FRAME: usize = usize::MAX;

#[derive(Clone, Copy)]
struct Entry {
    /// A wait, or a task that interrupts one.
    waits: bool,
    /// Stack pointer at the call: a wait from higher up the stack shows that this one is left behind.
    frame: usize,
}

/// A thread's waits.
pub struct Waiting {
    stack: [Entry; DEPTH],
    depth: usize,
    /// The wait that counts: the kind and site of the outermost since the last task began.
    kind: BlockedKind,
    site: u32,
    since_ns: u64,
    /// CPU time when it began to wait in a loop.
    spins_since_ns: u64,
    /// The thread does not count as effective at present because of it.
    lowered: bool,
    table: Table<*mut BlockedRecord>,
    records: Appender<BlockedRecord>,
}

impl Waiting {
    /// No waits.
    pub const fn new() -> Self {
        Self {
            stack: [Entry { waits: false, frame: 0 }; DEPTH],
            depth: 0,
            kind: BlockedKind::Join,
            site: 0,
            since_ns: 0,
            spins_since_ns: 0,
            lowered: false,
            table: Table::new(),
            records: Appender::new(block::BLOCKED),
        }
    }

    fn top_waits(&self) -> bool {
        self.depth.checked_sub(1).and_then(|top| self.stack.get(top)).is_some_and(|entry| entry.waits)
    }

    fn push(&mut self, entry: Entry) {
        if let Some(place) = self.stack.get_mut(self.depth) {
            *place = entry;
        }
        self.depth += 1;
    }
}

/// Calls a function of the C library that may block. `site`: which call of the program it is.
#[inline]
pub fn during<T>(kind: BlockedKind, call: impl FnOnce() -> T) -> T {
    let mark = 0u8;
    let frame = (&raw const mark).addr();
    let began = on_thread(|t, p| begin(t, p, kind, None, frame)).is_some();
    let result = call();
    if began {
        on_thread(end);
    }
    result
}

/// Whether the calling thread's waits are recorded.
pub fn is_watched() -> bool {
    watched().is_some()
}

/// The thread is about to wait. `site`: where; `None` = where the pass says.
pub fn begin(t: &mut Thread, p: &Process, kind: BlockedKind, site: Option<u32>, frame: usize) {
    let site = site.unwrap_or_else(|| take_site(t));
    while t.execution.waiting.depth > 0 && is_left_behind(t, frame) {
        end(t, p);
    }
    let outermost = !t.execution.waiting.top_waits();
    t.execution.waiting.push(Entry { waits: true, frame });
    if outermost {
        let waiting = &mut t.execution.waiting;
        (waiting.kind, waiting.site) = (kind, site);
        let record = record_of(t, p);
        add(record, 1, 0);
        let now = p.elapsed_ns();
        phases::boundary(t, p, now, ends(kind));
        block(t, p, now);
    }
}

/// What a wait says about the phase before it.
fn ends(kind: BlockedKind) -> PhaseEnd {
    match kind {
        BlockedKind::Barrier | BlockedKind::OmpBarrier => PhaseEnd::Barrier,
        _ => PhaseEnd::Wait,
    }
}

/// The innermost wait is over.
pub fn end(t: &mut Thread, p: &'_ Process) {
    let waited = t.execution.waiting.top_waits();
    t.execution.waiting.depth = t.execution.waiting.depth.saturating_sub(1);
    if waited && !t.execution.waiting.top_waits() {
        let now = p.elapsed_ns();
        unblock(t, p, now);
        phases::resume(t, p, now);
    }
}

/// The thread executes a task while it waits, or in such a task. Returns whether it has waited until now.
pub fn interrupt(t: &mut Thread, p: &Process) -> bool {
    if t.execution.waiting.depth == 0 {
        return false;
    }
    let waited = t.execution.waiting.top_waits();
    t.execution.waiting.push(Entry { waits: false, frame: NO_FRAME });
    if waited {
        unblock(t, p, p.elapsed_ns());
    }
    waited
}

/// The task is done. Returns whether the thread waits again.
pub fn resume(t: &mut Thread, p: &Process) -> bool {
    if t.execution.waiting.depth == 0 || t.execution.waiting.top_waits() {
        return false;
    }
    t.execution.waiting.depth -= 1;
    let waits = t.execution.waiting.top_waits();
    if waits {
        block(t, p, p.elapsed_ns());
    }
    waits
}

/// The wait that is about to end was one at a barrier up to `released_ns` (0 = to its end) and idleness from there on:
/// the thread was no part of the program's threads then and joins them by other means.
pub fn becomes_idle(t: &mut Thread, p: &Process, released_ns: u64) {
    if !t.execution.waiting.top_waits() {
        return;
    }
    t.execution.waiting.lowered = false;
    let since = t.execution.waiting.since_ns;
    if released_ns == 0 {
        return;
    }
    let record = record_of(t, p);
    add(record, 0, released_ns.saturating_sub(since));
    t.execution.waiting.kind = BlockedKind::OmpIdle;
    t.execution.waiting.since_ns = since.max(released_ns);
    let record = record_of(t, p);
    add(record, 1, 0);
}

/// The site of the call that the program is about to make, as the pass stored it; it is used once.
pub fn take_site(t: &mut Thread) -> u32 {
    core::mem::take(&mut t.header.call_site)
}

/// The thread ends, or is about to serve another.
pub(super) fn thread_ends(t: &mut Thread, p: &Process) {
    if t.execution.teams.is_worker() {
        t.execution.waiting.lowered = false;
    }
    while t.execution.waiting.depth > 0 {
        end(t, p);
    }
    t.execution.waiting.table.clear();
}

fn is_left_behind(t: &Thread, frame: usize) -> bool {
    let waiting = &t.execution.waiting;
    let top = waiting.depth.checked_sub(1).and_then(|top| waiting.stack.get(top));
    top.is_some_and(|entry| entry.waits && entry.frame != NO_FRAME && frame != NO_FRAME && frame >= entry.frame)
}

fn block(t: &mut Thread, p: &Process, now: u64) {
    tree::wait_begins(t, p);
    if t.execution.waiting.kind == BlockedKind::Spin {
        t.execution.waiting.spins_since_ns = clock::thread_cpu_ns();
    }
    t.execution.waiting.since_ns = now;
    if !t.execution.waiting.lowered {
        t.execution.waiting.lowered = true;
        p.levels.change_at(p, LevelKind::Effective, -1, now);
    }
}

fn unblock(t: &mut Thread, p: &Process, now: u64) {
    let waiting = &mut t.execution.waiting;
    if waiting.kind == BlockedKind::Spin {
        let spun = clock::thread_cpu_ns().saturating_sub(waiting.spins_since_ns);
        t.execution.tree.has_spun(spun);
    }
    tree::wait_ends(t, p);
    let time = now.saturating_sub(t.execution.waiting.since_ns);
    let record = record_of(t, p);
    add(record, 0, time);
    if core::mem::take(&mut t.execution.waiting.lowered) {
        p.levels.change_at(p, LevelKind::Effective, 1, now);
    }
}

/// The record of the wait that counts; null without room.
fn record_of(t: &mut Thread, p: &Process) -> *mut BlockedRecord {
    let thread = t.view.thread();
    let waiting = &mut t.execution.waiting;
    let key = EventKey { written: waiting.kind as u32, site: waiting.site, context: 0 };
    if let Some(known) = waiting.table.get(key) {
        return known;
    }
    let fresh = BlockedRecord { thread, site: waiting.site, kind: waiting.kind as u16, ..BlockedRecord::default() };
    let Some(place) = waiting.records.append(&p.file, fresh) else { return core::ptr::null_mut() };
    waiting.table.insert(key, place).unwrap_or(core::ptr::null_mut())
}

fn add(record: *mut BlockedRecord, count: u64, ns: u64) {
    if !record.is_null() {
        // Only its thread adds, so nothing is locked; readers of a live file see aligned words.
        let add =
            |word: &AtomicU64, n: u64| word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        // SAFETY: a record of the profile, mapped for the life of the process.
        unsafe {
            add(AtomicU64::from_ptr(&raw mut (*record).count), count);
            add(AtomicU64::from_ptr(&raw mut (*record).wall_ns), ns);
        }
    }
}
