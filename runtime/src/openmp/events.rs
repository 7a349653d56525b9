//! OMPT's callbacks about regions, barriers, tasks and locks.

use super::ompt::{self, Data, Interface};
use crate::execution::{on_thread, pieces, teams, waiting};
use crate::process::Process;
use crate::thread::Thread;
use core::ffi::{c_int, c_uint, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use threadtalk_profile::layout::BlockedKind;

/// All of them, for `ompt_set_callback`.
pub fn all() -> [(c_int, Interface); 11] {
    // SAFETY: callbacks of the events' types, erased as the interface wants it.
    unsafe {
        [
            (ompt::CALLBACK_PARALLEL_BEGIN, transmute::<ompt::ParallelBegin, Interface>(parallel_begin)),
            (ompt::CALLBACK_PARALLEL_END, transmute::<ompt::ParallelEnd, Interface>(parallel_end)),
            (ompt::CALLBACK_IMPLICIT_TASK, transmute::<ompt::ImplicitTask, Interface>(implicit_task)),
            (ompt::CALLBACK_SYNC_REGION, transmute::<ompt::SyncRegion, Interface>(sync_region)),
            (ompt::CALLBACK_SYNC_REGION_WAIT, transmute::<ompt::SyncRegion, Interface>(sync_region_wait)),
            (ompt::CALLBACK_WORK, transmute::<ompt::Work, Interface>(work)),
            (ompt::CALLBACK_DISPATCH, transmute::<ompt::Dispatch, Interface>(dispatch)),
            (ompt::CALLBACK_TASK_SCHEDULE, transmute::<ompt::TaskSchedule, Interface>(task_schedule)),
            (ompt::CALLBACK_MUTEX_ACQUIRE, transmute::<ompt::MutexAcquire, Interface>(mutex_acquire)),
            (ompt::CALLBACK_MUTEX_ACQUIRED, transmute::<ompt::Mutex, Interface>(mutex_acquired)),
            (ompt::CALLBACK_MUTEX_RELEASED, transmute::<ompt::Mutex, Interface>(mutex_released)),
        ]
    }
}

unsafe extern "C" fn parallel_begin(
    _task: *mut Data,
    _frame: *const c_void,
    parallel: *mut Data,
    requested: c_uint,
    _flags: c_int,
    address: *const c_void,
) {
    let number = on_thread(|t, p| teams::region_begins(t, p, requested, address)).unwrap_or(0);
    // SAFETY: the region's data, which is the tool's own word.
    unsafe { (*parallel).value = number };
}

unsafe extern "C" fn parallel_end(_parallel: *mut Data, _task: *mut Data, _flags: c_int, _address: *const c_void) {
    on_thread(teams::region_ends);
}

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: *mut Data,
    _task: *mut Data,
    team: c_uint,
    index: c_uint,
    flags: c_int,
) {
    if flags & ompt::TASK_IMPLICIT == 0 {
        return;
    }
    if endpoint == ompt::SCOPE_END {
        on_thread(|t, _| teams::part_ends(t));
        return;
    }
    // SAFETY: null or the region's data, which `parallel_begin` set.
    let number = if parallel.is_null() { 0 } else { unsafe { (*parallel).value } };
    on_thread(|t, p| teams::part_begins(t, p, number, team, index));
}

/// Whether it is the barrier at the end of a region; `None`: it is no barrier.
fn barrier(kind: c_int) -> Option<bool> {
    match kind {
        ompt::SYNC_BARRIER_IMPLICIT_PARALLEL => Some(true),
        ompt::SYNC_TASKWAIT | ompt::SYNC_TASKGROUP | ompt::SYNC_REDUCTION => None,
        _ => Some(false),
    }
}

unsafe extern "C" fn sync_region(kind: c_int, endpoint: c_int, _p: *mut Data, task: *mut Data, address: *const c_void) {
    let Some(is_last) = barrier(kind) else { return };
    if endpoint == ompt::SCOPE_BEGIN {
        on_thread(|t, p| {
            is_in(t, p, task);
            teams::barrier_begins(t, p, is_last, address);
        });
    } else {
        on_thread(|t, p| teams::barrier_ends(t, p, is_last));
    }
}

/// A task's word: it has created a task since it last waited for all of them, and not run it at once.
const HAS_CHILDREN: u64 = 1;

/// Whether [`task_create`] comes for each task.
static CREATIONS_ARE_TOLD: AtomicBool = AtomicBool::new(false);

/// What the library says about [`task_create`], before the first thread is created.
pub fn creations_are_told(always: bool) {
    CREATIONS_ARE_TOLD.store(always, Ordering::Relaxed);
}

/// See `ompt_callback_task_create_t`.
pub unsafe extern "C" fn task_create(
    creator: *mut Data,
    _frame: *const c_void,
    _created: *mut Data,
    flags: c_int,
    _has_dependences: c_int,
    _address: *const c_void,
) {
    if flags & ompt::TASK_UNDEFERRED == 0 && !creator.is_null() {
        // SAFETY: the word of the calling thread's task, which is the tool's own.
        unsafe { (*creator).value |= HAS_CHILDREN };
    }
}

