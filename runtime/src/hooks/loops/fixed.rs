//! Reads of the same granules in each iteration, beside rows with events.

use super::row::{self, Reuse};
use super::row_by_row::{Row, rows};
use crate::process::Process;
use crate::thread::Thread;
use core::sync::atomic::Ordering;
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::Access;

/// Granules with events, at most: a loop that is unrolled sixteen times reads a pointer so often.
const MOST: usize = 64;

/// Counts all of them, if they are reuse that the thread knows, and none of it is to be sampled. `false`: nothing was
/// counted.
pub fn count(t: &mut Thread, p: &Process, (accesses, eventful): (&[Access], u64), iterations: u64) -> bool {
    let mut reuse: [Reuse; MOST] = [(core::ptr::null_mut(), 0); MOST];
    let mut used = 0;
    let known = rows(accesses, eventful, iterations, |row| {
        let Row::Fixed(access) = row else { return true };
        let granules = access.address & !(GRANULE - 1)..access.address + u64::from(access.bytes);
        granules.step_by(GRANULE as usize).all(|granule| {
            let Some(cell) = p.signature.directory.translate(granule) else { return true };
            // SAFETY: the directory leads to cells that live for ever.
            let state = unsafe { &*cell }.load(Ordering::Relaxed);
            if state == NONE || state.wrapping_sub(t.header.own_base) < t.header.own_span {
                return true;
            }
            match (t.counter_of(state, access.site), reuse.get_mut(used)) {
                (Some(counter), _) if counter == t.idle_counter() => true,
                (Some(counter), Some(free)) => {
                    *free = (counter, iterations);
                    used += 1;
                    true
                }
                _ => false,
            }
        })
    });
    known && (used == 0 || reuse.get(..used).is_some_and(|reuse| row::count(t, reuse)))
}
