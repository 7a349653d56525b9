//! Parallel regions of OpenMP and the barriers in them, as OMPT tells of them.
//!
//! A team's size counts from the begin of its region to its end ([`super::levels`]). A thread's part begins with its
//! implicit task and ends when it arrives at the region's last barrier; a worker leaves that only when the next region
//! begins, so the primary says when the region was over. Tasks that a thread executes at a barrier belong to its part:
//! counts are added and the arrival moves to the last task's end.

use super::counters::Reading;
use super::part::{self, Identity, Part};
use super::pieces::{self, Pieces};
use super::waiting::{self, NO_FRAME};
use super::{code, waiting::take_site};
use crate::process::Process;
use crate::thread::Thread;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use threadtalk_profile::layout::{BlockedKind, InstanceKind, LevelKind, instance_flags};

/// Regions inside regions whose parts are recorded.
const DEPTH: usize = 4;
/// Regions under way at a time that workers can find by number.
const REGIONS: usize = 1024;

/// Bits of [`Teams::owes`].
const REGION: u32 = 1;
const PHASE: u32 = 2;

/// A region under way.
struct Region {
    number: AtomicU64,
    key: AtomicU64,
    ordinal: AtomicU64,
    site: AtomicU32,
}

static UNDER_WAY: [Region; REGIONS] = [const {
    Region { number: AtomicU64::new(0), key: AtomicU64::new(0), ordinal: AtomicU64::new(0), site: AtomicU32::new(0) }
}; REGIONS];
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A thread in a team.
struct Member {
    region: Part,
    /// From one barrier of the region to the next.
    phase: Part,
    barriers: u64,
    /// The region's number, and its barriers at which the thread has arrived, recorded or not.
    number: u64,
    arrivals: u64,
    site: u32,
    pieces: Pieces,
    /// CPU time of the tasks at the last barrier before the one that runs, and when that began.
    task_cpu_ns: u64,
    /// What the kernel had counted then.
    task_reading: Reading,
}

impl Member {
    const fn new() -> Self {
        Self {
            region: Part::new(),
            phase: Part::new(),
            barriers: 0,
            number: 0,
            arrivals: 0,
            site: 0,
            pieces: Pieces::new(),
            task_cpu_ns: 0,
            task_reading: Reading::NONE,
        }
    }
}

/// A region that this thread forks.
#[derive(Clone, Copy)]
struct Fork {
    number: u64,
    raised: i32,
}

/// A thread's place in teams.
pub struct Teams {
    members: [Member; DEPTH],
    depth: usize,
    forks: [Fork; DEPTH],
    forked: usize,
    is_forking: bool,
    /// Where the latest fork is, as the pass stored it; 0 = in code without the pass.
    fork_site: u32,
    /// Where the barrier is at which the thread has just arrived, as the pass stored it.
    barrier_site: u32,
    /// The region whose team this thread is a worker of, for the primary to find.
    current: AtomicU64,
    /// It executed tasks after its arrival whose counts are not written yet.
    owes: AtomicU32,
    /// When the primary ended that region; 0 = not yet.
    released_ns: AtomicU64,
}

impl Teams {
    /// In no team.
    pub const fn new() -> Self {
        Self {
            members: [const { Member::new() }; DEPTH],
            depth: 0,
            forks: [Fork { number: 0, raised: 0 }; DEPTH],
            forked: 0,
            is_forking: false,
            fork_site: 0,
            barrier_site: 0,
            current: AtomicU64::new(0),
            owes: AtomicU32::new(0),
            released_ns: AtomicU64::new(0),
        }
    }

    /// The thread is between the begin of a region and its own part in it: what it creates are workers.
    pub fn is_forking(&self) -> bool {
        self.is_forking
    }

    /// The site of the fork that creates workers.
    pub fn fork_site(&self) -> u32 {
        self.fork_site
    }

    /// The thread is a worker that the count of threads does not hold outside of its regions.
    pub fn is_worker(&self) -> bool {
        self.current.load(Ordering::Relaxed) != 0
    }

