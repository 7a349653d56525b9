//! Members of structures in states that follow no pattern, as one condition or another wrote them: read granule by
//! granule.

use super::reuse::{add, take_back};
use super::{Period, Reads};
use crate::hooks::access::read_cell;
use crate::hooks::again::first_reads;
use crate::hooks::event::{known_read, reuse_counter};
use crate::hooks::loops::plain;
use crate::hooks::scan::{equal_prefix, own_prefix};
use crate::process::Process;
use crate::thread::Thread;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;

/// Granules that are read at a time, at most: then time goes on.
const MOST: usize = 512;

/// Granules in one state, or own ones, that are better looked at as a whole.
const ALIKE: usize = 32;

/// Reads granules from `element` on, as long as neighbours differ, and returns how many. None of them may be at an end
/// of the loop.
pub fn one_by_one(t: &mut Thread, p: &Process, period: &Period, cells: &[AtomicU32], element: u64) -> usize {
    let mut place = period.place(element);
    let cells = cells.get(..MOST).unwrap_or(cells);
    for (some, from) in cells.chunks(ALIKE).zip((0..).step_by(ALIKE)) {
        if some.len() == ALIKE && are_alike(t, plain(some)) {
            return from;
        }
        let mut at = 0;
        while at < some.len() {
            let rest = some.get(at..).unwrap_or(&[]);
            let known = known(t, period, rest, place);
            at += known;
            place = period.place_behind(place, known);
            let (Some(cell), Some(reads)) = (rest.get(known), period.reads.get(place)) else { continue };
            read(t, p, period, (cell, element + (from + at) as u64 * GRANULE), reads);
            at += 1;
            place = period.place_behind(place, 1);
        }
    }
    cells.len()
}

fn are_alike(t: &Thread, cells: &[u32]) -> bool {
    let first = cells.first().copied().unwrap_or(NONE);
    equal_prefix(cells, first) == cells.len()
        || t.header.is_own(first) && own_prefix(cells, t.header.own_base, t.header.own_span, 0) == cells.len()
}

/// Counts the reads of granules that one line reads, from the one at `place` of the period on, as long as the thread
/// knows them; how many. Apart from what else may be to be done, which would take the registers.
#[inline(never)]
fn known(t: &Thread, period: &Period, cells: &[AtomicU32], place: usize) -> usize {
    let all = period.reads.get(..period.granules).unwrap_or(&[]);
    let mut rest = all.get(place..).unwrap_or(&[]).iter();
    for (cell, at) in cells.iter().zip(0..) {
        let Some(reads) = rest.next().or_else(|| {
            rest = all.iter();
            rest.next()
        }) else {
            return at;
        };
        // Relaxed: what the name stands for is known since it was met first.
        let state = cell.load(Ordering::Relaxed);
        if state == NONE || t.header.is_own(state) {
            continue;
        }
        match reads.only {
            Some((site, count)) if add(t.known(state, site), count).is_ok() => {}
            None if reads.first.is_none() => {}
            _ => return at,
        }
    }
    cells.len()
}

/// Reads a granule that somebody else wrote.
fn read(t: &mut Thread, p: &Process, period: &Period, (cell, element): (&AtomicU32, u64), reads: &Reads) {
    // Relaxed: as above, or it is loaded once more.
    let state = cell.load(Ordering::Relaxed);
    let is_read = match reads.only {
        Some(read) => of_one_line(t, p, (cell, element, state), read),
        None => of_several_lines(t, p, period, state, reads),
    };
    if !is_read {
        period.turns.reads(element).for_each(|site| read_cell(t, p, cell, element, site));
    }
}

/// Reads a granule that one line reads so often, if the thread has made such a read before.
fn of_one_line(
    t: &mut Thread,
    p: &Process,
    (cell, element, state): (&AtomicU32, u64, u32),
    (site, times): (u32, u64),
) -> bool {
    let Some(known) = known_read(t, p, state, site) else { return false };
    if known.to == state {
        t.remember(state, site, known.record.cast());
        return add(Some(known.record.cast()), times).is_ok();
    }
    let is_read = first_reads(t, p, slice::from_ref(cell), (element, site), (state, known)) == 1;
    if is_read {
        (1..times).for_each(|_| read_cell(t, p, cell, element, site));
    }
    is_read
}

/// Counts the reads of a granule in this state. False: one is none that the thread knows, or to be sampled, and none is
/// counted.
fn of_several_lines(t: &mut Thread, p: &Process, period: &Period, state: u32, reads: &Reads) -> bool {
    let each = || reads.each(period.sites());
    let Some(refused) = each().position(|(site, count)| add(reuse_counter(t, p, state, site), count).is_err()) else {
        return true;
    };
    each().take(refused).for_each(|(site, count)| take_back(reuse_counter(t, p, state, site), count));
    false
}
