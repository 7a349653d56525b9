//! The process: what all its threads share, and its beginning and end.

pub mod accuracy;
pub mod binding;
pub mod clock;
pub mod end;
pub mod environment;
pub mod message;
pub mod meta;
pub mod options;
mod setup;
pub mod ticks;

use crate::distance::pace::Plan;
use crate::file::ProfileFile;
use crate::thread::Thread;
use crate::thread::pool::Pool;
use crate::thread::roll::Roll;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::thread::EventSlot;
use threadtalk_abi::window::Window;
use threadtalk_sigmem::open::Lines;
use threadtalk_sigmem::{Claims, Run, Signature, States};

/// Everything that threads share. Made once by [`start`], never dropped.
pub struct Process {
    /// The options of this run.
    pub options: options::Options,
    /// The profile.
    pub file: ProfileFile,
    /// Cells.
    pub signature: Signature,
    /// Cells whose values may be opened.
    pub open_lines: Lines,
    /// Who writes which chunks alone.
    pub claims: Claims,
    /// Names of shared states.
    pub states: States,
    /// How reuse distances are measured.
    pub plan: Plan,
    /// Where threads run.
    pub binding: binding::Binding,
    /// When communication is written down over time.
    pub phases: crate::phases::Plan,
    /// Bits of a site in a fresh id.
    pub site_bits: u32,
    /// Site numbers from here on, in ids of writes, name no line.
    pub lineless_sites: u32,
    /// The last logical thread: all threads beyond share it.
    pub last_thread: u32,
    /// Region of each site, with [`SITE_ATOMIC`]; see [`crate::module`].
    pub sites: crate::module::Sites,
    /// Regions that the program names itself.
    pub user_regions: crate::region::UserRegions,
    /// Memory that regions share with nobody.
    pub private: crate::module::private::PrivateSums,
    /// Cache lines that threads share without sharing elements.
    pub lines: crate::module::lines::SharedLines,
    /// Which call allocated what.
    pub objects: crate::objects::Objects,
    /// Logical threads.
    pub roll: Roll,
    /// Control blocks.
    pub pool: Pool,
    /// Whether there were never more than two logical threads.
    pub pair: crate::thread::pair::Pair,
    /// How many threads there are, nominally and effectively.
    pub levels: crate::execution::levels::Levels,
    /// Counts of threads that the process's end met.
    pub rest: crate::execution::counts::Rest,
    /// What is recorded of parallel sections.
    pub budget: crate::execution::part::Budget,
    /// Events that the kernel counts for each thread, a bit for each.
    pub counters: u64,
    /// What the call trees of all threads share.
    pub nodes: crate::execution::tree::Shared,
    /// The clock of hooks at regions.
    pub ticks: ticks::Ticks,
    /// Threads alive, not counting those that nobody announced and that have not run instrumented code.
    pub alive: AtomicU32,
    /// An event cache without events: with it every event takes the slow path.
    pub no_events: *mut EventSlot,
    /// Windows of no nest: with these every loop is asked for.
    pub no_windows: *mut Window,
    /// And of patterns.
    pub no_patterns: *mut threadtalk_abi::bundle::Pattern,
    /// The control block of threads that are not recorded: all its accesses take the slow path, which does nothing.
    pub off: *mut Thread,
    /// Monotonic clock at the start.
    pub start_ns: u64,
    /// Accesses may be recorded: false before the setup is complete, after the end, in a forked child.
    recording: AtomicBool,
    paused: AtomicBool,
    /// The end was announced.
    ended: AtomicU32,
    /// The block of the thread that announced it.
    ender: AtomicPtr<Thread>,
}

// SAFETY: the raw pointers lead to memory that lives for ever and is only read (`no_events`, `no_windows`) or written
// by threads that are not recorded (`off`, whose counts nobody reads); the rest is atomic or constant.
unsafe impl Sync for Process {}

struct Slot(UnsafeCell<MaybeUninit<Process>>);
// SAFETY: written once by the thread that moved STAGE from 0 to 1, read by others after they saw 2.
unsafe impl Sync for Slot {}

