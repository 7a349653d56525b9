//! How often a thread enters each region.
//!
//! The inlined code counts in an array indexed by the region's number, in the profile itself. When the thread
//! ends, what it counted becomes records, and the array serves the block's next thread.

use crate::file::Block;
use crate::file::appender::Appender;
use crate::process::Process;
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_profile::layout::{LiveVisits, NO_THREAD, UNIT, VisitRecord, block};

/// The arrays of one control block.
pub struct Visits {
    current: Option<Block>,
    records: Appender<VisitRecord>,
}

impl Visits {
    /// No array yet.
    pub const fn new() -> Self {
        Self { current: None, records: Appender::new(block::VISITS) }
    }

    /// Begins to count for a logical thread: the array to hand to the inlined code.
    pub fn begin(&mut self, process: &Process, thread: u32) -> Option<*mut u64> {
        let regions = process.regions();
        if self.current.is_none_or(|b| capacity(b) < regions) {
            let payload = (size_of::<LiveVisits>() + regions as usize * 8) as u64;
            let fresh = process.file.allocate(payload)?;
            // SAFETY: the payload begins with this head and is this thread's.
            unsafe { *head(fresh) = LiveVisits { thread: NO_THREAD, regions: capacity(fresh) } };
            fresh.publish(block::LIVE_VISITS, 0, fresh.capacity());
            self.current = Some(fresh);
        }
        let current = self.current?;
        owner(current).store(thread, Ordering::Relaxed);
        Some(counters(current))
    }

    /// The thread ends: its counts become records.
    pub fn end(&mut self, process: &Process, thread: u32) {
        let Some(current) = self.current else { return };
        for region in 0..capacity(current) {
            // SAFETY: below the array's length.
            let counter = unsafe { counters(current).add(region as usize) };
            // SAFETY: as above.
            let count = unsafe { *counter };
            if count > 0 {
                self.records.append(process.file(), VisitRecord { thread, region, count });
                // SAFETY: as above.
                unsafe { *counter = 0 };
            }
        }
        owner(current).store(NO_THREAD, Ordering::Relaxed);
    }

    /// Room for more regions: a library was loaded. Returns the array to use from now on if the old one is too short;
    /// the old one keeps its counts and stays in the profile under the same thread.
    pub fn make_room(&mut self, process: &Process, thread: u32) -> Option<*mut u64> {
        if self.current.is_some_and(|b| capacity(b) >= process.regions()) {
            return None;
        }
        self.current = None;
        self.begin(process, thread)
    }
}

/// Regions that a block has room for.
fn capacity(b: Block) -> u32 {
    ((b.capacity() - size_of::<LiveVisits>() as u64) / 8) as u32
}

fn head(b: Block) -> *mut LiveVisits {
    b.payload().cast()
}

fn owner<'a>(b: Block) -> &'a AtomicU32 {
    // SAFETY: the first field of the head, mapped for the life of the process.
    unsafe { AtomicU32::from_ptr(ptr::addr_of_mut!((*head(b)).thread)) }
}

fn counters(b: Block) -> *mut u64 {
    // SAFETY: the array follows its head.
    unsafe { b.payload().add(size_of::<LiveVisits>()).cast() }
}

const _: () = assert!(UNIT as usize > size_of::<LiveVisits>());
