//! Counters on their way into the profile: when their thread ends, and for all that still run when the process ends.

use super::counters::{Counters, Reading};
use super::serving;
use crate::process::Process;
use crate::thread::Thread;
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use threadtalk_profile::layout::{CountKind, CountRecord, block};

/// What the end of the process wrote for threads that still ran, so that a failed exec can take it back.
pub struct Rest {
    block: AtomicPtr<u64>,
}

impl Rest {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { block: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Writes the counts of all threads that still run. They may go on counting: what is written is what each
    /// counter was at some moment.
    pub fn write(&self, process: &Process) {
        // Theirs from here on: a thread that ends now finds its counts written.
        let live = |thread: &*mut Thread| {
            // SAFETY: blocks are never unmapped; the word is atomic.
            let word = unsafe { &(**thread).execution.serving };
            word.compare_exchange(serving::LIVE, serving::WRITTEN, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        let mut records = 0;
        for thread in process.pool.all().filter(live) {
            records += number(thread, process);
        }
        if records == 0 {
            return;
        }
        // Counters that were 0 a moment ago may need room now: what does not fit is left out.
        let size = size_of::<CountRecord>();
        let Some(target) = process.file.allocate((records + 64) * size as u64) else { return };
        let room = target.capacity() / size as u64;
        let mut used = 0;
        let written = |thread: &*mut Thread| {
            // SAFETY: as above.
            unsafe { (**thread).execution.serving.load(Ordering::Relaxed) == serving::WRITTEN }
        };
        for thread in process.pool.all().filter(written) {
            each(thread, process, |record| {
                if used < room {
                    // SAFETY: below the block's room, and the block is this thread's.
                    unsafe { target.payload().cast::<CountRecord>().add(used as usize).write(record) };
                    used += 1;
                }
            });
        }
        target.publish(block::COUNTS, size, used * size as u64);
        self.block.store(ptr::from_ref(target.used()).cast_mut().cast(), Ordering::Relaxed);
    }

    /// The process goes on after all: threads that still run write their counts themselves.
    pub fn take_back(&self, process: &Process) {
        let used = self.block.swap(ptr::null_mut(), Ordering::Relaxed);
        if !used.is_null() {
            // SAFETY: the `used` word of a block, mapped for the life of the process.
            unsafe { core::sync::atomic::AtomicU64::from_ptr(used) }.store(0, Ordering::Relaxed);
        }
        for thread in process.pool.all() {
            // SAFETY: blocks are never unmapped; the word is atomic.
            let word = unsafe { &(*thread).execution.serving };
            let _ = word.compare_exchange(serving::WRITTEN, serving::LIVE, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// The calling thread ends: its counts are written and become 0.
pub(super) fn write_own(thread: &mut Thread, process: &Process) {
    let id = thread.view.thread();
    let execution = &mut thread.execution;
    execution.columns.drain(process.sites.counters(), true, |level, counter, count| {
        let kind = CountKind::Edge as u16;
        let record = CountRecord { part: 0, thread: id, id: counter, kind, level: level as u16, count };
        execution.counts.append(&process.file, record);
    });
    let (cache, counts) = (&execution.cache, &mut execution.counts);
    cache.each(process.sites.sites(), |site, kind, count| {
        counts.append(&process.file, of_cache(id, site, kind, count));
    });
    of_kernel(&execution.counters, id, |record| {
        counts.append(&process.file, record);
    });
}

fn number(thread: *mut Thread, process: &Process) -> u64 {
    let mut records = 0;
    each(thread, process, |_| records += 1);
    records
}

/// The counts of a thread that may be running.
fn each(thread: *mut Thread, process: &Process, mut act: impl FnMut(CountRecord)) {
    // SAFETY: blocks are never unmapped; the columns are made of atomics and of counters that are read by volatile
    // loads, the thread's number does not change while it serves.
    let (execution, id) = unsafe { (&(*thread).execution, (*thread).view.thread()) };
    let (columns, cache) = (&execution.columns, &execution.cache);
    columns.drain(process.sites.counters(), false, |level, counter, count| {
        let kind = CountKind::Edge as u16;
        act(CountRecord { part: 0, thread: id, id: counter, kind, level: level as u16, count });
    });
    cache.each(process.sites.sites(), |site, kind, count| act(of_cache(id, site, kind, count)));
    of_kernel(&execution.counters, id, act);
}

/// What the kernel has counted for a thread since it began.
fn of_kernel(counters: &Counters, thread: u32, act: impl FnMut(CountRecord)) {
    if let Some(now) = counters.read() {
        counters.records(&Reading::NONE, &now, (0, thread), act);
    }
}

fn of_cache(thread: u32, site: u32, kind: CountKind, count: u64) -> CountRecord {
    CountRecord { part: 0, thread, id: site, kind: kind as u16, level: 0, count }
}
