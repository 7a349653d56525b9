//! An access of a loop that alone reads a row, from one end to the other, or a copy of memory: the events in their
//! order, as many at a time as are alike, or as can be told apart by their states ([`mixed`]).
//!
//! This is what the instrumented copy of the loop would do: samples of the reuse distance begin and end at the same
//! reads.

use super::{mixed, plain};
use crate::distance::watch::BLOCK;
use crate::hooks::access::{read_alike, read_cell};
use crate::hooks::again::first_reads;
use crate::hooks::scan::{equal_prefix, own_prefix};
use crate::phases;
use crate::process::Process;
use crate::thread::firsts::Key;
use crate::thread::{Thread, memos};
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::thread::EventCounter;
use threadtalk_sigmem::Run;
use threadtalk_sigmem::open::is_open;

/// Neighbours that are alike, if only these are.
const MOST_ALIKE: usize = 4;

/// Elements in several states whose reads are known to be reuse are counted so many at a time: then time goes on.
const MOST_SETTLED: usize = 512;

/// So often neighbours in several states are looked for in vain.
const MOST_TRIES: u32 = 4;

/// Reads every granule of `from .. to` once, upwards.
pub fn read(t: &mut Thread, p: &Process, (from, to): (u64, u64), site: u32) {
    memos::settle(memos::used(&mut t.header));
    let mut tries = MOST_TRIES;
    for run in p.signature.directory.runs(from, to - from) {
        // Memory without cells has no writer.
        let Run::Mapped { address, cells } = run else { continue };
        let mut at = 0;
        while let Some(rest @ [first, ..]) = cells.get(at..) {
            // One call stands for many: time goes on in it.
            phases::tick(t, p);
            let state = first.load(Ordering::Relaxed);
            let element = address + at as u64 * GRANULE;
            let is_mixed = mixed::may_be(rest);
            if is_mixed && let read @ 1.. = settled(t, rest, site) {
                at += read;
                continue;
            }
            at += if t.header.is_own(state) {
                own_prefix(plain(rest), t.header.own_base, t.header.own_span, 0)
            } else if state == NONE {
                equal_prefix(plain(rest), state)
            } else if is_mixed && let read @ 1.. = in_turns(t, p, rest, element, site, &mut tries) {
                read
            } else if let Some(counter) = t.known(state, site) {
                let alike = equal_prefix(plain(rest), state) as u64;
                // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread
                // counts in them.
                let counter = unsafe { &mut *counter };
                // Before the next one to be sampled.
                let free = alike.min(counter.next.saturating_sub(counter.rar).saturating_sub(1));
                counter.rar += free;
                if free == 0 {
                    read_cell(t, p, first, element, site);
                }
                free.max(1) as usize
            } else if let Some(read) = again(t, p, rest, element, site) {
                read
            } else {
                read_alike(t, p, rest, element, site)
            };
        }
    }
}

/// Own elements, and reuse that the thread knows, in whatever order; how many there were. Eight at a time where they
/// are own or in the state that was met last: one by one, own elements and another's by turns took twice as long.
fn settled(t: &Thread, cells: &[AtomicU32], site: u32) -> usize {
    let (base, mask) = (t.header.own_base, !(t.header.own_span - 1));
    let is_quiet = |cell: u32| ((cell ^ base) & mask == 0) | (cell == NONE);
    let (mut known, mut counter, mut room) = (NONE, t.idle_counter(), 0);
    let mut at = 0;
    while at < MOST_SETTLED
        && let Some(eight) = cells.get(at..at + 8)
    {
        let eight = plain(eight);
        let quiet: u32 = eight.iter().map(|cell| u32::from(is_quiet(*cell))).sum();
        let alike: u32 = eight.iter().map(|cell| u32::from((*cell == known) & !is_quiet(*cell))).sum();
        if quiet + alike == 8 && u64::from(alike) <= room {
            // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts
            // in them.
            unsafe { (*counter).rar += u64::from(alike) };
            room -= u64::from(alike);
            at += 8;
            continue;
        }
        for &state in eight {
            if !is_quiet(state) {
                if state != known || room == 0 {
                    let Some(found) = t.known(state, site) else { return at };
                    // SAFETY: as above.
                    let EventCounter { rar, next } = unsafe { &*found };
                    // Before the next one to be sampled.
                    (known, counter, room) = (state, found, next.saturating_sub(*rar).saturating_sub(1));
                    if room == 0 {
                        return at;
                    }
                }
                // SAFETY: as above.
                unsafe { (*counter).rar += 1 };
                room -= 1;
            }
            at += 1;
        }
    }
    at
}

/// Neighbours in several states, as long as that was worth it; how many were read.
#[inline]
fn in_turns(t: &mut Thread, p: &Process, cells: &[AtomicU32], element: u64, site: u32, tries: &mut u32) -> usize {
    if *tries == 0 {
        return 0;
    }
    let read = mixed::read(t, p, cells, element, site);
    *tries = if read >= mixed::LEAST { MOST_TRIES } else { *tries - 1 };
    read
}

/// First reads like ones that the thread has made before at this line, as far as neighbours in one block are alike; how
/// many. `None`: it has made none, or another thread was first.
fn again(t: &mut Thread, p: &Process, cells: &[AtomicU32], element: u64, site: u32) -> Option<usize> {
    // Relaxed: what the name stands for is known since then.
    let from = cells.first()?.load(Ordering::Relaxed);
    if is_open(from) {
        return None;
    }
    let known = t.firsts.get(Key::new(from, site, t.context)).filter(|known| known.to != from)?;
    let block = BLOCK - element / GRANULE % BLOCK;
    let some = cells.get(..cells.len().min(block as usize))?;
    // Longer runs are read as a whole.
    if some.len() > MOST_ALIKE && some.last()?.load(Ordering::Relaxed) == from {
        return None;
    }
    Some(first_reads(t, p, some, (element, site), (from, known))).filter(|read| *read > 0)
}
