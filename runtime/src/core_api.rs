//! What the lifecycle and the interposed functions tell the core. The one place where the two halves of the runtime
//! meet: `intercept`, `lifecycle` and `openmp` find out what happens, the rest of the crate counts.
//!
//! All of these may be called at any time after [`process_start`] returned true, on any thread, also from signal
//! handlers that the program runs, and none of them may call what `intercept` replaces on the program's heap.

use crate::execution::{self, sections, waiting};
use crate::file::name::Path;
use crate::hooks::{on_thread, range};
use crate::phases;
use crate::process::end::{self, End};
use crate::process::{self, Process, accuracy, environment};
use crate::thread::{self, Thread, roll};
use core::ffi::{c_char, c_int};
use core::sync::atomic::Ordering;
use threadtalk_profile::layout::{PhaseEnd, thread_flags};

mod trace;
use trace::trace;

/// What [`thread_created`] hands to the new thread: the core's own number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreationTicket(pub u64);

impl CreationTicket {
    /// The ticket of the thread that the process began with.
    pub const FIRST: Self = Self(0);
}

/// Part of the address space: `low <= address < high`. Empty when not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressRange {
    /// First address.
    pub low: usize,
    /// First address after it.
    pub high: usize,
}

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `exit`, return from main, end of the last thread: nothing of the program runs any more on this thread.
    Normal,
    /// `_exit`, `quick_exit`, `abort`: other threads may still run.
    Abrupt,
}

/// What becomes of the profile in a forked child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// The parent goes on with it; the child must leave the shared mapping.
    Leaves,
    /// The parent ends at once (`daemon`): the child goes on with it.
    TakesOver,
}

/// Before anything else of the process runs. False: profiling is off, and nothing here will be called again.
pub fn process_start(arguments: &[*const c_char], environment: *const *const c_char) -> bool {
    trace!("process_start", arguments.len());
    environment::use_if_unset(environment);
    process::start().is_recording()
}

/// In the parent, before it creates a thread: gives it its number and turns the caller's writes to "parallel".
pub fn thread_created() -> CreationTicket {
    on_thread(|t, p| phases::boundary(t, p, p.elapsed_ns(), PhaseEnd::Wait));
    let ticket = match recorded() {
        None => CreationTicket(NO_TICKET),
        Some((process, thread)) => {
            thread.set_alone(false);
            process.binding.thread_creates(thread.view.thread());
            CreationTicket(u64::from(enter(process, thread)))
        }
    };
    trace!("thread_created", ticket.0);
    ticket
}

/// Counts a thread that the calling one is about to create; its number.
fn enter(process: &Process, thread: &mut Thread) -> u32 {
    let creator = thread.view.thread() + 1;
    if thread.execution.teams.is_forking() {
        // A worker: the team counts it, and only while it is in one.
        let ticket = process.roll.enter(process, creator, thread.execution.teams.fork_site());
        roll::flag(ticket.record, thread_flags::OPENMP);
        return ticket.id;
    }
    let site = waiting::take_site(thread);
    let ticket = process.roll.enter(process, creator, site);
    process.levels.come(process, 1);
    let group = sections::creates(thread, process, site);
    if !ticket.record.is_null() {
        // SAFETY: a record of the roll.
        unsafe { (*ticket.record).group = group };
    }
    ticket.id
}

/// In the parent: the thread could not be created. `alone`: the caller is the only thread again.
pub fn thread_create_failed(ticket: CreationTicket, alone: bool) {
    trace!("thread_create_failed", ticket.0, alone as u64);
    let Some((process, thread)) = recorded() else { return };
    process.file.count(accuracy::THREADS, 1u64.wrapping_neg());
    if is_counted(process, ticket) {
        process.levels.come(process, -1);
    }
    with_record(process, ticket, roll::strike_off);
    thread.set_alone(alone);
}

/// In the new thread, before its start routine.
pub fn thread_started(ticket: CreationTicket, stack: AddressRange) {
    trace!("thread_started", ticket.0, (stack.high > stack.low) as u64);
    let Some(process) = process::get().filter(|p| p.is_recording()) else { return };
    if ticket.0 == NO_TICKET || ticket == CreationTicket::FIRST {
        thread::current();
        return;
    }
    process.alive.fetch_add(1, Ordering::Relaxed);
    with_record(process, ticket, |record| {
        let ticket = roll::Ticket { id: ticket.0 as u32, record };
        thread::attach(process, ticket, false);
    });
}

/// In a thread, after all its own destructors; its stack's elements die right after this.
pub fn thread_ended(ticket: CreationTicket) {
    trace!("thread_ended", ticket.0);
    if let Some(process) = process::get().filter(|p| p.is_recording()) {
        thread::detach(process);
        if is_counted(process, ticket) {
            process.levels.come(process, -1);
        }
    }
}

/// A thread exists no more: it was joined by the caller, or it was detached and has ended (then the caller may be that
/// thread). `alone`: one thread is left, so that what the caller writes is "serial" again.
pub fn thread_gone(ticket: CreationTicket, alone: bool) {
    trace!("thread_gone", ticket.0, alone as u64);
    if alone && let Some((_, thread)) = recorded() {
        thread.set_alone(true);
    }
}

