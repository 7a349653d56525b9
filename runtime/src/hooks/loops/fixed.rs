//! Reads of the same granules in each iteration, beside rows with events.

use super::row_by_row::{Row, rows};
use crate::hooks::nests::fixed::AllRepeated;
use crate::process::Process;
use crate::thread::Thread;
use core::sync::atomic::Ordering;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::Access;

/// Counts all of them, if they are reuse that the thread knows. `false`: nothing was counted.
pub fn count(t: &mut Thread, p: &Process, (accesses, eventful): (&[Access], u64), iterations: u64) -> bool {
    let mut all = AllRepeated::new();
    let known = rows(accesses, eventful, iterations, |row| {
        let Row::Fixed(access) = row else { return true };
        let granules = access.address & !(GRANULE - 1)..access.address + u64::from(access.bytes);
        granules.step_by(GRANULE as usize).all(|granule| {
            let Some(cell) = p.signature.directory.translate(granule) else { return true };
            // SAFETY: the directory leads to cells that live for ever.
            let state = unsafe { &*cell }.load(Ordering::Relaxed);
            all.add(t, (granule, state), access.site).is_some()
        })
    });
    known && all.count(t, p, iterations)
}
