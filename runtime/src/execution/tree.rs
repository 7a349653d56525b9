//! Time by region, as a call tree of each thread in the profile itself.
//!
//! Two readings of the time stamp counter for each visit give the time on the clock. CPU time costs a system call, so
//! it is read once in a *window* of at least 50 microseconds, and before and after waits; a window's CPU time is shared
//! out by the time on the clock, which is exact where no window holds both a wait and work. Waits of less than five
//! microseconds are in windows with the work around them: they spin, and cost a processor as much as work does. Before
//! a longer one that comes so soon after the window's begin, CPU time is not read: what was done until then took as
//! much as the clock says, and the rest is the wait's. What a thread spends in a loop that waits is no CPU time here.
//!
//! Recursion folds: a region inside itself is the node that it is inside of, whose time runs once. Regions that are
//! short are not timed after a while: see [`super::short`].

use super::short::{self, Short};
use crate::events::{EventKey, Table};
use crate::file::appender::Appender;
use crate::memory;
use crate::process::{Process, clock};
use crate::thread::Thread;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_profile::layout::{NodeRecord, block};

/// Least length of a window.
const WINDOW_NS: u64 = 50_000;
/// What is shorter is not told apart: tasks of a microsecond that wait for others took 16 times as long with a reading
/// of CPU time before and after each wait.
const SHORT_NS: u64 = 5_000;
/// Deepest stack: 1.5 MiB of addresses. What is deeper belongs to the deepest frame.
const FRAMES: usize = 1 << 16;
/// Nodes of a thread. What would be further nodes belongs to their callers.
const NODES: u32 = 1 << 16;
/// Bits for regions that are not timed: 2 MiB of addresses.
pub const REGIONS: usize = 1 << 24;
/// Where a tree has the address of these bits, for the entry points of hooks; null until a region is timed.
pub(super) const UNTIMED: usize = core::mem::offset_of!(Tree, untimed);

/// What the trees of all threads share.
pub struct Shared {
    /// The next node's number.
    next: AtomicU32,
    short: Short,
}

