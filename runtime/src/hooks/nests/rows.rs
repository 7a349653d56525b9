//! Rows: accesses whose range over all iterations has small gaps or none.

use super::Look;
use super::group::{Group, Kind};
use super::order::Order;
use super::turns::Apart;
use crate::hooks::loops::plain;
use crate::process::Process;
use crate::thread::Thread;
use crate::wide::Wide;
use threadtalk_abi::window::PAGE_SHIFT;
use threadtalk_abi::{CHUNK_BYTES, GRANULE};
use threadtalk_sigmem::Run;

const PAGE: u64 = 1 << PAGE_SHIFT;

/// Whether a row is of one kind, and a window around it that is.
pub fn look(group: Group, t: &mut Thread, p: &Process, apart: &mut Apart) -> Option<Look<'static>> {
    let (from, to) = (group.from, group.to);
    let kind = group.kind(t, state(p, from)?)?;
    if alike(p, (from, to), kind) < to {
        return None;
    }
    if is_awaited(&group, t, kind, apart)? {
        let window = group.window(t, (from, to), kind.counter);
        return Some(Look { granules: group.granules, nest: None, range: None, window, known: Wide::Yes, group });
    }
    // Rows of this length that begin in the same page are to find this window.
    let page = from & !(PAGE - 1);
    let chunk_end = (from & !(CHUNK_BYTES - 1)) + CHUNK_BYTES;
    let most = if group.writes.is_so() { chunk_end } else { u64::MAX };
    let end = reach(t, p, (to, (page + PAGE + (to - from)).min(most)), kind).unwrap_or(to);
    let first = back(t, p, (page, from), kind);
    let mut window = group.window(t, (first, end), kind.counter);
    window.cells = p.signature.directory.offset(from)?;
    let granules = if kind.counter.is_null() { 0 } else { group.granules };
    // One that writes in two chunks counts, but is not kept.
    Some(Look { granules, nest: None, range: None, window, known: (to > most).into(), group })
}

/// Whether the thread waits for elements of a row, which are noted. `None`: too many, or some may lie between what is
/// read.
fn is_awaited(group: &Group, t: &mut Thread, kind: Kind, apart: &mut Apart) -> Option<bool> {
    let before = apart.count();
    let first_read = |address| Order::of_loop(group).next(address, None);
    let row = (group.from, group.to);
    each_watched(t, row, kind, |address| apart.add_awaited(address, first_read(address)?, group.site?))?;
    let (any, granules) = (apart.count() > before, (group.to - group.from) / GRANULE);
    let dense = group.times.is_some_and(|times| group.granules == granules * times);
    (!any || dense).then_some(any)
}

/// Calls for each element of a row of one kind that the thread waits for, until that says `None`.
pub fn each_watched(
    t: &mut Thread,
    (from, to): (u64, u64),
    kind: Kind,
    mut each: impl FnMut(u64) -> Option<()>,
) -> Option<()> {
    let (mut at, end) = (from / GRANULE, to.div_ceil(GRANULE));
    loop {
        at += kind.unwatched(t, at, (end - at) as usize) as u64;
        if at == end {
            return Some(());
        }
        each(at * GRANULE)?;
        at += 1;
    }
}

/// The state of the granule at an address, if it has a cell.
pub fn state(p: &Process, address: u64) -> Option<u32> {
    let run = p.signature.directory.runs(address, GRANULE).next()?;
    let Run::Mapped { cells, .. } = run else { return None };
    plain(cells).first().copied()
}

/// How far memory from `from` on has no cells, at most `to`: nobody wrote there.
pub fn unmapped(p: &Process, (from, to): (u64, u64)) -> u64 {
    let none =
        |run: Run<'_>| if let Run::Unmapped { address, granules } = run { address + granules * GRANULE } else { 0 };
    let ends = p.signature.directory.runs(from, to - from).map(none).take_while(|&end| end > 0);
    ends.last().map_or(from, |end| end.min(to))
}

/// How far cells from `from` on are of a kind, at most `to`. `None`: there are none at once.
fn reach(t: &mut Thread, p: &Process, (from, to): (u64, u64), kind: Kind) -> Option<u64> {
    let mut end = alike(p, (from, to), kind);
    let granules = (from % GRANULE + end - from).div_ceil(GRANULE) as usize;
    let unwatched = kind.unwatched(t, from / GRANULE, granules);
    if unwatched < granules {
        end = (from & !(GRANULE - 1)) + unwatched as u64 * GRANULE;
    }
    (end > from).then_some(end)
}

/// The same of elements whether they are watched or not.
pub fn alike(p: &Process, (from, to): (u64, u64), kind: Kind) -> u64 {
    let mut end = from;
    for run in p.signature.directory.runs(from, to.saturating_sub(from)) {
        let Run::Mapped { cells, .. } = run else { break };
        let cells = plain(cells);
        let like = kind.prefix(cells);
        end += like as u64 * GRANULE;
        if like < cells.len() {
            break;
        }
    }
    end
}

/// How far back cells before `from` are of a kind, at most to `page`. A page lies in one chunk.
fn back(t: &mut Thread, p: &Process, (page, from): (u64, u64), kind: Kind) -> u64 {
    let run = p.signature.directory.runs(page, from - page).next();
    let Some(Run::Mapped { cells, .. }) = run else { return from };
    let mut like = kind.suffix(plain(cells));
    loop {
        let first = from - like as u64 * GRANULE;
        let unwatched = kind.unwatched(t, first / GRANULE, like);
        if unwatched == like {
            return first;
        }
        like -= unwatched + 1;
    }
}
