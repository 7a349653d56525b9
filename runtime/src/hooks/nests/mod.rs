//! Loops inside nests: what is found out about their memory is kept in windows ([`threadtalk_abi::window`]).
//!
//! A loop is settled here if each group of its accesses finds cells of one kind: own ones or such as have no writer, or
//! all in one state whose reuse the thread knows. A group that writes must find own cells or such as have no writer, so
//! that nothing that the loop overwrites is an event of it, and the order of its accesses does not matter. All else is
//! left to [`loops`].
//!
//! Samples of the reuse distance are due at a certain event, and end at one: [`samples`]. A watched element's cell is
//! marked, so that a window with it is not made, and those that were are forgotten.

mod any_order;
pub mod fixed;
mod flows;
mod group;
mod order;
mod rows;
mod samples;
mod strided;
mod tile;
pub mod tiles;
mod turns;
mod unread;

use super::loops::{self, Kind};
use crate::process::Process;
use crate::thread::mixtures::Part;
use crate::thread::{Thread, memos};
use crate::wide::Wide;
use core::mem::MaybeUninit;
use group::Group;
use order::Order;
use threadtalk_abi::loops::{Access, MOST_IN_NEST, NestAccess, STRIDED, WRITE};
use threadtalk_abi::window::{SHORTEST_ASKED, Window, saved};
use turns::Apart;

/// Bytes of rows that are looked at here. The question for a longer one costs less than the row, and [`loops`]
/// tolerates rims.
const MOST_BYTES: u64 = 2048;

/// Strided loops that run with hooks without a look after one that was refused: these cost most to look at.
const MOST_SKIPPED: u32 = 31;

enum Answer {
    /// All is counted.
    Settled,
    /// An event of the loop is to be sampled.
    Due,
    /// Not of one kind.
    Mixed,
}

/// What a group of accesses is.
struct Look<'a> {
    group: Group,
    /// The access, if it is one of a nest that is counted as a whole.
    nest: Option<&'a NestAccess>,
    window: Window,
    /// Events.
    granules: u64,
    /// From when to when it has events, if that is known and they count in one counter: see [`Order`].
    range: Option<(u64, u64)>,
    /// The window is in the table already, or cannot be.
    known: Wide,
}

impl Look<'_> {
    fn order(&self) -> Order {
        self.nest.map_or_else(|| Order::of_loop(&self.group), Order::of_nest)
    }

    /// Its events as one part.
    fn part(&self) -> Part {
        let range = self.range.unwrap_or_else(|| self.order().range());
        Part { counter: self.window.counter, granules: self.granules, range, slices: 0 }
    }
}

/// See [`threadtalk_abi::hooks::LOOP`]; the loop may use windows. `asked`: the iterations that it was asked about with,
/// of which those of the description may be parts.
#[inline(never)]
pub fn settle(t: &mut Thread, p: &Process, accesses: &[Access], (iterations, asked): (u64, u64)) -> bool {
    let strided = accesses.iter().any(|a| a.flags & STRIDED != 0);
    let short = |a: &Access| iterations.saturating_mul(a.stride.unsigned_abs()) <= MOST_BYTES;
    if !t.uses_windows() || !strided && !accesses.iter().all(short) {
        return !strided && in_order(t, p, accesses, iterations);
    }
    if strided && t.windows.skip > 0 {
        t.windows.skip -= 1;
        return false;
    }
    let answer = ask(t, p, accesses, iterations);
    let settled = match answer {
        Answer::Settled => true,
        Answer::Due => false,
        Answer::Mixed => !strided && in_order(t, p, accesses, iterations),
    };
    // That a sample was due says nothing of the next time.
    if matches!(answer, Answer::Due) {
        return false;
    }
    // Longer rows would have been asked about without windows, for less.
    let by_windows = settled && (strided || asked < SHORTEST_ASKED);
    t.weigh_windows(p, if by_windows { saved(asked, accesses.len()) } else { 0 });
    if strided {
        t.windows.skipped = if settled { 0 } else { (2 * t.windows.skipped + 1).min(MOST_SKIPPED) };
        t.windows.skip = t.windows.skipped;
    }
    settled
}

