//! Nests that are described as a whole: blocks of a matrix, each of whose rows is read or written again and again.
//!
//! What such an access touches is brought into one form, a *tile* ([`super::tile`]): rows of one length at a fixed
//! distance, all of them so many times. Each row is looked at once, whatever the order of the nest's loops; what was
//! found is kept for the running nest ([`threadtalk_abi::window`]), so that the next tile of a column of tiles finds
//! it. As with other windows, what the nest writes must be own already, or without a writer, so that none of it is an
//! event.
//!
//! Samples of the reuse distance begin and end in nests as in loops ([`samples`]), and what a nest reads once may be
//! new to its thread. What it reads again and again may be, too, if that takes another iteration of its outermost loop
//! each time: then these are counted one after the other until it is known. A block of 32 x 32 elements whose first
//! reads ran with hooks took 180 microseconds, ten times its own time.

use super::samples::{self, Apart};
use super::tile::{Refused, Tile, outermost};
use super::{Answer, Look, MOST_SKIPPED, count};
use crate::hooks::{loops, range};
use crate::process::Process;
use crate::thread::Thread;
use core::mem::MaybeUninit;
use threadtalk_abi::loops::{Access, FIXED, MOST_IN_NEST, NestAccess, WRITE};
use threadtalk_profile::layout::CrdMode;

/// Rows are told apart so that a look at each pays: all accesses are together at least so many times as long as the
/// tiles are.
const LEAST_TIMES: u64 = 2;

/// See [`threadtalk_abi::hooks::NEST`].
#[inline(never)]
pub fn settle(t: &mut Thread, p: &Process, accesses: &[NestAccess]) -> bool {
    if t.windows.skip_nests > 0 {
        t.windows.skip_nests -= 1;
        return false;
    }
    let answer = ask(t, p, accesses);
    if !matches!(answer, Answer::Due) {
        let refused = matches!(answer, Answer::Mixed);
        // None after the first: blocks are read for the first time now and then.
        t.windows.skip_nests = if refused { t.windows.skipped_nests } else { 0 };
        t.windows.skipped_nests = if refused { (2 * t.windows.skipped_nests + 1).min(MOST_SKIPPED) } else { 0 };
    }
    matches!(answer, Answer::Settled)
}

fn ask(t: &mut Thread, p: &Process, accesses: &[NestAccess]) -> Answer {
    // Distances of what is read before its turn would not be exact.
    if p.is_paused() || accesses.len() > MOST_IN_NEST || p.plan.mode == CrdMode::Exact {
        return Answer::Mixed;
    }
    match whole(t, p, accesses, LEAST_TIMES) {
        Ok(answer) => answer,
        Err(Refused::Unread) => by_rounds(t, p, accesses),
        Err(Refused::Mixed) => Answer::Mixed,
    }
}

/// The iterations of the outermost loop, if all accesses move with the same one.
fn rounds(accesses: &[NestAccess]) -> Option<u64> {
    let count = |access: &NestAccess| outermost(access).map(|step| access.steps[step].count);
    let mut all = accesses.iter().filter(|access| access.flags & FIXED == 0).map(count);
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

/// Settles a nest that reads again and again what its thread has not read before: iteration by iteration of its
/// outermost loop, each of which reads it once, until it is known. What the nest writes is own, or has no writer.
fn by_rounds(t: &mut Thread, p: &Process, accesses: &[NestAccess]) -> Answer {
    let Some(rounds) = rounds(accesses) else { return Answer::Mixed };
    let mut room = [const { MaybeUninit::uninit() }; MOST_IN_NEST];
    for first in 0..rounds {
        if first > 0 {
            let rest = part(&mut room, accesses, (first, rounds - first));
            if matches!(whole(t, p, rest, 0), Ok(Answer::Settled)) {
                break;
            }
        }
        let round = part(&mut room, accesses, (first, 1));
        if !matches!(whole(t, p, round, 0), Ok(Answer::Settled)) {
            one_by_one(t, p, round);
        }
    }
    Answer::Settled
}

/// So many rounds of a nest, from one on.
fn part<'r>(
    room: &'r mut [MaybeUninit<NestAccess>; MOST_IN_NEST],
    accesses: &[NestAccess],
    (first, count): (u64, u64),
) -> &'r [NestAccess] {
    let mut used = 0;
    for (access, place) in accesses.iter().zip(room.iter_mut()) {
        let access = place.write(*access);
        if let Some(step) = outermost(access).and_then(|step| access.steps.get_mut(step)) {
            access.address = access.address.wrapping_add_signed(step.stride.wrapping_mul(first as i64));
            step.count = count;
        }
        used += 1;
    }
    // SAFETY: the first `used` entries were written; the layouts are the same.
    unsafe { core::slice::from_raw_parts(room.as_ptr().cast(), used) }
}

