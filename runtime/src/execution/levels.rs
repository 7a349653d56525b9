//! How many threads the program has: the levels of parallel block vectors (Kambadur et al., IISWC 2012).
//!
//! *Nominal* counts threads that were created and have not ended, with the first; *effective* counts those of them that
//! do not wait. One of the two, as the option `parallelism` says, chooses the column in which every thread counts its
//! control flow. Both are timed. A parent counts its child before it exists, so no block of the child is counted as
//! serial.
//!
//! Workers of OpenMP count while they are in a team, from the begin of the parallel region to its end: the primary
//! counts for all of them, so that neither number depends on when the scheduler runs them.

use super::columns::Columns;
use crate::memory;
use crate::module::COLUMN;
use crate::process::Process;
use crate::process::options::Options;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering, fence};
use threadtalk_profile::layout::{LevelKind, LevelRecord, block};

/// Most levels that are told apart: a thread's rows are reserved for all of them.
pub const MOST: u32 = 256;

/// The two counts of threads.
pub struct Levels {
    counts: [Count; 2],
    /// Which of them chooses the columns.
    choosing: LevelKind,
    /// The highest level; stands for all above.
    highest: u32,
    /// Records of the profile: all levels of the first kind, then of the second.
    records: AtomicPtr<u8>,
    /// A column that nobody reads, for threads that have none and while counting is paused.
    waste: *mut u64,
}

// SAFETY: `waste` leads to memory that lives for ever and whose contents mean nothing; the rest is atomic or constant.
unsafe impl Sync for Levels {}

struct Count {
    now: AtomicI32,
    /// When it changed last, in nanoseconds after the start.
    since: AtomicU64,
}

impl Levels {
    /// One thread.
    pub fn new(options: &Options) -> Option<Self> {
        let one = || Count { now: AtomicI32::new(1), since: AtomicU64::new(0) };
        Some(Self {
            counts: [one(), one()],
            choosing: if options.effective { LevelKind::Effective } else { LevelKind::Nominal },
            highest: (options.levels as u32).clamp(1, MOST),
            records: AtomicPtr::new(ptr::null_mut()),
            waste: memory::reserve(COLUMN * size_of::<u64>())?.as_ptr().cast(),
        })
    }

    /// Column of threads that are not counted.
    pub fn waste(&self) -> *mut u64 {
        self.waste
    }

    /// Threads by one of the counts.
    pub fn now(&self, kind: LevelKind) -> u32 {
        self.count(kind).now.load(Ordering::Relaxed).max(0) as u32
    }

    /// Level at which control flow counts at present: from 1 to the highest.
    pub fn level(&self) -> u32 {
        // Not `clamp`, which panics if its bounds are in the wrong order: the highest level is at least 1.
        self.now(self.choosing).min(self.highest).max(1)
    }

    /// `by` threads came (or went) that do not wait.
    pub fn come(&self, process: &Process, by: i32) {
        self.change(process, LevelKind::Nominal, by);
        self.change(process, LevelKind::Effective, by);
    }

    /// Changes one of the counts.
    pub fn change(&self, process: &Process, kind: LevelKind, by: i32) {
        if by != 0 {
            self.change_at(process, kind, by, process.elapsed_ns());
        }
    }

    /// The same where the time is known.
    pub fn change_at(&self, process: &Process, kind: LevelKind, by: i32, now: u64) {
        // SeqCst: partner is the fence in `publish`.
        let before = self.count(kind).now.fetch_add(by, Ordering::SeqCst);
        self.spend(process, kind, before, now);
        if kind == self.choosing {
            self.publish(process);
        }
    }

    /// Stores the present level's column in all threads. Callers that overtake one another repeat until theirs is the
    /// present level.
    pub fn publish(&self, process: &Process) {
        loop {
            let level = self.level();
            for thread in process.pool.all() {
                // SAFETY: blocks are never unmapped; both fields are written by atomic stores only.
                unsafe { Columns::switch(thread, process, level) };
            }
            // SeqCst: the columns are out before the count is looked at again; partner is the change of the count, so
            // that of two callers the one whose columns arrive last sees the other's count.
            fence(Ordering::SeqCst);
            if self.level() == level {
                return;
            }
        }
    }

    /// The process ends: the time of the present levels is added.
    pub fn finish(&self, process: &Process) {
        for kind in LevelKind::ALL {
            self.spend(process, *kind, self.now(*kind) as i32, process.elapsed_ns());
        }
    }

    /// In a child that goes on with the profile alone.
    pub fn only_one_is_left(&self, process: &Process) {
        for kind in LevelKind::ALL {
            self.change(process, *kind, 1 - self.now(*kind) as i32);
        }
    }

    fn count(&self, kind: LevelKind) -> &Count {
        let [nominal, effective] = &self.counts;
        if kind == LevelKind::Nominal { nominal } else { effective }
    }

    /// Adds the time from the last change to now to the level that there was.
    fn spend(&self, process: &Process, kind: LevelKind, count: i32, now: u64) {
        let time = now.saturating_sub(self.count(kind).since.swap(now, Ordering::Relaxed));
        let Some(records) = self.records(process) else { return };
        let level = (count.max(0) as u32).min(self.highest);
        let index = kind as u32 * (MOST + 1) + level;
        // SAFETY: below the number of records; an aligned word of a record that is mapped for the life of the process.
        let ns = unsafe { AtomicU64::from_ptr(&raw mut (*records.add(index as usize)).ns) };
        ns.fetch_add(time, Ordering::Relaxed);
    }

    fn records(&self, process: &Process) -> Option<*mut LevelRecord> {
        // Acquire: partner is the exchange below; the records are complete.
        let known = self.records.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known.cast());
        }
        let number = LevelKind::ALL.len() as u32 * (MOST + 1);
        let bytes = u64::from(number) * size_of::<LevelRecord>() as u64;
        let fresh = process.file.allocate(bytes)?;
        for i in 0..number {
            let record = LevelRecord { level: i % (MOST + 1), kind: i / (MOST + 1), ns: 0 };
            // SAFETY: the block is this thread's and has room for them.
            unsafe { fresh.payload().cast::<LevelRecord>().add(i as usize).write(record) };
        }
        match self.records.compare_exchange(ptr::null_mut(), fresh.payload(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                fresh.publish(block::LEVELS, size_of::<LevelRecord>(), bytes);
                Some(fresh.payload().cast())
            }
            // Another thread was first; this block stays an empty unit, which readers skip.
            Err(theirs) => Some(theirs.cast()),
        }
    }
}