    /// The block serves another thread.
    pub fn clear(&mut self) {
        (self.depth, self.forked, self.is_forking) = (0, 0, false);
        self.current.store(0, Ordering::Relaxed);
        self.owes.store(0, Ordering::Relaxed);
    }
}

fn member(t: &mut Thread) -> &mut Member {
    let top = t.execution.teams.depth.clamp(1, DEPTH) - 1;
    &mut t.execution.teams.members[top]
}

fn region(t: &mut Thread) -> &mut Part {
    &mut member(t).region
}

fn phase(t: &mut Thread) -> &mut Part {
    &mut member(t).phase
}

/// The work that was handed out to the thread in its innermost team.
pub(super) fn handed_out(t: &mut Thread) -> &mut Pieces {
    &mut member(t).pieces
}

/// The thread's parts in its innermost team, if they are recorded: open, or closed while it executes tasks at a
/// barrier.
pub(super) fn recorded(t: &mut Thread) -> impl Iterator<Item = &mut Part> {
    let recorded = is_recorded(t);
    let own = member(t);
    let parts = [&mut own.region, &mut own.phase].into_iter();
    parts.filter(move |part| recorded && (part.is_open || !part.record.is_null()))
}

/// Whether the innermost team of the thread is one that is recorded.
pub(super) fn is_recorded(t: &Thread) -> bool {
    (1..=DEPTH).contains(&t.execution.teams.depth)
}

/// The primary begins a region for which it asked for so many threads. Returns the region's number.
pub fn region_begins(t: &mut Thread, p: &Process, threads: u32, address: *const c_void) -> u64 {
    let place = code::place(address);
    let stored = take_site(t);
    let site = if stored == 0 { code::site(t, p, address) } else { stored };
    t.execution.teams.fork_site = stored;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let slot = &UNDER_WAY[number as usize % REGIONS];
    slot.number.store(0, Ordering::Relaxed);
    slot.key.store(address.addr() as u64, Ordering::Relaxed);
    slot.ordinal.store(place.map_or(0, code::Place::next_instance), Ordering::Relaxed);
    slot.site.store(site, Ordering::Relaxed);
    // Release: partner is the load in `part_begins` on the workers.
    slot.number.store(number, Ordering::Release);
    let teams = &mut t.execution.teams;
    if let Some(fork) = teams.forks.get_mut(teams.forked) {
        let raised = threads.saturating_sub(1) as i32;
        *fork = Fork { number, raised };
        p.levels.come(p, raised);
    }
    teams.forked += 1;
    teams.is_forking = true;
    number
}

/// The calling thread begins its implicit task as number `index` of `team` threads.
pub fn part_begins(t: &mut Thread, p: &Process, number: u64, team: u32, index: u32) {
    let teams = &mut t.execution.teams;
    teams.depth += 1;
    if index == 0 {
        teams.is_forking = false;
        if let Some(fork) = teams.forked.checked_sub(1).and_then(|top| teams.forks.get_mut(top)) {
            let raised = team.saturating_sub(1) as i32;
            let by = raised - core::mem::replace(&mut fork.raised, raised);
            p.levels.come(p, by);
        }
    } else {
        teams.released_ns.store(0, Ordering::Relaxed);
        teams.owes.store(0, Ordering::Relaxed);
        teams.current.store(number, Ordering::Release);
    }
    if !is_recorded(t) {
        return;
    }
    let slot = &UNDER_WAY[number as usize % REGIONS];
    // Acquire: partner is the store in `region_begins`.
    let is_known = slot.number.load(Ordering::Acquire) == number && team > 1;
    let flags = if index == 0 { instance_flags::PRIMARY } else { 0 };
    let site = slot.site.load(Ordering::Relaxed);
    let ordinal = slot.ordinal.load(Ordering::Relaxed);
    let weight = if is_known { part::weight_in(p, ordinal) } else { 0 };
    let identity = Identity {
        kind: InstanceKind::OmpParallel,
        key: slot.key.load(Ordering::Relaxed),
        ordinal,
        weight,
        flags,
        team,
        begin_site: site,
    };
    let own = member(t);
    (own.barriers, own.site, own.region.identity) = (0, site, identity);
    (own.number, own.arrivals) = (number, 0);
    own.pieces.clear();
    part::open(t, p, region, identity);
    part::open_with(t, phase, region, phase_of(identity, 0, site, p));
}

