//! Members of structures in states that follow no pattern, as one condition or another wrote them: reuse that the thread
//! knows and own values are passed granule by granule.

use super::{Period, Reads};
use crate::hooks::loops::plain;
use crate::thread::Thread;
use core::sync::atomic::AtomicU32;
use threadtalk_abi::cell::NONE;

/// Granules that are passed at a time, at most: then time goes on.
const MOST: usize = 512;

/// How many granules from `element` on are own or in states whose reads the thread knows to be reuse, none of it to be
/// sampled; it is counted. None of the granules may be at an end of the loop.
pub fn settled(t: &Thread, period: &Period, cells: &[AtomicU32], element: u64) -> usize {
    let cells = plain(cells.get(..cells.len().min(MOST)).unwrap_or(&[]));
    let granules = cells.iter().zip(period.from(element));
    let is_quiet = |state: u32| state == NONE || t.header.is_own(state);
    granules.take_while(|(state, reads)| is_quiet(**state) || count(t, period.sites(), reads, **state)).count()
}

/// Counts the reads of a granule in this state. False: one is none that the thread knows, or to be sampled, and none is
/// counted.
#[inline]
fn count(t: &Thread, sites: &[u32], reads: &Reads, state: u32) -> bool {
    let Some(first) = reads.first else { return true };
    let mut each = sites.iter().zip(reads.counts).skip(first.into());
    if reads.is_one {
        return each.next().is_none_or(|(site, count)| add(t, (state, *site), count));
    }
    let numbers = sites.iter().zip(reads.counts);
    let counted = numbers.clone().take_while(|(site, count)| *count == 0 || add(t, (state, **site), *count)).count();
    if counted == sites.len() {
        return true;
    }
    for (site, count) in numbers.take(counted).filter(|(_, count)| *count > 0) {
        take_back(t, (state, *site), count);
    }
    false
}

/// So many reads more at a site in a state, before the next one to be sampled, if the thread knows them.
#[inline]
fn add(t: &Thread, (state, site): (u32, u32), count: u8) -> bool {
    let Some(counter) = t.known(state, site) else { return false };
    // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in them.
    let counter = unsafe { &mut *counter };
    let all = counter.rar.saturating_add(count.into());
    if all < counter.next {
        counter.rar = all;
    }
    all < counter.next
}

fn take_back(t: &Thread, (state, site): (u32, u32), count: u8) {
    if let Some(counter) = t.known(state, site) {
        // SAFETY: as in `add`.
        unsafe { (*counter).rar -= u64::from(count) };
    }
}
