//! Nests that are described as a whole: blocks of a matrix, each of whose rows is read or written again and again.
//!
//! What such an access touches is brought into one form, a *tile* ([`super::tile`]): rows of one length at a fixed
//! distance, all of them so many times. Each row is looked at once, whatever the order of the nest's loops; what was
//! found is kept for the running nest ([`threadtalk_abi::window`]), so that the next tile of a column of tiles finds
//! it. As with other windows, what the nest writes must be own already, or without a writer, so that none of it is an
//! event.
//!
//! Samples of the reuse distance begin and end in nests as in loops ([`samples`]), and what a nest reads once may be
//! new to its thread, row by row. What it reads again and again may be, too, and what it reads in another order: if no
//! distance begins or ends in the nest, that is read in any order ([`AnyOrder`]); if one does, the iterations of its
//! outermost loop are counted one after the other until all is known, and theirs in the same way. A block of 32 x 32
//! elements whose first reads ran with hooks took 180 microseconds, ten times its own time.

use super::any_order::AnyOrder;
use super::tile::{FirstReads, Refused, Tile, outermost};
use super::turns::Apart;
use super::{Answer, Look, MOST_SKIPPED, count};
use super::{rows, samples};
use crate::hooks::{loops, range};
use crate::process::Process;
use crate::thread::Thread;
use core::mem::MaybeUninit;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, FIXED, MOST_IN_NEST, NestAccess, STEPS, Step, WRITE};
use threadtalk_abi::window::SHORTEST_ASKED;
use threadtalk_profile::layout::CrdMode;

/// Rows are told apart so that a look at each pays: all accesses are together at least so many times as long as the
/// tiles are. Or its rows make up [`LONG`] ones, and are too short to be asked about, or go through what others wrote,
/// each element once: such a row takes .8 us to settle by itself (rows of own values next to nothing).
const LEAST_TIMES: u64 = 2;
/// Bytes of such a row, in the mean.
const LONG: u64 = 256;

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
    match at_once(t, p, accesses, LEAST_TIMES) {
        Ok(answer) => answer,
        Err(Refused::Unread(unread)) => {
            let mut room = [const { MaybeUninit::uninit() }; MOST_IN_NEST];
            by_rounds(t, p, copy(accesses, &mut room), unread)
        }
        Err(Refused::Ordered) => Answer::Due,
        Err(Refused::Mixed) => Answer::Mixed,
    }
}

/// A copy of a nest's accesses.
fn copy<'r>(accesses: &[NestAccess], room: &'r mut [MaybeUninit<NestAccess>; MOST_IN_NEST]) -> &'r mut [NestAccess] {
    let mut used = 0;
    for (access, place) in accesses.iter().zip(room.iter_mut()) {
        place.write(*access);
        used += 1;
    }
    // SAFETY: the first `used` entries were written; the layouts are the same.
    unsafe { core::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), used) }
}

