//! Strided accesses: a column of a matrix, one element in each iteration, lines apart; or a member of each structure of
//! an array.
//!
//! Neighbouring columns share the lines of their cells, so a line is looked at in each iteration: if its cells agree,
//! all columns in it are settled at once, up to those where some iteration finds another. Iterations may find different
//! kinds of cells. If their events count in one counter, inlined code counts the next loops; if in several, as where
//! the rows of a matrix have several writers, the hook does ([`Mixtures`](crate::thread::mixtures::Mixtures)).
//!
//! An element whose distance is measured takes nothing from what is known of its column: loops that read it ask, the
//! others find a window beside it.

use super::Look;
use super::group::{Group, Kind};
use super::tile::{FirstReads, Refused};
use super::turns::Apart;
use super::unread::{Unread, ask_ahead};
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::column::Column;
use crate::thread::mixtures::Parts;
use crate::wide::Wide;
use core::slice;
use threadtalk_abi::cell::TRACKED;
use threadtalk_abi::window::LINE_SHIFT;
use threadtalk_abi::{CHUNK_BYTES, GRANULE};
use threadtalk_sigmem::marks::mark;

/// A column is read by itself if less than this part of it is known before what is not.
const MOST_KNOWN: u64 = 8;

const LINE: u64 = 1 << LINE_SHIFT;
/// Cells of a line's elements.
const LINE_CELLS: usize = (LINE / GRANULE) as usize;

/// What a strided read finds, and a window around where it begins.
pub fn look(group: Group, steps: (i64, u64), t: &mut Thread, p: &Process, apart: &mut Apart) -> Option<Look<'static>> {
    let place = (group.place(), group.number);
    let serves = |c: &Column| {
        let w = c.window();
        (w.first <= group.from && group.to <= w.end)
            && (w.stride, w.iterations, w.cells) == (steps.0, steps.1, group.key)
    };
    let known = t.column(place.0, place.1, serves).map(|column| *column);
    let column = match known {
        Some(column) => column,
        None => match scan(&group, steps, t, p) {
            Ok(found) => {
                t.put_column(place.0, place.1, found);
                found
            }
            Err(Refused::Unread(_)) => {
                let column =
                    Unread { from: group.from, bytes: group.to - group.from, stride: steps.0, site: group.site? };
                apart.unread.add(column, steps.1)?;
                let window = group.window(t, (group.from, group.to), core::ptr::null_mut());
                return Some(Look { granules: 0, nest: None, range: None, window, known: Wide::Yes, group });
            }
            Err(Refused::Ordered | Refused::Mixed) => return None,
        },
    };
    let mut window = *column.window();
    let before = apart.count();
    for address in column.watched() {
        let at = column.window().first + column.within(address);
        if !t.waits_for(address) {
            t.column(place.0, place.1, serves).into_iter().for_each(|known| known.unwatch(address));
        } else if at + GRANULE <= group.from {
            window.first = window.first.max(at + GRANULE);
        } else if at >= group.to {
            window.end = window.end.min(at);
        } else {
            apart.add_awaited(address, column.iteration(address), group.site?)?;
        }
    }
    Some(Look {
        granules: window.granules,
        nest: None,
        range: Some(column.range()),
        window,
        known: (apart.count() > before).into(),
        group,
    })
}

/// What a strided read finds, by a look at the cells.
fn scan(group: &Group, (stride, iterations): (i64, u64), t: &mut Thread, p: &Process) -> Result<Column, Refused> {
    let line = group.from & !(LINE - 1);
    let nothing = group.window(t, (group.from, group.to), core::ptr::null_mut());
    let mut scan = Scan {
        group,
        like_this: if group.to > line + LINE { (group.from, group.to) } else { (line, line + LINE) },
        parts: Parts::new(),
        watched: Column::new(nothing, (0, 0)),
        iteration: 0,
        last: None,
        unread: false,
    };
    while scan.iteration < iterations {
        scan.alike(p, stride, iterations).ok_or(Refused::Mixed)?;
        if scan.iteration == iterations {
            break;
        }
        ask_ahead(p, (group.from, stride), scan.iteration, iterations);
        if scan.access(t, p, stride.wrapping_mul(scan.iteration as i64)).is_some() {
            scan.iteration += 1;
        } else {
            // Where most is known the loop's sequences are faster than reads by themselves.
            let is_unread = scan.unread && scan.iteration <= iterations / MOST_KNOWN;
            return Err(if is_unread { Refused::Unread(FirstReads::Once) } else { Refused::Mixed });
        }
    }
    let counter = t.mixed_counter(&scan.parts).ok_or(Refused::Mixed)?;
    let mut window = group.window(t, scan.like_this, counter);
    window.granules = scan.parts.granules();
    let mut column = Column::new(window, scan.parts.range());
    scan.watched.watched().all(|address| column.watch(address)).then_some(column).ok_or(Refused::Mixed)
}

/// A look at the cells of a column.
struct Scan<'g> {
    group: &'g Group,
    /// Where accesses may begin in the first iteration, and end, to find the same.
    like_this: (u64, u64),
    parts: Parts,
    /// Of which only the watched elements are of interest.
    watched: Column,
    iteration: u64,
    /// The kind of cells that was found last, and the state that it was found for.
    last: Option<(u32, Kind)>,
    /// A state was found that the thread has not read.
    unread: bool,
}

