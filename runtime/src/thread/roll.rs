//! The roll of logical threads: numbers in the order of creation, and their records in the profile.

use crate::file::Block;
use crate::process::{Process, accuracy, clock};
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use threadtalk_profile::layout::{BlockHeader, ThreadRecord, UNIT, block, thread_flags};

/// Records in a block of one unit.
const PER_BLOCK: u32 = ((UNIT as usize - size_of::<BlockHeader>()) / size_of::<ThreadRecord>()) as u32;
/// Blocks: room for 260 000 threads. Ids end before that unless `site_bits` is very small.
const BLOCKS: usize = 2048;

/// A place on the roll, handed from the creating thread to the new one.
#[derive(Clone, Copy)]
pub struct Ticket {
    /// Logical thread.
    pub id: u32,
    /// Its record; null if there was no room.
    pub record: *mut ThreadRecord,
}

/// Numbers and records.
pub struct Roll {
    next: AtomicU32,
    blocks: [AtomicPtr<u8>; BLOCKS],
}

impl Roll {
    /// Nobody yet.
    pub const fn new() -> Self {
        Self { next: AtomicU32::new(0), blocks: [const { AtomicPtr::new(ptr::null_mut()) }; BLOCKS] }
    }

    /// No thread was entered yet.
    pub fn is_empty(&self) -> bool {
        self.next.load(Ordering::Relaxed) == 0
    }

    /// Enters a thread: `creator` is the creating logical thread's number plus 1, or 0.
    pub fn enter(&self, process: &Process, creator: u32, creation_site: u32) -> Ticket {
        let last = process.last_thread.min(PER_BLOCK * BLOCKS as u32 - 1);
        // The load keeps the counter from wrapping around.
        let number = match self.next.load(Ordering::Relaxed) {
            n if n > last => n,
            _ => self.next.fetch_add(1, Ordering::Relaxed),
        };
        process.header_count(accuracy::THREADS, 1);
        if number >= 2 {
            process.pair.end(process);
        }
        let id = number.min(last);
        let record = self.record(process, id);
        if number >= last {
            process.header_count(accuracy::THREADS_OVERFLOWED, 1);
        }
        if !record.is_null() {
            let overflow = if number >= last { thread_flags::OVERFLOW } else { 0 };
            // SAFETY: a record of the roll; only the last one is written by several threads, and they write the same.
            unsafe {
                (*record).creator = creator;
                (*record).creation_site = creation_site;
                (*record).id = id;
                (*record).flags = thread_flags::USED | overflow;
            }
        }
        Ticket { id, record }
    }

    /// The record of a logical thread.
    pub fn record(&self, process: &Process, id: u32) -> *mut ThreadRecord {
        let Some(slot) = self.blocks.get((id / PER_BLOCK) as usize) else { return ptr::null_mut() };
        // Acquire: partner is the exchange below; the block is mapped.
        let mut payload = slot.load(Ordering::Acquire);
        if payload.is_null() {
            let Some(fresh) = process.file.allocate(u64::from(PER_BLOCK) * size_of::<ThreadRecord>() as u64) else {
                return ptr::null_mut();
            };
            let made = fresh.payload();
            match slot.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    publish(&fresh);
                    payload = made;
                }
                // Another thread was first; this block stays an empty unit, which readers skip.
                Err(theirs) => payload = theirs,
            }
        }
        // SAFETY: id % PER_BLOCK is below the number of records in the block.
        unsafe { payload.cast::<ThreadRecord>().add((id % PER_BLOCK) as usize) }
    }
}

/// All records of the block count from the start: those not in use have no `USED` flag.
fn publish(fresh: &Block) {
    fresh.publish(block::THREADS, size_of::<ThreadRecord>(), u64::from(PER_BLOCK) * size_of::<ThreadRecord>() as u64);
}

/// The calling thread begins.
pub(crate) fn started(record: *mut ThreadRecord, process: &Process) {
    if record.is_null() {
        return;
    }
    // SAFETY: the calling thread's record, mapped for the life of the process.
    unsafe {
        (*record).start_ns = process.elapsed_ns();
        (*record).tid = libc::syscall(libc::SYS_gettid) as u64;
    }
}

/// The calling thread ends.
pub(crate) fn ended(record: *mut ThreadRecord, process: &Process) {
    if record.is_null() {
        return;
    }
    // SAFETY: as above.
    unsafe {
        (*record).end_ns = process.elapsed_ns().max(1);
        (*record).cpu_ns = clock::thread_cpu_ns();
        (*record).flags |= thread_flags::ENDED;
        // The last number may be that of several threads.
        if (*record).flags & thread_flags::OVERFLOW == 0 {
            process.states.thread_ended((*record).id);
        }
    }
}

/// Names a thread. Torn names are possible only when two threads name a third at once.
pub(crate) fn name(record: *mut ThreadRecord, name: &[u8]) {
    if record.is_null() {
        return;
    }
    let mut field = [0u8; 32];
    for (to, from) in field.iter_mut().take(31).zip(name.iter().take_while(|b| **b != 0)) {
        *to = *from;
    }
    // SAFETY: a record of the roll, mapped for the life of the process.
    unsafe { (*record).name = field };
}

/// Names a thread that has no name.
pub(crate) fn name_if_unnamed(record: *mut ThreadRecord, new: &[u8]) {
    // SAFETY: a record of the roll.
    if !record.is_null() && unsafe { (*record).name[0] } == 0 {
        name(record, new);
    }
}

/// The thread never came to be.
pub(crate) fn strike_off(record: *mut ThreadRecord) {
    if !record.is_null() {
        // SAFETY: a record of the roll.
        unsafe { (*record).flags = 0 };
    }
}

/// Adds flags to a thread's record.
pub(crate) fn flag(record: *mut ThreadRecord, flags: u32) {
    if !record.is_null() {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(&raw mut (*record).flags).fetch_or(flags, Ordering::Relaxed) };
    }
}