/// The way of loops that find nothing in windows.
fn in_order(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    loops::row::foreign(t, p, accesses, iterations) || settle_without(t, p, accesses, Kind::IN_NEST, iterations)
}

/// Settles a loop without windows. It may overwrite cells that those of others rely on.
pub fn settle_without(t: &mut Thread, p: &Process, accesses: &[Access], kind: Kind, iterations: u64) -> bool {
    let Some(eventful) = loops::settle(t, p, accesses, kind, iterations) else { return false };
    for write in accesses.iter().filter(|a| a.flags & WRITE != 0) {
        let reach = write.stride.wrapping_mul(iterations as i64 - 1);
        let first = write.address.min(write.address.wrapping_add_signed(reach));
        let end = first + reach.unsigned_abs() + u64::from(write.bytes);
        // Of what the loop also reads, without an event, no window tells of any.
        let is_read = |(a, number): (&Access, u32)| {
            let same = (a.address, a.stride, a.bytes) == (write.address, write.stride, write.bytes);
            same && a.flags & WRITE == 0 && eventful >> number & 1 == 0
        };
        if t.has_events_between(first, end) && !accesses.iter().zip(0..).any(is_read) {
            t.overwrites(first, end);
        }
    }
    true
}

fn ask(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> Answer {
    if p.is_paused() || accesses.len() > MOST_IN_NEST || iterations == 0 {
        return Answer::Mixed;
    }
    if !loops::writes::can_be_ordered(accesses, iterations) {
        return Answer::Mixed;
    }
    let mut looks = [const { MaybeUninit::<Look>::uninit() }; MOST_IN_NEST];
    let (mut used, mut apart) = (0, Apart::new());
    let mut rest = accesses;
    while let ([head, ..], Some(place)) = (rest, looks.get_mut(used)) {
        let members = rest.iter().take_while(|a| a.window == head.window).count();
        let Some((group, others)) = rest.split_at_checked(members) else { return Answer::Mixed };
        rest = others;
        apart.look = used as u32;
        let Some(look) = Group::of(group, iterations).and_then(|group| group.look(t, p, &mut apart)) else {
            return Answer::Mixed;
        };
        place.write(look);
        used += 1;
    }
    // SAFETY: the first `used` entries were written; the layouts are the same.
    let looks = unsafe { core::slice::from_raw_parts(looks.as_ptr().cast::<Look>(), used) };
    let counted = apart.is_empty() && count(t, looks);
    // Before samples begin, which forget the windows of their elements.
    for look in looks.iter().filter(|look| !look.known.is_so() && !look.group.writes.is_so()) {
        t.put_window(look.group.place(), look.group.number, look.window);
    }
    // Which granule the nth read is of has no formula if some are read more often than others.
    let in_order = || looks.iter().all(|look| look.granules == 0 || look.group.times.is_some());
    if !(counted || in_order() && samples::count(t, p, looks, &apart)) {
        return Answer::Due;
    }
    for look in looks.iter().filter(|look| !look.known.is_so() && look.group.writes.is_so()) {
        // Loops that find the window write in it unseen.
        t.overwrite(p, (look.window.first, look.window.end));
        t.writes_in_window();
        t.put_window(look.group.place(), look.group.number, look.window);
    }
    loops::writes::store(t, p, accesses, iterations);
    Answer::Settled
}

/// Counts the events. `false`: one of them is to be sampled, and none is counted.
fn count(t: &mut Thread, looks: &[Look]) -> bool {
    if looks.iter().all(|l| l.granules == 0) {
        return true;
    }
    memos::settle(memos::used(&mut t.header));
    // Several looks may count in one counter: the last one to do so sees whether all of them have room.
    let mut free = true;
    for look in looks.iter().filter(|l| l.granules > 0) {
        t.for_each_part(look.window.counter, look.granules, |counter, granules| {
            counter.rar = counter.rar.saturating_add(granules);
            free &= counter.rar < counter.next;
        });
    }
    if !free {
        for look in looks.iter().filter(|l| l.granules > 0) {
            t.for_each_part(look.window.counter, look.granules, |counter, granules| counter.rar -= granules);
        }
        // The memos were given their shares before the windows counted: they must not count beyond the sample.
        memos::empty(memos::used(&mut t.header));
    }
    free
}
