//! Members of structures in states that follow no pattern, as one condition or another wrote them: read granule by
//! granule.

use super::{Period, Reads};
use crate::hooks::access::read_cell;
use crate::hooks::again::first_reads;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::firsts::Key;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_sigmem::open::is_open;

/// Granules that are read at a time, at most: then time goes on.
const MOST: usize = 512;

/// Granules in one state, or own ones, after which the next ones are better looked at as a whole.
const MOST_ALIKE: u32 = 32;

/// Reads granules from `element` on, as long as neighbours differ, and returns how many; at least the first. None of
/// them may be at an end of the loop.
pub fn one_by_one(t: &mut Thread, p: &Process, period: &Period, cells: &[AtomicU32], element: u64) -> usize {
    let mut place = period.place(element);
    let (mut before, mut alike) = (NONE, 0);
    for (at, cell) in cells.iter().take(MOST).enumerate() {
        let Some(reads) = period.reads.get(place) else { return at };
        place = if place + 1 == period.granules { 0 } else { place + 1 };
        let Some(first) = reads.first else { continue };
        // Relaxed: what the name stands for is known since it was met first, or `read_cell` loads it once more.
        let state = cell.load(Ordering::Relaxed);
        let is_quiet = state == NONE || t.header.is_own(state);
        let kind = if is_quiet { NONE } else { state };
        alike = if kind == before { alike + 1 } else { 0 };
        before = kind;
        if alike > MOST_ALIKE {
            return at;
        }
        if is_quiet || count(t, (period.sites(), first), reads, state) {
            continue;
        }
        let element = element + at as u64 * GRANULE;
        if !is_first_again(t, p, (period.sites(), first), (cell, element, state), reads) {
            period.turns.reads(element).for_each(|site| read_cell(t, p, cell, element, site));
        }
    }
    cells.len().min(MOST)
}

/// Reads a granule that one line reads, if that is a first read like one that the thread has made before.
fn is_first_again(
    t: &mut Thread,
    p: &Process,
    (sites, number): (&[u32], u8),
    (cell, element, from): (&AtomicU32, u64, u32),
    reads: &Reads,
) -> bool {
    let number = usize::from(number);
    let (Some(&site), Some(&times)) = (sites.get(number), reads.counts.get(number)) else { return false };
    if !reads.is_one || is_open(from) {
        return false;
    }
    let known = t.firsts.get(Key::new(from, site, t.context)).filter(|known| known.to != from);
    let is_read =
        known.is_some_and(|known| first_reads(t, p, slice::from_ref(cell), (element, site), (from, known)) == 1);
    if is_read {
        (1..times).for_each(|_| read_cell(t, p, cell, element, site));
    }
    is_read
}

/// Counts the reads of a granule in this state. False: one is none that the thread knows, or to be sampled, and none is
/// counted.
#[inline]
fn count(t: &Thread, (sites, first): (&[u32], u8), reads: &Reads, state: u32) -> bool {
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