/// Iterations of the outermost loop, if all accesses have as many.
fn rounds(accesses: &[NestAccess]) -> Option<u64> {
    let count = |access: &NestAccess| Some(access.steps.get(outermost(access)?)?.count);
    let mut all = accesses.iter().filter(|access| access.flags & FIXED == 0).map(count);
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

/// Settles a nest whose reads are not known before they are read: by iterations of its outermost loop, as many at a
/// time as can be, each of which may have to be settled in the same way by itself. What the nest writes is own, or has
/// no writer. The accesses are afterwards what they were.
///
/// A part that is refused costs as much as one that is settled, so they are halved and doubled; where the first
/// iteration reads all that the nest reads, what follows is tried as a whole.
fn by_rounds(t: &mut Thread, p: &Process, accesses: &mut [NestAccess], unread: FirstReads) -> Answer {
    let Some(rounds) = rounds(accesses) else { return Answer::Mixed };
    // The outermost loop of each; those at fixed addresses have none.
    let mut loops = [0; MOST_IN_NEST];
    for (access, number) in accesses.iter().zip(&mut loops) {
        *number = if access.flags & FIXED == 0 { outermost(access).unwrap_or(STEPS) } else { STEPS };
    }
    let change = |accesses: &mut [NestAccess], by: i64, iterations: u64| {
        for (access, &number) in accesses.iter_mut().zip(&loops) {
            if let Some(Step { stride, count }) = access.steps.get_mut(number) {
                access.address = access.address.wrapping_add_signed(stride.wrapping_mul(by));
                *count = iterations;
            }
        }
    };
    // All of them at once were refused.
    let is_again = unread == FirstReads::Again;
    let (mut first, mut many) = (0, if is_again { 1 } else { rounds / 2 });
    while first < rounds {
        many = many.clamp(1, rounds - first);
        change(accesses, 0, many);
        let settled = match at_once(t, p, accesses, 0) {
            Ok(answer) => answer,
            Err(Refused::Unread(unread)) if many == 1 => by_rounds(t, p, accesses, unread),
            Err(_) => Answer::Mixed,
        };
        let is_settled = matches!(settled, Answer::Settled);
        if !is_settled && many > 1 {
            many /= 2;
            continue;
        }
        if !is_settled {
            one_by_one(t, p, accesses);
        }
        change(accesses, many as i64, many);
        first += many;
        many = if is_again { rounds } else { 2 * many };
    }
    change(accesses, -(first as i64), rounds);
    Answer::Settled
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

/// Settles a nest as a whole, its first reads in any order if that is enough, else in its own.
fn at_once(t: &mut Thread, p: &Process, accesses: &[NestAccess], times: u64) -> Result<Answer, Refused> {
    let mut any_order = AnyOrder::new();
    match whole(t, p, accesses, times, Some(&mut any_order)) {
        Ok(Answer::Due) if !any_order.is_empty() => whole(t, p, accesses, times, None),
        answer => answer,
    }
}

/// Settles a nest at once if all that it reads again is known, or may be read in any order (`Due`: what could be may
/// not). Nothing is counted or written if it does not. All accesses together are at least `times` as many as what they
/// touch.
#[inline(never)]
fn whole(
    t: &mut Thread,
    p: &Process,
    accesses: &[NestAccess],
    times: u64,
    mut any_order: Option<&mut AnyOrder>,
) -> Result<Answer, Refused> {
    let (mut reach, mut accessed, mut rows) = (0u64, 0u64, 0u64);
    let mut tiles = [const { MaybeUninit::<Tile>::uninit() }; MOST_IN_NEST];
    for (access, place) in accesses.iter().zip(&mut tiles) {
        let tile = Tile::of(access).ok_or(Refused::Mixed)?;
        let bytes = tile.width * tile.count;
        (reach, accessed) = (reach + bytes, accessed.saturating_add(bytes.saturating_mul(tile.times)));
        rows += tile.count;
        place.write(tile);
    }
    // SAFETY: as many were written as there are accesses; the layouts are the same.
    let tiles = unsafe { core::slice::from_raw_parts(tiles.as_ptr().cast::<Tile>(), accesses.len()) };
    let all = || accesses.iter().zip(tiles);
    let is_short = |access: &NestAccess| access.steps[0].count < SHORTEST_ASKED;
    let pays = accessed >= reach.saturating_mul(times)
        || reach >= rows * LONG
            && (accesses.iter().all(is_short) || all().any(|(a, tile)| tile.times == 1 && reads_others(t, p, a)));
    if !pays {
        return Err(Refused::Mixed);
    }
    // An element keeps the line that wrote it last, and what comes last is not in the descriptions.
    let writes = || all().filter(|(access, _)| access.flags & WRITE != 0);
    let in_order = |one: (&NestAccess, &Tile), other: (&NestAccess, &Tile)| {
        one.0.site == other.0.site || !one.1.may_share(other.1)
    };
    if !writes().enumerate().all(|(number, one)| writes().take(number).all(|other| in_order(one, other))) {
        return Err(Refused::Mixed);
    }
    let changes = |fixed: &Tile| all().any(|(access, tile)| access.flags & WRITE != 0 && tile.may_meet(fixed));
    if all().any(|(access, tile)| access.flags & FIXED != 0 && changes(tile)) {
        return Err(Refused::Mixed);
    }
    let mut looks = [const { MaybeUninit::<Look>::uninit() }; MOST_IN_NEST];
    let (mut used, mut apart, mut unread) = (0, Apart::new(), None);
    // Accesses that find something new, a bit for each.
    let mut new = 0u64;
    for ((access, tile), number) in all().zip(0..).filter(|((access, _), _)| access.flags & FIXED == 0) {
        let written = |(a, other): (&NestAccess, &Tile)| a.flags & WRITE != 0 && other == tile;
        if access.flags & WRITE == 0 && all().any(written) {
            continue;
        }
        apart.look = used as u32;
        let before = (apart.count(), any_order.as_deref().map(AnyOrder::granules));
        match (tile.look(access, (t, p), &mut apart, any_order.as_deref_mut()), looks.get_mut(used)) {
            (Ok(look), Some(place)) => {
                place.write(look);
                used += 1;
            }
            (Err(Refused::Unread(how)), _) => {
                unread = unread.max(Some(how));
                new |= 1 << number;
            }
            _ => return Err(Refused::Mixed),
        }
        let is_new = before != (apart.count(), any_order.as_deref().map(AnyOrder::granules));
        new |= u64::from(is_new) << number;
    }
    if (unread.is_some() || apart.count() > 0) && is_ordered(accesses, tiles, new) {
        return Err(Refused::Ordered);
    }
    if let Some(unread) = unread {
        return Err(Refused::Unread(unread));
    }
    // SAFETY: the first `used` entries were written; the layouts are the same.
    let looks = unsafe { core::slice::from_raw_parts(looks.as_ptr().cast::<Look>(), used) };
    let any_order = any_order.filter(|rows| !rows.is_empty());
    let is_free = apart.count() == 0 && any_order.as_ref().is_none_or(|rows| !rows.have_lines_in_common());
    let counted = is_free && count(t, looks);
    if any_order.is_some() && !counted {
        return Ok(Answer::Due);
    }
    // Before samples begin, which forget the windows of their elements.
    for look in looks.iter().filter(|look| !look.known.is_so()) {
        t.put_window(look.group.place(), look.group.number, look.window);
    }
    if !counted && !samples::count(t, p, looks, &apart) {
        return Ok(Answer::Due);
    }
    if let Some(rows) = any_order {
        rows.read(t, p);
    }
    for (access, tile) in writes() {
        tile.write(access.site, t, p);
    }
    Ok(Answer::Settled)
}

/// Whether an access begins with a value of another thread.
fn reads_others(t: &Thread, p: &Process, access: &NestAccess) -> bool {
    access.flags & (WRITE | FIXED) == 0
        && rows::state(p, access.address).is_some_and(|state| state != NONE && !t.header.is_own(state))
}

/// Whether different lines may find the same new elements. Which of them is first is a matter of iterations, and rows
/// are read at once, each when its first element is.
fn is_ordered(accesses: &[NestAccess], tiles: &[Tile], new: u64) -> bool {
    let all = || accesses.iter().zip(tiles).zip(0..).filter(|(_, number)| new >> number & 1 == 1);
    all().any(|((one, tile), first)| {
        let mut behind = all().filter(|(_, second)| *second > first);
        behind.any(|((other, other_tile), _)| one.site != other.site && tile.may_share(other_tile))
    })
}
