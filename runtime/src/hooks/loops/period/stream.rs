//! The events of a loop whose reads take turns: as many granules at a time as are alike, or as repeat.

use super::one_by_one::one_by_one;
use super::repeated::Repeated;
use super::reuse::reuse;
use super::tally::Tally;
use super::{MOST_GRANULES, MOST_REPEATED, Period};
use crate::hooks::access::read_cell;
use crate::hooks::event::{Event, event, reads_of_alike};
use crate::hooks::loops::halves::{self, Part};
use crate::hooks::loops::plain;
use crate::hooks::scan::{equal_prefix, own_prefix};
use crate::phases;
use crate::process::Process;
use crate::thread::{Thread, memos};
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_sigmem::{Alike, Member, MemberRead, Run};

/// Granules whose first reads are counted at once, at most.
const AT_ONCE: usize = 256;

/// Granules whose reads are reuse that the thread knows, counted at once, at most: what is to be sampled among them is
/// not. As many are looked at after some rows of such only, since of others what is behind [`AT_ONCE`] would be looked
/// at again.
const MOST_AT_ONCE: usize = 1024;

/// Granules that repeat and are worth being told apart as a whole, which takes some 100 ns. One by one each takes 5, or
/// 20 if something is exchanged.
const LEAST_REPEATED: usize = 32;

/// The same of granules that are all in one state.
const LEAST_ALIKE: usize = 8;

/// Granules of a piece of a row that is read from its end, each piece from its begin: so far distances may be off.
const DOWNWARDS: u64 = 256;

/// Reads all that the loop reads.
pub fn read(t: &mut Thread, p: &Process, period: &Period) {
    memos::settle(memos::used(&mut t.header));
    let all = period.turns.granules();
    if !period.turns.is_downwards() {
        return upwards(t, p, period, all);
    }
    let mut end = all.end;
    while end > all.start {
        let begin = ((end - 1) & !(DOWNWARDS * GRANULE - 1)).max(all.start);
        upwards(t, p, period, begin..end);
        end = begin;
    }
}

fn upwards(t: &mut Thread, p: &Process, period: &Period, all: Range<u64>) {
    for run in p.signature.directory.runs(all.start, all.end - all.start) {
        // Memory without cells has no writer.
        let Run::Mapped { address, cells } = run else { continue };
        let (mut at, mut most) = (0, AT_ONCE);
        while let Some(rest @ [first, ..]) = cells.get(at..) {
            phases::tick(t, p);
            let state = first.load(Ordering::Relaxed);
            let element = address + at as u64 * GRANULE;
            at += if t.header.is_own(state) {
                own_prefix(plain(rest), t.header.own_base, t.header.own_span, 0)
            } else if state == NONE {
                equal_prefix(plain(rest), state)
            } else {
                several(t, p, period, (rest, element), &mut most)
            };
        }
    }
}

/// The reads of the first granule, and of those behind it as far as they repeat, or one by one. How many granules were
/// read, or are never. Looks at `most` of them, and says how many are to be looked at next.
fn several(
    t: &mut Thread,
    p: &Process,
    period: &Period,
    (cells, element): (&[AtomicU32], u64),
    most: &mut usize,
) -> usize {
    let within = cells.get(..period.turns.within(element, cells.len())).unwrap_or(&[]);
    // What is read of one look is no less than what is looked at, so that long rows take as many as they have blocks.
    let near = within.get(..within.len().min(*most)).unwrap_or(&[]);
    *most = AT_ONCE;
    if let [first, ..] = near {
        let repeated = Repeated::of(plain(near), period.length());
        let least = if repeated.is_alike { LEAST_ALIKE } else { LEAST_REPEATED };
        if repeated.granules < least
            && let read @ 1.. = one_by_one(t, p, period, within, element)
        {
            return read;
        }
        let mut members = [Member::NONE; MOST_REPEATED];
        let members = members.get_mut(..repeated.length).unwrap_or(&mut []);
        if repeated.is_alike {
            let state = first.load(Ordering::Relaxed);
            members.iter_mut().for_each(|member| *member = seen(t, state));
        } else {
            members.iter_mut().zip(plain(near)).for_each(|(member, state)| *member = seen(t, *state));
        }
        let known = reuse(t, p, period, (element, repeated.granules), members);
        if known > 0 {
            if known == near.len() {
                *most = (2 * known).clamp(AT_ONCE, MOST_AT_ONCE);
            }
            return known;
        }
        let some = near.get(..repeated.granules.min(AT_ONCE)).unwrap_or(&[]);
        if (!repeated.is_alike || period.has_gaps())
            && let read @ 1.. = structures(t, p, period, some, element, members)
        {
            return read;
        }
    }
    alike(t, p, period, cells, element)
}

