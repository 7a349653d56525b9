//! Reads of the same granules in each iteration, beside rows with events.

use super::findings::Findings;
use super::row_by_row::{Row, rows};
use crate::process::Process;
use crate::thread::Thread;
use core::sync::atomic::Ordering;
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::Access;

/// Counts all of them, if they are reuse that the thread knows, and none of it is to be sampled. `false`: nothing was
/// counted.
pub fn count(t: &mut Thread, p: &Process, (accesses, eventful): (&[Access], u64), iterations: u64) -> bool {
    let mut found = Findings::new();
    let known = rows(accesses, eventful, iterations, |row| {
        let Row::Fixed(access) = row else { return true };
        let granules = access.address & !(GRANULE - 1)..access.address + u64::from(access.bytes);
        granules.step_by(GRANULE as usize).all(|granule| {
            let Some(cell) = p.signature.directory.translate(granule) else { return true };
            // SAFETY: the directory leads to cells that live for ever.
            let state = unsafe { &*cell }.load(Ordering::Relaxed);
            if state == NONE || t.header.is_own(state) {
                return true;
            }
            let counter = t.counter_of(state, access.site);
            counter.is_some_and(|c| c == t.idle_counter() || found.count(Some(c), iterations).is_ok())
        })
    });
    known && found.counts().is_some_and(|counts| super::count(t, counts))
}