/// Counts a part of a nest access by access.
#[cold]
fn one_by_one(t: &mut Thread, p: &Process, accesses: &[NestAccess]) {
    for access in accesses.iter().filter(|access| access.flags & FIXED == 0) {
        let [inner, middle, outer] = access.steps;
        for (i, j) in (0..outer.count).flat_map(|i| (0..middle.count).map(move |j| (i, j))) {
            let moved = outer.stride.wrapping_mul(i as i64).wrapping_add(middle.stride.wrapping_mul(j as i64));
            let address = access.address.wrapping_add_signed(moved);
            let NestAccess { bytes, flags, site, .. } = *access;
            if flags & WRITE != 0 {
                let row = Access { address, stride: inner.stride, bytes, flags, site, window: 0 };
                loops::write(t, p, &row, inner.count);
                continue;
            }
            for k in 0..inner.count as i64 {
                range::read(t, p, address.wrapping_add_signed(inner.stride.wrapping_mul(k)), u64::from(bytes), site);
            }
        }
    }
}

/// Settles a nest at once if all that it reads again is known. Nothing is counted or written if it does not. All
/// accesses together are at least `times` as many as what they touch.
fn whole(t: &mut Thread, p: &Process, accesses: &[NestAccess], times: u64) -> Result<Answer, Refused> {
    let (mut reach, mut accessed) = (0u64, 0u64);
    let mut tiles = [const { MaybeUninit::<Tile>::uninit() }; MOST_IN_NEST];
    for (access, place) in accesses.iter().zip(&mut tiles) {
        let tile = Tile::of(access).ok_or(Refused::Mixed)?;
        let bytes = tile.width * tile.count;
        (reach, accessed) = (reach + bytes, accessed.saturating_add(bytes.saturating_mul(tile.times)));
        place.write(tile);
    }
    // SAFETY: as many were written as there are accesses; the layouts are the same.
    let tiles = unsafe { core::slice::from_raw_parts(tiles.as_ptr().cast::<Tile>(), accesses.len()) };
    if accessed < reach.saturating_mul(times) {
        return Err(Refused::Mixed);
    }
    let all = || accesses.iter().zip(tiles);
    let changes = |fixed: &Tile| all().any(|(access, tile)| access.flags & WRITE != 0 && tile.may_meet(fixed));
    if all().any(|(access, tile)| access.flags & FIXED != 0 && changes(tile)) {
        return Err(Refused::Mixed);
    }
    let mut looks = [const { MaybeUninit::<Look>::uninit() }; MOST_IN_NEST];
    let (mut used, mut apart, mut unread) = (0, Apart::new(), false);
    for (access, tile) in all().filter(|(access, _)| access.flags & FIXED == 0) {
        let written = |(a, other): (&NestAccess, &Tile)| a.flags & WRITE != 0 && other == tile;
        if access.flags & WRITE == 0 && all().any(written) {
            continue;
        }
        match (tile.look(access, t, p, &mut apart), looks.get_mut(used)) {
            (Ok(look), Some(place)) => {
                place.write(look);
                used += 1;
            }
            (Err(Refused::Unread), _) => unread = true,
            _ => return Err(Refused::Mixed),
        }
    }
    if unread {
        return Err(Refused::Unread);
    }
    // SAFETY: the first `used` entries were written; the layouts are the same.
    let looks = unsafe { core::slice::from_raw_parts(looks.as_ptr().cast::<Look>(), used) };
    let counted = apart.count() == 0 && count(t, looks);
    // Before samples begin, which forget the windows of their elements.
    for look in looks.iter().filter(|look| !look.known) {
        t.put_window(look.group.place(), look.group.number, look.window);
    }
    if !counted && !samples::count(t, p, looks, &apart) {
        return Ok(Answer::Due);
    }
    for (access, tile) in all().filter(|(access, _)| access.flags & WRITE != 0) {
        tile.write(access.site, t, p);
    }
    Ok(Answer::Settled)
}