static PROCESS: Slot = Slot(UnsafeCell::new(MaybeUninit::uninit()));
/// 0 = not begun, 1 = some thread sets up, 2 = ready.
static STAGE: AtomicU32 = AtomicU32::new(0);
/// Thread that sets up.
static BUILDER: AtomicU64 = AtomicU64::new(0);

/// The process, if it is set up.
#[inline]
pub fn get() -> Option<&'static Process> {
    // Acquire: partner is the store of 2 in `start`.
    if STAGE.load(Ordering::Acquire) == 2 {
        // SAFETY: stage 2 is set after the value was written, and nothing writes it again.
        Some(unsafe { (*PROCESS.0.get()).assume_init_ref() })
    } else {
        None
    }
}

/// The process; set up now if nobody did. Threads that arrive meanwhile wait: this happens once, before there are many.
#[cold]
pub fn start() -> &'static Process {
    loop {
        if let Some(process) = get() {
            return process;
        }
        // SAFETY: no preconditions.
        let me = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
        match STAGE.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                BUILDER.store(me, Ordering::Relaxed);
                // SAFETY: this thread alone moved the stage to 1.
                unsafe { (*PROCESS.0.get()).write(setup::build()) };
                STAGE.store(2, Ordering::Release);
                if let Some(process) = get() {
                    setup::announce(process);
                }
            }
            Err(_) if BUILDER.load(Ordering::Relaxed) == me => setup::interrupted(),
            Err(_) => {
                // SAFETY: no preconditions.
                unsafe { libc::sched_yield() };
            }
        }
    }
}

impl Process {
    /// The profile.
    pub fn file(&self) -> &ProfileFile {
        &self.file
    }

    /// Whether accesses are recorded.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }

    /// The elements of every granule that the range touches lose their writer, and whoever claims them is told.
    pub fn clear(&self, address: u64, bytes: u64) {
        self.signature.clear(address, bytes);
        for run in self.signature.directory.runs(address, bytes) {
            if let Run::Mapped { address, cells } = run {
                self.claims.died(address, address + cells.len() as u64 * GRANULE);
            }
        }
    }

    /// Whether events are not counted at present.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Number of region numbers handed out.
    pub fn regions(&self) -> u32 {
        self.sites.regions()
    }

    /// Adds to a counter of the profile's header.
    pub fn header_count(&self, offset: usize, by: u64) {
        if by > 0 {
            self.file.count(offset, by);
        }
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> u64 {
        clock::monotonic_ns().saturating_sub(self.start_ns)
    }

    /// Stops and resumes counting, for all threads. Writes are recorded all the time, so that what is read after the
    /// pause has its true writer.
    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
        for thread in self.pool.all() {
            // SAFETY: blocks are never unmapped; both fields are aligned words that the owner only reads in inlined
            // code.
            unsafe {
                let events = if paused { self.no_events } else { (*thread).events };
                core::ptr::write_volatile(&raw mut (*thread).header.events, events);
                let windows = if paused { self.no_windows } else { (*thread).windows.table() };
                core::ptr::write_volatile(&raw mut (*thread).header.windows, windows);
                let patterns = if paused { self.no_patterns } else { (*thread).patterns.table() };
                core::ptr::write_volatile(&raw mut (*thread).header.patterns, patterns);
            }
        }
        self.levels.publish(self);
    }

    /// A field of the header of 4 bytes as an atomic.
    pub fn word32(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: unit 0 is mapped for the life of the process; callers pass offsets of aligned fields.
        unsafe { AtomicU32::from_ptr(self.file.header().byte_add(offset).cast()) }
    }

    /// Nothing is recorded from now on; the program goes on.
    pub fn stop_recording(&self) {
        self.recording.store(false, Ordering::Relaxed);
    }

    /// In the child of a fork: the profile belongs to the parent.
    pub fn leave_to_parent(&self) {
        self.recording.store(false, Ordering::Relaxed);
        self.file.detach_after_fork();
    }
}