impl Scan<'_> {
    /// Goes on to the first iteration that finds something else than the last one did, in the columns that have found
    /// the same so far. `None`: there are too many counters.
    #[inline]
    fn alike(&mut self, p: &Process, stride: i64, iterations: u64) -> Option<()> {
        let Some((_, kind)) = self.last.filter(|(_, kind)| kind.counter.is_null() || mark(kind.value) == 0) else {
            return Some(());
        };
        let (begin, (first, end)) = (self.iteration, self.like_this);
        // Of what is no event, marks say nothing.
        let mask = if kind.counter.is_null() { kind.mask } else { kind.mask | TRACKED };
        while self.iteration < iterations {
            ask_ahead(p, (first, stride), self.iteration, iterations);
            let here = first.wrapping_add_signed(stride.wrapping_mul(self.iteration as i64));
            let Some(cells) = stretch(p, here, end - first) else { break };
            let differ = |cells: &[u32]| cells.iter().fold(0, |any, cell| any | (cell ^ kind.value));
            // A whole line without a loop.
            let line: Result<&[u32; LINE_CELLS], _> = cells.try_into();
            let differ = line.map_or_else(|_| differ(cells), |line| differ(line));
            if differ & mask != 0 {
                break;
            }
            self.iteration += 1;
        }
        if kind.counter.is_null() || self.iteration == begin {
            return Some(());
        }
        let granules = (self.group.to - self.group.from) / GRANULE * (self.iteration - begin);
        self.parts.add(kind.counter, granules, (begin, self.iteration - 1), 0)
    }

    /// The access that is `by` bytes from the first one. `None`: what it finds is not known.
    fn access(&mut self, t: &Thread, p: &Process, by: i64) -> Option<()> {
        let (from, to) = (self.group.from, self.group.to);
        let here = from.wrapping_add_signed(by);
        if let Some(cells @ [state, ..]) = stretch(p, here, to - from) {
            let kind = self.kind(t, p, *state)?;
            if cells.iter().all(|cell| kind.holds(*cell)) {
                self.count(t, kind, cells, here)?;
                self.neighbours(t, p, kind, by);
                return Some(());
            }
        }
        // Cells of several kinds, or in two chunks.
        self.like_this = (from, to);
        for granule in (here..here + (to - from)).step_by(GRANULE as usize) {
            let cells @ [state, ..] = stretch(p, granule, GRANULE)? else { return None };
            let kind = self.kind(t, p, *state)?;
            self.count(t, kind, cells, granule)?;
        }
        Some(())
    }

    #[inline]
    fn kind(&mut self, t: &Thread, p: &Process, state: u32) -> Option<Kind> {
        match self.last {
            Some((of, kind)) if of == state => Some(kind),
            _ => {
                let kind = self.group.kind(t, state);
                self.last = kind.map(|kind| (state, kind));
                self.unread |= kind.is_none() && t.view.first_from(&p.states, state).is_some();
                kind
            }
        }
    }

    /// Counts cells that are accessed, all of one kind. `None`: too many counters, or watched elements.
    #[inline]
    fn count(&mut self, t: &Thread, kind: Kind, cells: &[u32], address: u64) -> Option<()> {
        if kind.counter.is_null() {
            return Some(());
        }
        let addresses = (address..).step_by(GRANULE as usize);
        let noted = cells.iter().zip(addresses).all(|(cell, at)| self.note(t, *cell, at));
        self.parts.add(kind.counter, cells.len() as u64, (self.iteration, self.iteration), 0).filter(|()| noted)
    }

    /// Notes an element if it is watched. `false`: there is no room for it.
    #[inline]
    fn note(&mut self, t: &Thread, cell: u32, address: u64) -> bool {
        mark(cell) == 0 || !t.waits_for(address) || self.watched.watch(address)
    }

    /// Leaves out what is not of the kind that an access found, on either side of it.
    fn neighbours(&mut self, t: &Thread, p: &Process, kind: Kind, by: i64) {
        let ((from, to), (first, end)) = ((self.group.from, self.group.to), self.like_this);
        if (first, end) == (from, to) {
            return;
        }
        // Of columns whose stride is no multiple of a line, some iteration finds the border of two chunks here.
        if let Some(cells) = stretch(p, first.wrapping_add_signed(by), end - first) {
            let differ = cells.iter().fold(0, |any, cell| any | (cell ^ kind.value));
            if differ & kind.mask == 0 && (kind.counter.is_null() || differ & TRACKED == 0) {
                return;
            }
        }
        let like = |scan: &mut Self, at: u64| {
            let here = at.wrapping_add_signed(by);
            let Some([cell, ..]) = stretch(p, here, GRANULE) else { return false };
            kind.holds(*cell) && (kind.counter.is_null() || scan.note(t, *cell, here))
        };
        let (mut left, mut right) = (from, to);
        while left > first && like(self, left - GRANULE) {
            left -= GRANULE;
        }
        while right < end && like(self, right) {
            right += GRANULE;
        }
        self.like_this = (left, right);
    }
}

/// The cells of a few bytes in one chunk.
fn stretch(p: &Process, address: u64, bytes: u64) -> Option<&[u32]> {
    if address % CHUNK_BYTES + bytes > CHUNK_BYTES {
        return None;
    }
    let cells = p.signature.directory.translate(address)?;
    // SAFETY: a chunk has cells for all of its granules. In a race-free program nobody else changes those that the loop
    // is about to read, and of the others only a coherent word is seen.
    Some(unsafe { slice::from_raw_parts(cells.cast::<u32>(), (bytes / GRANULE) as usize) })
}