/// The phase of a region after so many barriers.
fn phase_of(region: Identity, barriers: u64, begin_site: u32, p: &Process) -> Identity {
    Identity {
        kind: InstanceKind::OmpBarrier,
        ordinal: region.ordinal << 32 | barriers,
        weight: region.weight * part::weight_in(p, barriers),
        flags: region.flags & instance_flags::PRIMARY,
        begin_site,
        ..region
    }
}

/// The calling thread's implicit task ends; a worker's only when the next begins.
pub fn part_ends(t: &mut Thread) {
    t.execution.teams.depth = t.execution.teams.depth.saturating_sub(1);
}

/// The primary ends the region: all workers have arrived and are idle.
pub fn region_ends(t: &mut Thread, p: &Process) {
    let teams = &mut t.execution.teams;
    teams.forked = teams.forked.saturating_sub(1);
    let Some(fork) = teams.forks.get(teams.forked).copied() else { return };
    let now = p.elapsed_ns();
    let own = core::ptr::from_mut(t);
    for worker in p.pool.all().filter(|w| !core::ptr::eq(*w, own)) {
        // SAFETY: blocks are never unmapped; the words are atomic. A worker of this region changes nothing of its part
        // until the next region begins, which it does on this thread.
        unsafe {
            let teams = &(*worker).execution.teams;
            if teams.current.load(Ordering::Acquire) != fork.number {
                continue;
            }
            teams.released_ns.store(now, Ordering::Relaxed);
            let top = teams.depth.clamp(1, DEPTH) - 1;
            let (region, phase) = (teams.members[top].region, teams.members[top].phase);
            pay(worker, teams.owes.swap(0, Ordering::Relaxed), [&region, &phase], t, p);
            part::release(p, &region);
            part::release(p, &phase);
        }
    }
    // The workers' waits at the last barrier have taken them from the effective ones.
    p.levels.change(p, LevelKind::Nominal, -fork.raised);
}

/// The calling thread arrives at a barrier; `is_last`: at the end of its region.
pub fn barrier_begins(t: &mut Thread, p: &Process, is_last: bool, address: *const c_void) {
    let stored = take_site(t);
    t.execution.teams.barrier_site = stored;
    if !is_recorded(t) {
        return;
    }
    let own = member(t);
    own.arrivals += 1;
    let (number, arrivals) = (own.number, own.arrivals);
    t.phases.meets_in_region(number, arrivals);
    if !(region(t).is_open || phase(t).is_open) {
        return;
    }
    member(t).task_cpu_ns = 0;
    pieces::barrier(t, p);
    if !is_last {
        let site = if stored == 0 { code::site(t, p, address) } else { stored };
        member(t).site = site;
        part::close(t, p, phase, site);
        return;
    }
    let (barriers, site) = (member(t).barriers, region(t).identity.begin_site);
    if barriers > 0 {
        part::close(t, p, phase, site);
    }
    phase(t).is_open = false;
    part::close(t, p, region, site);
}

/// It is let go.
pub fn barrier_ends(t: &mut Thread, p: &Process, is_last: bool) {
    t.phases.parts();
    if !is_recorded(t) {
        return;
    }
    if is_last {
        if region(t).identity.flags & instance_flags::PRIMARY != 0 {
            settle(t, p);
            part::release(p, &member(t).region);
            part::release(p, &member(t).phase);
        }
        return;
    }
    settle(t, p);
    let own = member(t);
    part::release(p, &own.phase);
    if !own.region.is_open {
        return;
    }
    own.barriers += 1;
    let next = phase_of(own.region.identity, own.barriers, own.site, p);
    own.pieces.phase_begins();
    // What tasks counted at the barrier is settled.
    part::reopen(t, p, phase, next);
}

