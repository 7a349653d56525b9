//! No cache line is written by two threads: addresses of what the threads of a running process write on the hot path.

use super::driver::Driver;
use std::collections::HashMap;
use threadtalk_abi::thread::{EMPTY_KEY, EVENT_SLOTS, EventSlot};
use threadtalk_profile::layout::EventRecord;
use threadtalk_runtime::distance::watch::Watches;
use threadtalk_runtime::thread::Thread;

const LINE: usize = 64;

/// What a thread writes without asking: its control block with header and memos, event cache, watches, counters of
/// regions, and the records that the event cache counts in. (name, address, bytes)
fn written(thread: *mut Thread, regions: u32) -> Vec<(&'static str, usize, usize)> {
    // SAFETY: a block of the driver, at rest.
    let t = unsafe { &*thread };
    let mut ranges = vec![
        ("control block", thread as usize, size_of::<Thread>()),
        ("event cache", t.events as usize, size_of::<EventSlot>() * EVENT_SLOTS as usize),
        ("watches", t.watches as usize, size_of::<Watches>()),
        ("visits", t.header.visits as usize, regions as usize * 8),
    ];
    for slot in 0..EVENT_SLOTS as usize {
        // SAFETY: below the length of the cache.
        let slot = unsafe { &*t.events.add(slot) };
        if slot.key != EMPTY_KEY && slot.counter != t.idle_counter() {
            ranges.push(("event record", slot.counter as usize, size_of::<EventRecord>()));
        }
    }
    ranges
}

/// Fails if two threads have something in one line.
pub fn are_apart(driver: &Driver, regions: u32) {
    let mut owners: HashMap<usize, (usize, &str)> = HashMap::new();
    let mut records = 0;
    for (number, &thread) in driver.blocks().iter().enumerate() {
        for (name, address, bytes) in written(thread, regions) {
            records += usize::from(name == "event record");
            for line in address / LINE..=(address + bytes - 1) / LINE {
                let (other, what) = *owners.entry(line).or_insert((number, name));
                assert_eq!(other, number, "{name} of thread {number} shares a line with {what} of thread {other}");
            }
        }
    }
    assert!(records > 100, "the threads count in {records} records");
}