/// What the read of a granule in this state is, if it is none that brings anything.
fn seen(t: &Thread, state: u32) -> Member {
    let is_own = state == NONE || t.header.is_own(state);
    let read = if is_own { MemberRead::Nothing } else { MemberRead::Reuse };
    Member { from: state, state, read, ..Member::NONE }
}

/// The reads of granules in different states, again and again, as many as there are `members`. How many were read; none
/// if that is not possible.
fn structures(
    t: &mut Thread,
    p: &Process,
    period: &Period,
    cells: &[AtomicU32],
    element: u64,
    members: &mut [Member],
) -> usize {
    let bits = period.read_of(element, members.len());
    let read = t.view.read_structures(&p.states, cells, members, |place| bits >> place & 1 == 1);
    count(t, p, period, (cells, element, read), members);
    read
}

/// The reads of the first granule, and of those behind it as far as they begin with the same true communication. How
/// many granules were read, or are never.
fn alike(t: &mut Thread, p: &Process, period: &Period, cells: &[AtomicU32], element: u64) -> usize {
    let Some(first) = cells.first() else { return 1 };
    let within = period.turns.within(element, cells.len().min(AT_ONCE));
    let alike = cells.get(..period.unbroken(element, within)).unwrap_or(&[]);
    let Some(Alike { writer, from, state, read }) = t.view.read_alike(&p.states, alike) else {
        period.turns.reads(element).for_each(|site| read_cell(t, p, first, element, site));
        return 1;
    };
    let members = [Member { writer, from, state, read: MemberRead::Communication }; MOST_GRANULES];
    count(t, p, period, (cells, element, read), members.get(..period.length()).unwrap_or(&[]));
    read
}

/// Counts the reads of `read` granules from `element` on, which are `members` again and again and have been exchanged.
fn count(
    t: &mut Thread,
    p: &Process,
    period: &Period,
    (cells, element, read): (&[AtomicU32], u64, usize),
    members: &[Member],
) {
    if read == 0 {
        return;
    }
    p.claims.touch(element, element + read as u64 * GRANULE);
    let element_of = |from: usize| element + from as u64 * GRANULE;
    let whole = |t: &mut Thread, (from, n): Part| {
        let mut tally = Tally::new();
        tally.sum(period, element_of(from), members, n)
            && reads_of_alike(t, p, (element_of(from), n as u64), tally.reads())
    };
    let each = |t: &mut Thread, (from, n): Part| {
        let elements = (element_of(from)..).step_by(GRANULE as usize);
        let some = cells.get(from..from + n).unwrap_or(&[]);
        for (at, member) in some.iter().zip(elements).zip(members.iter().cycle()) {
            one(t, p, period, at, *member);
        }
    };
    halves::count(t, (read, members.len()), whole, each);
}

/// The reads of a granule of which the first is what `member` says, and has been made.
fn one(t: &mut Thread, p: &Process, period: &Period, (cell, element): (&AtomicU32, u64), member: Member) {
    let mut sites = period.turns.reads(element);
    let Member { writer, state, read, .. } = member;
    if read == MemberRead::Communication
        && let Some(site) = sites.next()
    {
        event(t, p, cell, element, site, (writer, Event { state, tracked: false, raw: true }));
    }
    sites.for_each(|site| read_cell(t, p, cell, element, site));
}