/// Whether a task that begins or ends to wait for its children has none that may still run: fine-grained programs do
/// that in each of millions of tasks, and count as waiting for as long as takes to say so.
fn waits_for_none(kind: c_int, task: *mut Data) -> bool {
    // SAFETY: as in `task_create`.
    kind == ompt::SYNC_TASKWAIT
        && CREATIONS_ARE_TOLD.load(Ordering::Relaxed)
        && !task.is_null()
        && unsafe { (*task).value & HAS_CHILDREN == 0 }
}

unsafe extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _parallel: *mut Data,
    task: *mut Data,
    address: *const c_void,
) {
    if waits_for_none(kind, task) {
        return;
    }
    let is_last = barrier(kind);
    if endpoint == ompt::SCOPE_BEGIN {
        let blocked = if is_last.is_some() { BlockedKind::OmpBarrier } else { BlockedKind::OmpTaskWait };
        on_thread(|t, p| {
            is_in(t, p, task);
            t.execution.tasks.wait_begins();
            teams::wait_begins(t, p, blocked, is_last == Some(true), address);
        });
    } else {
        on_thread(|t, p| {
            let left = t.execution.tasks.wait_ends();
            leave(t, p, left);
            teams::wait_ends(t, p, is_last == Some(true));
        });
        if kind == ompt::SYNC_TASKWAIT && !task.is_null() {
            // SAFETY: as in `task_create`.
            unsafe { (*task).value &= !HAS_CHILDREN };
        }
    }
}

unsafe extern "C" fn work(
    kind: c_int,
    endpoint: c_int,
    _parallel: *mut Data,
    _task: *mut Data,
    _count: u64,
    _address: *const c_void,
) {
    // Iterations of a static loop are the thread's own from the beginning; so is what the compiler calls sections.
    if !matches!(kind, ompt::WORK_LOOP_DYNAMIC | ompt::WORK_LOOP_GUIDED | ompt::WORK_LOOP_OTHER) {
        return;
    }
    if endpoint == ompt::SCOPE_BEGIN {
        on_thread(|t, _| pieces::loop_begins(t, kind == ompt::WORK_LOOP_GUIDED));
    } else {
        on_thread(pieces::loop_ends);
    }
}

unsafe extern "C" fn dispatch(_parallel: *mut Data, _task: *mut Data, kind: c_int, instance: Data) {
    let iterations = if kind == ompt::DISPATCH_LOOP_CHUNK {
        // SAFETY: of this kind the word is a pointer to the chunk or null, valid during the call.
        unsafe { instance.pointer.cast::<ompt::Chunk>().as_ref() }.map_or(0, |chunk| chunk.iterations)
    } else {
        0
    };
    on_thread(|t, p| pieces::dispatched(t, p, iterations));
}

unsafe extern "C" fn task_schedule(prior: *mut Data, status: c_int, next: *mut Data) {
    on_thread(|t, p| {
        is_in(t, p, prior);
        match status {
            ompt::TASK_SWITCH => {
                t.execution.tasks.begin(prior.addr(), next.addr());
                teams::task_begins(t, p);
            }
            ompt::TASK_COMPLETE | ompt::TASK_CANCEL | ompt::TASK_DETACH => {
                t.execution.tasks.complete();
                teams::task_ends(t, p);
            }
            _ => {}
        }
    });
}

/// The thread is in this task: it has left those that it began in it.
fn is_in(t: &mut Thread, p: &Process, task: *mut Data) {
    let left = t.execution.tasks.is_in(task.addr());
    leave(t, p, left);
}

/// The thread has left so many tasks for later: there, that is the end of them.
fn leave(t: &mut Thread, p: &Process, tasks: usize) {
    (0..tasks).for_each(|_| teams::task_ends(t, p));
}

/// Holders of locks, by a hash of the lock: `mutex_acquire` comes for free locks, too, and says nothing about it. Two
/// locks with one hash may show a wait of no length.
static HELD: [AtomicU32; 4096] = [const { AtomicU32::new(0) }; 4096];

fn holders(lock: u64) -> &'static AtomicU32 {
    &HELD[(lock.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) as usize]
}

unsafe extern "C" fn mutex_acquire(kind: c_int, _hint: c_uint, _impl: c_uint, lock: u64, address: *const c_void) {
    let may_wait = !matches!(kind, ompt::MUTEX_TEST_LOCK | ompt::MUTEX_TEST_NEST_LOCK);
    if may_wait && holders(lock).load(Ordering::Relaxed) > 0 {
        on_thread(|t, p| {
            t.execution.at_lock = true;
            teams::wait_begins(t, p, BlockedKind::OmpMutex, false, address);
        });
    }
}

unsafe extern "C" fn mutex_acquired(_kind: c_int, lock: u64, _address: *const c_void) {
    holders(lock).fetch_add(1, Ordering::Relaxed);
    on_thread(|t, p| {
        if core::mem::take(&mut t.execution.at_lock) {
            waiting::end(t, p);
        }
    });
}

unsafe extern "C" fn mutex_released(_kind: c_int, lock: u64, _address: *const c_void) {
    holders(lock).fetch_sub(1, Ordering::Relaxed);
}
