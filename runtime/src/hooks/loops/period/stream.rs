//! The events of a loop whose reads take turns: as many granules at a time as are alike.

use super::Period;
use crate::hooks::access::read_cell;
use crate::hooks::event::{Event, Reads, event, reads_of_alike};
use crate::hooks::loops::plain;
use crate::hooks::scan::{equal_prefix, own_prefix};
use crate::phases;
use crate::process::Process;
use crate::thread::{Thread, memos};
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_sigmem::{Alike, Run};

/// Granules whose first reads are counted at once, at most: with one that is to be sampled among them, all are counted
/// one by one.
const AT_ONCE: usize = 64;

/// Reads all that the loop reads.
pub fn read(t: &mut Thread, p: &Process, period: &Period) {
    memos::settle(memos::used(&mut t.header));
    let all = period.turns.granules();
    for run in p.signature.directory.runs(all.start, all.end - all.start) {
        // Memory without cells has no writer.
        let Run::Mapped { address, cells } = run else { continue };
        let mut at = 0;
        while let Some(rest @ [first, ..]) = cells.get(at..) {
            phases::tick(t, p);
            let state = first.load(Ordering::Relaxed);
            let element = address + at as u64 * GRANULE;
            at += if state.wrapping_sub(t.header.own_base) < t.header.own_span {
                own_prefix(plain(rest), t.header.own_base, t.header.own_span, 0)
            } else if state == NONE {
                equal_prefix(plain(rest), state)
            } else {
                let within = rest.get(..period.turns.within(element, rest.len())).unwrap_or(&[]);
                match reuse(t, period, within, element, state) {
                    0 => communications(t, p, period, rest, element),
                    several => several,
                }
            };
        }
    }
}

/// Counts the reads of granules that are all in this state, if they are reuse that the thread knows and none of them is
/// to be sampled; how many.
fn reuse(t: &Thread, period: &Period, cells: &[AtomicU32], element: u64, state: u32) -> usize {
    if cells.is_empty() {
        return 0;
    }
    let mut counters = [t.idle_counter(); super::MOST_SITES];
    for ((counter, site), once) in counters.iter_mut().zip(period.sites()).zip(period.once()) {
        match t.counter_of(state, *site) {
            Some(known) => *counter = known,
            None if once == 0 => {}
            None => return 0,
        }
    }
    let others = || counters.iter().filter(|counter| **counter != t.idle_counter());
    let mut n = equal_prefix(plain(cells), state);
    let mut counts = period.count(element, n);
    for ((counter, count), once) in counters.iter().zip(counts).zip(period.once()) {
        // SAFETY: counters of the event cache are mapped for the life of the process.
        let counter = unsafe { &**counter };
        let room = counter.next.saturating_sub(counter.rar).saturating_sub(1);
        if count > room && !core::ptr::eq(counter, t.idle_counter()) {
            let periods = room.checked_div(once).unwrap_or(0);
            n = n.min((periods as usize).saturating_mul(period.length()));
        }
    }
    if others().next().is_some() {
        counts = period.count(element, n);
        for (counter, count) in counters.iter().zip(counts) {
            if *counter != t.idle_counter() {
                // SAFETY: as above; only this thread counts in them.
                unsafe { (**counter).rar += count };
            }
        }
    }
    n
}

/// The reads of the first granule, and of those behind it as far as they begin with the same true communication. How
/// many granules were read, or are never.
fn communications(t: &mut Thread, p: &Process, period: &Period, cells: &[AtomicU32], element: u64) -> usize {
    let Some(first) = cells.first() else { return 1 };
    let within = period.turns.within(element, cells.len().min(AT_ONCE));
    let alike = cells.get(..period.unbroken(element, within)).unwrap_or(&[]);
    let Some(Alike { writer, state, read, .. }) = t.view.read_alike(&p.states, alike) else {
        period.turns.reads(element).for_each(|site| read_cell(t, p, first, element, site));
        return 1;
    };
    p.claims.touch(element, element + read as u64 * GRANULE);
    let (counts, firsts) = (period.count(element, read), period.firsts(element, read));
    let mut reads = [const { Reads { site: 0, raw: 0, rar: 0 } }; super::MOST_SITES];
    for (((reads, site), count), raw) in reads.iter_mut().zip(period.sites()).zip(counts).zip(firsts) {
        *reads = Reads { site: *site, raw, rar: count - raw };
    }
    if reads_of_alike(t, p, (element, read as u64), state, &reads) {
        return read;
    }
    for (cell, element) in cells.iter().take(read).zip((element..).step_by(GRANULE as usize)) {
        let mut sites = period.turns.reads(element);
        if let Some(site) = sites.next() {
            event(t, p, cell, element, site, (writer, Event { state, tracked: false, raw: true }));
        }
        sites.for_each(|site| read_cell(t, p, cell, element, site));
    }
    read
}