impl Shared {
    /// Numbers from 1; nothing is known to be short.
    pub const fn new() -> Self {
        Self { next: AtomicU32::new(1), short: Short::new() }
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Frame {
    node: u32,
    region: u32,
    /// Since when its time is not yet in its node.
    since: u64,
    /// The node's outermost frame: its time runs.
    runs: u64,
}

/// A node at work. The first one is the thread's start.
#[derive(Clone, Copy)]
#[repr(C)]
struct Work {
    record: *mut NodeRecord,
    /// Ticks inside since the window began.
    ticks: u64,
    /// Open frames.
    open: u32,
    parent: u32,
    region: u32,
    /// In the list of nodes with ticks; the next one plus 1.
    is_listed: u32,
    next: u32,
    /// Begins and ends of waits inside.
    waits: u32,
}

/// A thread's call tree.
pub struct Tree {
    frames: *mut Frame,
    depth: usize,
    /// Frames whose time runs, from the outermost: their indices.
    running: *mut u32,
    runs: usize,
    work: *mut Work,
    nodes: u32,
    /// First of the list of nodes with ticks, plus 1.
    listed: u32,
    children: Table<u32>,
    records: Appender<NodeRecord>,
    untimed: *mut u64,
    window_ticks: u64,
    window_cpu_ns: u64,
    /// Ticks of the least window, and of what is short.
    least: u64,
    short: u64,
    /// When the present wait began.
    wait_ticks: u64,
    /// CPU time of the thread in loops that wait for others.
    spun_ns: u64,
}

impl Tree {
    /// Nothing, without memory.
    pub const fn new() -> Self {
        Self {
            frames: ptr::null_mut(),
            depth: 0,
            running: ptr::null_mut(),
            runs: 0,
            work: ptr::null_mut(),
            nodes: 0,
            listed: 0,
            children: Table::new(),
            records: Appender::new(block::NODES),
            untimed: ptr::null_mut(),
            window_ticks: 0,
            window_cpu_ns: 0,
            least: 0,
            short: 0,
            wait_ticks: 0,
            spun_ns: 0,
        }
    }

    fn make_room(&mut self) -> Option<()> {
        if self.frames.is_null() {
            let frames = memory::reserve(FRAMES * size_of::<Frame>())?;
            let running = memory::reserve(FRAMES * size_of::<u32>())?;
            let work = memory::reserve(NODES as usize * size_of::<Work>())?;
            self.untimed = memory::reserve(REGIONS / 8)?.as_ptr().cast();
            (self.work, self.running) = (work.as_ptr().cast(), running.as_ptr().cast());
            self.frames = frames.as_ptr().cast();
        }
        Some(())
    }

    fn frame(&mut self, index: usize) -> &mut Frame {
        debug_assert!(index < FRAMES);
        // SAFETY: callers pass indices below the depth, or the next one, which is below FRAMES.
        unsafe { &mut *self.frames.add(index) }
    }

    fn node(&mut self, index: u32) -> &mut Work {
        debug_assert!(index < NODES);
        // SAFETY: indices come from `nodes`, which stays below NODES.
        unsafe { &mut *self.work.add(index as usize) }
    }

    fn current(&mut self) -> u32 {
        match self.depth.min(FRAMES) {
            0 => 0,
            depth => self.frame(depth - 1).node,
        }
    }

    fn is_untimed(&self, region: u32) -> bool {
        let word = region as usize / 64;
        // SAFETY: below the number of words.
        word < REGIONS / 64 && unsafe { *self.untimed.add(word) } >> (region % 64) & 1 != 0
    }

    /// The node of a region under the current one.
    fn child(&mut self, thread: u32, p: &Process, region: u32) -> u32 {
        let current = self.current();
        let key = EventKey { written: current, site: region, context: 1 };
        if let Some(known) = self.children.get(key) {
            return known;
        }
        let mut outer = current;
        while outer != 0 && self.node(outer).region != region {
            outer = self.node(outer).parent;
        }
        let node = if outer != 0 { outer } else { self.make_node(thread, p, current, region).unwrap_or(current) };
        self.children.insert(key, node);
        node
    }

    fn make_node(&mut self, thread: u32, p: &Process, parent: u32, region: u32) -> Option<u32> {
        let index = self.nodes + 1;
        if index >= NODES {
            return None;
        }
        let id = p.nodes.next.fetch_add(1, Ordering::Relaxed);
        let above = if parent == 0 { ptr::null_mut() } else { self.node(parent).record };
        // SAFETY: a record of the profile.
        let above = if above.is_null() { 0 } else { unsafe { (*above).id } };
        let record =
            self.records.append(&p.file, NodeRecord { thread, id, parent: above, region, ..NodeRecord::default() })?;
        self.nodes = index;
        *self.node(index) = Work { record, ticks: 0, open: 0, parent, region, is_listed: 0, next: 0, waits: 0 };
        Some(index)
    }

    /// Adds ticks to a node, for the end of the window.
    fn add(&mut self, index: u32, ticks: u64) {
        let listed = self.listed;
        let node = self.node(index);
        node.ticks += ticks;
        if node.is_listed == 0 {
            (node.is_listed, node.next) = (1, listed);
            self.listed = index + 1;
        }
    }

    /// CPU time of the calling thread, whose tree this is, without what it spent in loops that wait for others.
    pub(super) fn cpu_ns(&self) -> u64 {
        clock::thread_cpu_ns().saturating_sub(self.spun_ns)
    }

    /// So much CPU time was spent in such a loop.
    pub(super) fn has_spun(&mut self, ns: u64) {
        self.spun_ns = self.spun_ns.saturating_add(ns);
    }

    /// Ends the window: what its nodes have of it goes into their records.
    fn close_window(&mut self, p: &Process, now: u64) {
        self.close_window_at(p, now, self.cpu_ns());
    }

    /// The same at a moment at which the thread had had so much CPU time.
    fn close_window_at(&mut self, p: &Process, now: u64, cpu: u64) {
        for i in 0..self.runs {
            // SAFETY: below the number of running frames.
            let index = unsafe { *self.running.add(i) } as usize;
            let frame = self.frame(index);
            let (node, ticks) = (frame.node, now.saturating_sub(frame.since));
            frame.since = now;
            self.add(node, ticks);
        }
        let wall = p.ticks.ns(now.saturating_sub(self.window_ticks)).max(1);
        // Exact to 2^-53; a division of 128 bits would be a call.
        let share = cpu.saturating_sub(self.window_cpu_ns).min(wall) as f64 / wall as f64;
        while let Some(index) = self.listed.checked_sub(1) {
            let node = self.node(index);
            let (next, ticks, record) = (node.next, core::mem::take(&mut node.ticks), node.record);
            (node.is_listed, self.listed) = (0, next);
            let ns = p.ticks.ns(ticks);
            // SAFETY: a record of the profile, mapped for the life of the process; only this thread writes to it.
            unsafe {
                (*record).wall_ns += ns;
                (*record).cpu_ns += (ns as f64 * share) as u64;
            }
        }
        (self.window_ticks, self.window_cpu_ns) = (now, cpu);
    }

    fn begin(&mut self, p: &Process, now: u64) {
        (self.window_ticks, self.window_cpu_ns) = (now, self.cpu_ns());
        (self.least, self.short) = (p.ticks.ticks(WINDOW_NS), p.ticks.ticks(SHORT_NS));
    }

    /// A wait begins or ends in all regions that the thread is in: now. `None`: it is in none.
    fn waits(&mut self, p: &Process) -> Option<u64> {
        if self.depth == 0 {
            return None;
        }
        let now = p.ticks.now();
        for i in 0..self.runs {
            // SAFETY: below the number of running frames.
            let frame = unsafe { *self.running.add(i) } as usize;
            let node = self.frame(frame).node;
            let node = self.node(node);
            node.waits = node.waits.saturating_add(1);
        }
        Some(now)
    }

    /// Takes the innermost frame off.
    fn pop(&mut self, now: u64) {
        self.depth -= 1;
        if self.depth >= FRAMES {
            return;
        }
        let frame = *self.frame(self.depth);
        if frame.node == 0 {
            return;
        }
        if frame.runs != 0 {
            self.runs -= 1;
            self.add(frame.node, now.saturating_sub(frame.since));
        }
        let node = self.node(frame.node);
        node.open = node.open.saturating_sub(1);
    }

    /// Looks at a region that was left, every so many visits.
    fn judge(&mut self, p: &Process, index: u32) {
        // SAFETY: a record of the profile.
        let visits = unsafe { (*self.node(index).record).visits };
        if short::is_asked(visits) && self.node(index).open == 0 {
            self.judge_now(p, index, visits);
        }
    }

    /// Stops to time a region that is entered all the time for next to no time.
    #[cold]
    #[inline(never)]
    fn judge_now(&mut self, p: &Process, index: u32, visits: u64) {
        let node = *self.node(index);
        let word = node.region as usize / 64;
        // Relaxed: a number, no more.
        let threads = u64::from(p.alive.load(Ordering::Relaxed));
        if !p.nodes.short.is_due(node.region, visits, threads) || word >= REGIONS / 64 {
            return;
        }
        // SAFETY: a record of the profile.
        let (wall, cpu) = unsafe { ((*node.record).wall_ns, (*node.record).cpu_ns) };
        let open = p.ticks.ns(node.ticks);
        if short::is_tiny((visits, u64::from(node.waits)), wall + open, cpu + open) {
            p.nodes.short.found_short(node.region);
            // SAFETY: below the number of words.
            unsafe { *self.untimed.add(word) |= 1 << (node.region % 64) };
        }
    }

    /// Times all regions again: what was short for this thread may be all the work of the next one that has its block.
    fn time_all(&mut self) {
        for index in 1..=self.nodes {
            // Only regions of nodes are ever not timed.
            let region = self.node(index).region;
            let word = region as usize / 64;
            if word < REGIONS / 64 {
                // SAFETY: below the number of words.
                unsafe { *self.untimed.add(word) &= !(1 << (region % 64)) };
            }
        }
    }
}

/// The calling thread enters a region.
pub fn enter(t: &mut Thread, p: &Process, region: u32) {
    let thread = t.view.thread();
    let tree = &mut t.execution.tree;
    if tree.make_room().is_none() || tree.is_untimed(region) {
        return;
    }
    let now = p.ticks.now();
    if tree.least == 0 {
        tree.begin(p, now);
    }
    if tree.depth >= FRAMES {
        tree.depth += 1;
        return;
    }
    let index = tree.child(thread, p, region);
    let depth = tree.depth;
    if index == 0 {
        // No room for a single node.
        *tree.frame(depth) = Frame { node: 0, region, since: now, runs: 0 };
        tree.depth += 1;
        return;
    }
    let node = tree.node(index);
    let runs = node.open == 0;
    node.open += 1;
    if node.region == region {
        // SAFETY: a record of the profile; only this thread writes to it.
        unsafe { (*node.record).visits += 1 };
    }
    *tree.frame(depth) = Frame { node: index, region, since: now, runs: u64::from(runs) };
    tree.depth += 1;
    if runs {
        // SAFETY: there are no more running frames than frames.
        unsafe { *tree.running.add(tree.runs) = depth as u32 };
        tree.runs += 1;
    }
    if now.saturating_sub(tree.window_ticks) > tree.least {
        tree.close_window(p, now);
    }
}

/// It leaves the region, and all inside that it has left by a jump.
pub fn exit(t: &mut Thread, p: &Process, region: u32) {
    let tree = &mut t.execution.tree;
    if tree.depth > FRAMES {
        tree.depth -= 1;
        return;
    }
    let Some(top) = tree.depth.checked_sub(1) else { return };
    if tree.frame(top).region != region && tree.is_untimed(region) {
        return;
    }
    let Some(level) = (0..=top).rev().find(|i| tree.frame(*i).region == region) else { return };
    let now = p.ticks.now();
    let index = tree.frame(level).node;
    while tree.depth > level {
        tree.pop(now);
    }
    if now.saturating_sub(tree.window_ticks) > tree.least {
        tree.close_window(p, now);
        p.ticks.refine();
    }
    if index != 0 {
        tree.judge(p, index);
    }
}

/// The calling thread begins a wait.
pub fn wait_begins(t: &mut Thread, p: &Process) {
    let tree = &mut t.execution.tree;
    let Some(now) = tree.waits(p) else { return };
    tree.wait_ticks = now;
    if now.saturating_sub(tree.window_ticks) >= tree.short {
        tree.close_window(p, now);
    }
}

/// It ends it.
pub fn wait_ends(t: &mut Thread, p: &Process) {
    let tree = &mut t.execution.tree;
    let Some(now) = tree.waits(p) else { return };
    if now.saturating_sub(tree.wait_ticks) < tree.short {
        return;
    }
    let cpu = tree.cpu_ns();
    // The work before the wait, of which CPU time was not read.
    let work = tree.wait_ticks.saturating_sub(tree.window_ticks);
    if work > 0 {
        let begin_cpu = cpu.min(tree.window_cpu_ns + p.ticks.ns(work));
        tree.close_window_at(p, tree.wait_ticks, begin_cpu);
    }
    tree.close_window_at(p, now, cpu);
}

/// The calling thread ends.
pub(super) fn thread_ends(t: &mut Thread, p: &Process) {
    let tree = &mut t.execution.tree;
    if tree.least == 0 {
        tree.spun_ns = 0;
        return;
    }
    let now = p.ticks.now();
    while tree.depth > 0 {
        tree.pop(now);
    }
    tree.close_window(p, now);
    tree.time_all();
    tree.children.clear();
    (tree.nodes, tree.least, tree.spun_ns) = (0, 0, 0);
}
