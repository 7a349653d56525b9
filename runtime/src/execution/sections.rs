//! Dynamic instances of parallel sections, as threads of POSIX bound them.
//!
//! *Barrier to barrier.* A phase begins when a thread is let go by a barrier (or when it is created) and ends when it
//! arrives at the next. Threads that one round of a barrier lets go at the same time share the next phase: its key is
//! that barrier, its ordinal the round that ends it if it comes back there.
//!
//! *Barrier to join.* After the last barrier a phase ends with the thread. Of a thread that joins others it ends there,
//! if those it joins are of the same phase: what it does alone afterwards is serial code. Which they are the analysis
//! knows, so what the thread does from its first join on is recorded apart.
//!
//! *Create to join.* What a thread creates until it joins is one instance; its own part is marked as that of the
//! primary.
//!
//! Everything that bounds an instance goes through [`arrive`] and [`depart`].

use super::barriers;
use super::part::{self, Identity, Part};
use crate::file::appender::Appender;
use crate::process::Process;
use crate::thread::Thread;
use core::ptr;
use threadtalk_profile::layout::{InstanceKind, InstanceRecord, NO_THREAD, block, instance_flags, thread_flags};

/// A thread's parts.
pub struct Sections {
    /// Where they are written.
    pub records: Appender<InstanceRecord>,
    /// From one barrier to the next.
    pub phase: Part,
    /// From the thread's creation to its end.
    pub life: Part,
    /// From the first creation of a thread to the first join.
    pub group: Part,
    /// Groups of threads that this thread created before.
    groups: u64,
    /// The group has been joined, at least in part: what is created next is another.
    is_joined: bool,
}

impl Sections {
    /// None.
    pub const fn new() -> Self {
        Self {
            records: Appender::new(block::INSTANCES),
            phase: Part::new(),
            life: Part::new(),
            group: Part::new(),
            groups: 0,
            is_joined: true,
        }
    }
}

pub(crate) fn phase(t: &mut Thread) -> &mut Part {
    &mut t.execution.sections.phase
}

fn life(t: &mut Thread) -> &mut Part {
    &mut t.execution.sections.life
}

fn group(t: &mut Thread) -> &mut Part {
    &mut t.execution.sections.group
}

/// The calling thread is about to wait at a barrier of any kind: its phase is over.
pub fn arrive(t: &mut Thread, p: &Process, site: u32) {
    if !phase(t).is_open {
        // One that was closed before, as by a join that the thread never came back from, is not what ends here.
        phase(t).record = ptr::null_mut();
    }
    part::close(t, p, phase, site);
}

/// A barrier lets the calling thread go: the phase `next` begins.
pub fn depart(t: &mut Thread, p: &Process, next: Identity) {
    part::release(p, &t.execution.sections.phase);
    part::reopen(t, p, phase, next);
}

/// At `pthread_barrier_wait`, before it. Returns what [`after_barrier`] needs.
pub fn before_barrier(t: &mut Thread, p: &Process, address: usize, site: u32) -> Option<Identity> {
    let round = barriers::arrive(address)?;
    t.phases.meets(round.key, round.number);
    let part = phase(t);
    if part.is_open && part.identity.key == 0 {
        // The first phase of a thread learns only now what it is.
        (part.identity.key, part.identity.ordinal) = (round.key, round.number);
    }
    part.identity.team = round.team;
    arrive(t, p, site);
    Some(Identity {
        kind: InstanceKind::Barrier,
        key: round.key,
        ordinal: round.number + 1,
        weight: part::weight_in(p, round.number + 1),
        flags: 0,
        team: round.team,
        begin_site: site,
    })
}

/// After it.
pub fn after_barrier(t: &mut Thread, p: &Process, next: Identity) {
    depart(t, p, next);
}

/// The calling thread creates one at `site`. Returns the number of its group.
pub fn creates(t: &mut Thread, p: &Process, site: u32) -> u64 {
    let key = u64::from(t.view.thread());
    let sections = &mut t.execution.sections;
    if !sections.is_joined {
        group(t).identity.team += 1;
        return t.execution.sections.groups - 1;
    }
    sections.is_joined = false;
    let ordinal = sections.groups;
    sections.groups += 1;
    let weight = part::weight_in(p, ordinal);
    let flags = instance_flags::PRIMARY;
    part::open(
        t,
        p,
        group,
        Identity { kind: InstanceKind::Join, key, ordinal, weight, flags, team: 1, begin_site: site },
    );
    if phase(t).identity.flags & instance_flags::RESUMED != 0 {
        // The group may meet at barriers of its own: another first phase.
        end_phase(t, p, site);
    }
    if barriers::exist() && (!phase(t).is_open || phase(t).identity.key == 0) {
        begin_first_phase(t, p);
    }
    ordinal
}

/// The calling thread is about to join another.
pub fn before_join(t: &mut Thread, p: &Process, site: u32) {
    t.execution.sections.is_joined = true;
    part::close(t, p, group, site);
    if phase(t).identity.flags & instance_flags::RESUMED == 0 {
        end_phase(t, p, site);
    }
}

/// It has joined it, or could not.
pub fn after_join(t: &mut Thread, p: &Process) {
    part::release(p, &t.execution.sections.group);
    let ended = t.execution.sections.phase;
    if !ended.record.is_null() && ended.identity.flags & instance_flags::RESUMED == 0 {
        part::release(p, &ended);
        let flags = ended.identity.flags & !instance_flags::LAST | instance_flags::RESUMED;
        part::open(t, p, phase, Identity { flags, ..ended.identity });
    }
}

/// The phase ends before a barrier does it, if it has come to be known which it is.
fn end_phase(t: &mut Thread, p: &Process, site: u32) {
    if phase(t).identity.key != 0 {
        phase(t).identity.flags |= instance_flags::LAST;
        part::close(t, p, phase, site);
    }
}

/// A logical thread begins on this block.
pub(super) fn thread_begins(t: &mut Thread, p: &Process) {
    let sections = &mut t.execution.sections;
    (sections.phase.is_open, sections.life.is_open, sections.group.is_open) = (false, false, false);
    (sections.groups, sections.is_joined) = (0, true);
    if t.record.is_null() {
        return;
    }
    // SAFETY: this thread's record, which its creator filled before the thread existed.
    let (creator, site, flags, number) =
        unsafe { ((*t.record).creator, (*t.record).creation_site, (*t.record).flags, (*t.record).group) };
    if creator == 0 || flags & (thread_flags::OPENMP | thread_flags::OVERFLOW) != 0 {
        return;
    }
    let weight = part::weight_in(p, number);
    let kind = InstanceKind::Join;
    let key = u64::from(creator - 1);
    part::open(t, p, life, Identity { kind, key, ordinal: number, weight, flags: 0, team: 0, begin_site: site });
    if barriers::exist() {
        begin_first_phase(t, p);
    }
}

/// The phase before a thread's first barrier, which is not known yet.
fn begin_first_phase(t: &mut Thread, p: &Process) {
    let weight = p.options.instances.min(1);
    part::open(t, p, phase, Identity { kind: InstanceKind::Barrier, weight, ..Identity::default() });
}

/// The calling thread ends. What came after its last barrier is a phase of those that it shared that with.
pub(super) fn thread_ends(t: &mut Thread, p: &Process) {
    end_phase(t, p, 0);
    part::close(t, p, life, 0);
    (phase(t).is_open, group(t).is_open) = (false, false);
    debug_assert!(t.view.thread() != NO_THREAD);
}
