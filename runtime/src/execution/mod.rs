//! What threads execute, how long, and where they wait for one another.
//!
//! * [`levels`]: how many threads there are; [`columns`]: a thread's counters for each such level; [`counts`]: their
//!   way into the profile.
//! * [`tree`]: time by region, but those that are too [`short`]. [`cache`]: misses by line, in a model. [`counters`]:
//!   what the kernel counts.
//! * [`waiting`]: blocking calls. [`sections`] and [`teams`]: dynamic instances of parallel sections, from one wait to
//!   the next, as [`part`]s of threads. [`barriers`], [`code`]: what they are told apart by.
//! * [`pieces`], [`tasks`]: work that threads of a team ask for.

pub mod barriers;
pub mod cache;
pub mod code;
pub mod columns;
pub mod counters;
pub mod counts;
pub mod levels;
pub mod part;
pub mod pieces;
pub mod sections;
mod short;
mod tasks;
pub mod teams;
pub mod tree;
pub mod waiting;

use crate::file::appender::Appender;
use crate::lifecycle::unnoticed::unnoticed;
use crate::process::{self, Process};
use crate::thread::{self, Thread};
use cache::Cache;
use columns::Columns;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};
use counters::Counters;
use sections::Sections;
use tasks::Tasks;
use teams::Teams;
use threadtalk_profile::layout::{CodeRecord, CountRecord, block};
use tree::Tree;
use waiting::Waiting;

/// Values of [`Execution::serving`].
mod serving {
    /// No logical thread.
    pub const NONE: u32 = 0;
    /// One whose counts are in its columns.
    pub const LIVE: u32 = 1;
    /// One whose counts are in the profile: the process ended before it.
    pub const WRITTEN: u32 = 2;
}

/// Where a thread's part of it has the address of the bits of regions that are not timed (see [`tree`]).
pub const UNTIMED: usize = core::mem::offset_of!(Execution, tree) + tree::UNTIMED;

/// A thread's part of it.
pub struct Execution {
    /// Counters of control flow.
    pub columns: Columns,
    /// Whose counts the columns hold: who moves it away from [`serving::LIVE`] writes them.
    serving: AtomicU32,
    /// Where counts go.
    pub counts: Appender<CountRecord>,
    /// Blocking calls.
    pub waiting: Waiting,
    /// Instances under way.
    pub sections: Sections,
    /// Parallel regions of OpenMP.
    pub teams: Teams,
    /// Tasks of OpenMP under way.
    pub tasks: Tasks,
    /// The modelled caches.
    pub cache: Cache,
    /// Events that the kernel counts.
    pub counters: Counters,
    /// Time by region.
    pub tree: Tree,
    /// The thread waits for a lock of OpenMP.
    pub at_lock: bool,
    /// Places in code that was not compiled with the pass.
    pub code: Appender<CodeRecord>,
}

impl Execution {
    /// Of a block that serves nobody yet.
    pub const fn new() -> Self {
        Self {
            columns: Columns::new(),
            serving: AtomicU32::new(serving::NONE),
            counts: Appender::new(block::COUNTS),
            waiting: Waiting::new(),
            sections: Sections::new(),
            teams: Teams::new(),
            tasks: Tasks::new(),
            cache: Cache::new(),
            counters: Counters::new(),
            tree: Tree::new(),
            at_lock: false,
            code: Appender::new(block::CODE),
        }
    }

    /// The block begins to serve a logical thread.
    ///
    /// # Safety
    /// `thread` is the calling thread's block.
    pub unsafe fn begin(thread: *mut Thread, process: &Process) {
        // SAFETY: the caller's promise.
        unsafe {
            Columns::begin(thread, process);
            (*thread).execution.serving.store(serving::LIVE, Ordering::Relaxed);
            (*thread).execution.teams.clear();
            (*thread).execution.tasks.clear();
            (*thread).execution.counters.begin(process.counters, |_, _| {});
            sections::thread_begins(&mut *thread, process);
        }
    }

    /// The block's thread ends.
    pub fn end(thread: &mut Thread, process: &Process) {
        sections::thread_ends(thread, process);
        waiting::thread_ends(thread, process);
        tree::thread_ends(thread, process);
        let taken = thread.execution.serving.swap(serving::NONE, Ordering::Relaxed);
        if taken == serving::LIVE {
            counts::write_own(thread, process);
        }
        thread.execution.cache.clear(process.sites.sites());
        thread.execution.counters.end();
    }
}

/// The calling thread's block, if it has one, is recorded and no hook is at work on it.
#[inline]
pub(crate) fn watched() -> Option<(*mut Thread, &'static Process)> {
    let process = process::get().filter(|p| p.is_recording())?;
    let mut thread = thread::own_block();
    if thread.is_null() && process.roll.is_empty() {
        thread = attach_first();
    }
    // SAFETY: this thread's block, or the shared one of unrecorded threads, which is always busy.
    (!thread.is_null() && unsafe { !(*thread).busy.load(Ordering::Relaxed) }).then_some((thread, process))
}

/// The first thread may wait or open a parallel region before it runs instrumented code; other threads are known from
/// their creation.
#[cold]
fn attach_first() -> *mut Thread {
    // SAFETY: always succeed.
    let is_first = unsafe { libc::syscall(libc::SYS_gettid) == i64::from(libc::getpid()) };
    if is_first && crate::lifecycle::is_active() { thread::current() } else { core::ptr::null_mut() }
}

/// Runs `body` with the calling thread's block, if there is one to be had. A cancellation waits until it is done: it
/// could come at any instruction of a thread that asked for that.
#[inline]
pub(crate) fn on_thread<T>(body: impl FnOnce(&mut Thread, &'static Process) -> T) -> Option<T> {
    let (thread, process) = watched()?;
    // SAFETY: the block is this thread's alone, and `busy` keeps signal handlers out from here to the end.
    unnoticed(|| unsafe {
        (*thread).busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let result = body(&mut *thread, process);
        compiler_fence(Ordering::SeqCst);
        (*thread).busy.store(false, Ordering::Release);
        Some(result)
    })
}