/// The wait at a barrier, a `taskwait` or a lock begins. A worker waits for the next region after its last barrier.
pub fn wait_begins(t: &mut Thread, p: &Process, kind: BlockedKind, is_last: bool, address: *const c_void) {
    let stored = match core::mem::take(&mut t.execution.teams.barrier_site) {
        0 => take_site(t),
        stored => stored,
    };
    let site = match region(t).identity.begin_site {
        site if is_last && site != 0 => site,
        _ if stored != 0 => stored,
        _ => code::site(t, p, address),
    };
    waiting::begin(t, p, kind, Some(site), NO_FRAME);
}

/// It ends.
pub fn wait_ends(t: &mut Thread, p: &Process, is_last: bool) {
    if is_last && !is_primary(t) {
        let released = t.execution.teams.released_ns.load(Ordering::Relaxed);
        waiting::becomes_idle(t, p, released);
    }
    waiting::end(t, p);
}

fn is_primary(t: &mut Thread) -> bool {
    region(t).identity.flags & instance_flags::PRIMARY != 0
}

/// Whether the thread is at a barrier, so that tasks which it executes there belong to parts that are closed. At a
/// `taskwait` they are inside of open ones.
fn has_arrived(t: &mut Thread) -> bool {
    let own = member(t);
    [&own.region, &own.phase].into_iter().any(|part| !part.is_open && !part.record.is_null())
}

/// The thread switches to a task, in a wait or in another task.
pub fn task_begins(t: &mut Thread, p: &Process) {
    pieces::task_begins(t, p);
    if waiting::interrupt(t, p) && has_arrived(t) {
        member(t).task_cpu_ns = t.execution.tree.cpu_ns();
        member(t).task_reading = t.execution.counters.read().unwrap_or(Reading::NONE);
    }
}

/// The task is complete.
pub fn task_ends(t: &mut Thread, p: &Process) {
    // Before the parts' arrival moves: the piece ends inside them.
    pieces::task_ends(t, p);
    if !waiting::resume(t, p) || !has_arrived(t) {
        return;
    }
    let cpu = t.execution.tree.cpu_ns().saturating_sub(member(t).task_cpu_ns);
    let reading = t.execution.counters.read();
    let own = member(t);
    let (before, mut owes, mut numbers) = (own.task_reading, 0, [0; 2]);
    for ((part, bit), number) in [(&own.region, REGION), (&own.phase, PHASE)].into_iter().zip(&mut numbers) {
        if !part.is_open && !part.record.is_null() {
            part::amend(p, part, cpu);
            owes |= bit;
            // SAFETY: a record of the profile, mapped for the life of the process.
            *number = unsafe { (*part.record).number };
        }
    }
    if let Some(now) = reading {
        numbers.iter().filter(|number| **number != 0).for_each(|number| {
            part::write_events(t, p, *number, (&before, &now));
        });
    }
    t.execution.teams.owes.fetch_or(owes, Ordering::Relaxed);
}

/// Counts of tasks after the arrival go to the parts.
fn settle(t: &mut Thread, p: &Process) {
    let owes = t.execution.teams.owes.swap(0, Ordering::Relaxed);
    let own = core::ptr::from_mut(t);
    let (region, phase) = (member(t).region, member(t).phase);
    // SAFETY: the calling thread's own block.
    unsafe { pay(own, owes, [&region, &phase], t, p) };
}

/// Writes what `worker` owes its parts.
///
/// # Safety
/// `worker` is a control block whose thread does not change its parts now.
unsafe fn pay(worker: *mut Thread, owes: u32, parts: [&Part; 2], t: &mut Thread, p: &Process) {
    for (part, bit) in parts.into_iter().zip([REGION, PHASE]) {
        if owes & bit != 0 {
            // SAFETY: the caller's promise.
            unsafe { part::write_counts_of(worker, t, p, part) };
        }
    }
}