/// A thread got a name (no NUL in it).
pub fn thread_named(ticket: CreationTicket, name: &[u8]) {
    trace!("thread_named", ticket.0, name.len());
    if let Some(process) = process::get() {
        with_record(process, ticket, |record| roll::name(record, name));
    }
}

/// The calling thread is a worker of the OpenMP runtime.
pub fn thread_is_openmp_worker(ticket: CreationTicket) {
    trace!("thread_is_openmp_worker", ticket.0);
    let Some(process) = process::get() else { return };
    if is_counted(process, ticket) {
        process.levels.come(process, -1);
    }
    with_record(process, ticket, |record| {
        roll::flag(record, thread_flags::OPENMP);
        let mut name = Path::new();
        name.push(b"OpenMP worker ");
        // Its own number: workers come to life in any order.
        name.push_number(ticket.0);
        roll::name_if_unnamed(record, name.as_bytes());
    });
}

/// The elements wholly inside the range die.
pub fn clear_range(address: usize, bytes: usize) {
    trace!("clear_range", bytes);
    if let Some(process) = process::get().filter(|p| p.is_recording()) {
        process.private.range_dies(process, address as u64, bytes as u64);
        process.lines.range_dies(process, address as u64, bytes as u64);
        process.objects.range_dies(address as u64, bytes as u64);
        process.clear(address as u64, bytes as u64);
    }
}

/// Which call of the program the calling thread is in, that may move a block. 0: none of instrumented code. What
/// creates threads or waits moves blocks of its own before it says so, as OpenMP does when its first region begins: its
/// site stays.
pub fn call_site() -> u32 {
    execution::watched().map_or(0, |(thread, process)| {
        // SAFETY: the calling thread's own block, at which nothing of the runtime is at work.
        let thread = unsafe { &mut *thread };
        if process.sites.is_of_threads(thread.header.call_site) { 0 } else { waiting::take_site(thread) }
    })
}

/// The calling thread moved a block: read of the old one, write of the new one (both still or already hold their
/// elements). `site`: where, see [`call_site`].
pub fn copy_range(destination: usize, source: usize, bytes: usize, site: u32) {
    trace!("copy_range", bytes);
    // A thread that has no block has not begun: what the C library moves until then is its own
    // (`pthread_getattr_np` does, on machines with more than 256 processors).
    if thread::own_block().is_null() && execution::watched().is_none() {
        return;
    }
    on_thread(|t, p| {
        range::read(t, p, source as u64, bytes as u64, site);
        range::write(t, p, destination as u64, bytes as u64, site);
    });
}

/// The process is about to end.
pub fn process_exit(ending: Ending, status: c_int) {
    trace!("process_exit", matches!(ending, Ending::Normal) as u64, status as i64);
    let how = match ending {
        Ending::Normal => End::Normal,
        Ending::Abrupt => End::Abrupt,
    };
    if let Some(process) = process::get() {
        end::end(process, how, Some(status));
    }
}

/// In the parent, before fork.
pub fn fork_prepare() {
    trace!("fork_prepare");
}

/// In the parent, after fork, whether it worked or not.
pub fn fork_parent() {
    trace!("fork_parent");
}

/// In the child of fork: one thread is left. Async-signal-safe. False: this process is not profiled from now on.
pub fn fork_child(child: Child) -> bool {
    trace!("fork_child", matches!(child, Child::TakesOver) as u64);
    let Some(process) = process::get() else { return false };
    if process.counters != 0 {
        // They count the parent's threads.
        for thread in process.pool.all() {
            // SAFETY: blocks are never unmapped, and of their threads only this one is left.
            unsafe { (*thread).execution.counters.end() };
        }
    }
    match child {
        Child::TakesOver => {
            process.alive.store(1, Ordering::Relaxed);
            process.levels.only_one_is_left(process);
            process.is_recording()
        }
        Child::Leaves => {
            process.leave_to_parent();
            thread::set_own_block(process.off);
            false
        }
    }
}

/// Before the process is replaced: the profile must be complete now.
pub fn before_exec() {
    trace!("before_exec");
    if let Some(process) = process::get() {
        end::end(process, End::Exec, None);
    }
}

/// It was not replaced; it goes on as before.
pub fn exec_failed() {
    trace!("exec_failed");
    if let Some(process) = process::get() {
        end::resume(process);
    }
}

/// Whether the thread is counted by itself, and not with its teams.
fn is_counted(process: &Process, ticket: CreationTicket) -> bool {
    let mut counted = true;
    // SAFETY: null or a record of the roll.
    with_record(process, ticket, |r| counted = r.is_null() || unsafe { (*r).flags } & thread_flags::OPENMP == 0);
    counted
}

/// The ticket of a thread whose creator was not recorded.
const NO_TICKET: u64 = u64::MAX;

/// The process and the calling thread's block, if both are recorded.
fn recorded() -> Option<(&'static Process, &'static mut Thread)> {
    let process = process::get().filter(|p| p.is_recording())?;
    let thread = thread::current();
    if thread == process.off {
        return None;
    }
    // SAFETY: the calling thread's own block; nothing else of the runtime is at work on this thread.
    Some((process, unsafe { &mut *thread }))
}

fn with_record(
    process: &Process,
    ticket: CreationTicket,
    act: impl FnOnce(*mut threadtalk_profile::layout::ThreadRecord),
) {
    if let Ok(id) = u32::try_from(ticket.0) {
        act(process.roll.record(process, id));
    }
}
