//! Regions that the program names itself (`threadtalk.h`).
//!
//! A region is a place in a tree: the same name opened inside two different regions is two regions. There are few, they
//! are made once, and they are found by walking: no lock, one list that only grows.

use crate::file::Block;
use crate::process::Process;
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use threadtalk_profile::layout::{UserRegionRecord, block};

/// Most user regions of a process.
const MOST: u32 = 1 << 12;

/// All user regions.
pub struct UserRegions {
    records: AtomicPtr<u8>,
    len: AtomicU32,
}

impl UserRegions {
    /// None.
    pub const fn new() -> Self {
        Self { records: AtomicPtr::new(ptr::null_mut()), len: AtomicU32::new(0) }
    }

    /// The region `name` opened inside `context` (0 = none); made if it is new. `context` itself when there is no room.
    pub fn begin(&self, process: &Process, name: &[u8], context: u32) -> u32 {
        let Some(records) = self.memory(process) else { return context };
        let wanted = field(name);
        let mut checked = 0;
        loop {
            // Acquire: partner is the exchange of `len` below; records below it are complete.
            let len = self.len.load(Ordering::Acquire);
            while checked < len {
                // SAFETY: records below `len` are written and never change.
                let record = unsafe { &*records.add(checked as usize) };
                if record.parent == context && record.name == wanted {
                    return record.id;
                }
                checked += 1;
            }
            if len >= MOST {
                return context;
            }
            // The place above the end is claimed by writing its id first: only one thread can.
            // SAFETY: below MOST, for which there is memory.
            let place = unsafe { records.add(len as usize) };
            // SAFETY: an aligned word of the record.
            let id = unsafe { AtomicU32::from_ptr(&raw mut (*place).id) };
            let number = u32::MAX - 1 - len;
            if id.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                // SAFETY: claimed by this thread.
                unsafe {
                    (*place).parent = context;
                    (*place).name = wanted;
                }
                self.len.store(len + 1, Ordering::Release);
                return number;
            }
            core::hint::spin_loop(); // the claimer has three stores to go
        }
    }

    /// The region around the innermost region `name` among `context` and those around it.
    pub fn end(&self, name: &[u8], context: u32) -> Option<u32> {
        let records = self.records.load(Ordering::Acquire).cast::<UserRegionRecord>();
        let wanted = field(name);
        let mut at = context;
        while at != 0 && !records.is_null() {
            // SAFETY: contexts are ids of complete records.
            let record = unsafe { &*records.add((u32::MAX - 1 - at) as usize) };
            if record.name == wanted {
                return Some(record.parent);
            }
            at = record.parent;
        }
        None
    }

    fn memory(&self, process: &Process) -> Option<*mut UserRegionRecord> {
        let records = self.records.load(Ordering::Acquire);
        if !records.is_null() {
            return Some(records.cast());
        }
        let bytes = u64::from(MOST) * size_of::<UserRegionRecord>() as u64;
        let fresh = process.file.allocate(bytes)?;
        match self.records.compare_exchange(ptr::null_mut(), fresh.payload(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                publish(&fresh, bytes);
                Some(fresh.payload().cast())
            }
            Err(theirs) => Some(theirs.cast()),
        }
    }
}

/// Unused records have the id 0; readers skip them.
fn publish(fresh: &Block, bytes: u64) {
    fresh.publish(block::USER_REGIONS, size_of::<UserRegionRecord>(), bytes);
}

fn field(name: &[u8]) -> [u8; 120] {
    let mut field = [0; 120];
    for (to, from) in field.iter_mut().take(119).zip(name) {
        *to = *from;
    }
    field
}
