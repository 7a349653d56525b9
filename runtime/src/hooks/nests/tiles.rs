//! Nests that are described as a whole: blocks of a matrix, each of whose rows is read or written again and again.
//!
//! What such an access touches is brought into one form, a *tile*: rows of one length at a fixed distance, all of them
//! so many times. Each row is looked at once, whatever the order of the nest's loops; what was found is kept for the
//! running nest ([`threadtalk_abi::window`]), so that the next tile of a column of tiles finds it. As with other
//! windows, what the nest writes must be own already, or without a writer, so that none of it is an event.

use super::group::{Group, Kind};
use super::rows::{reach, state};
use super::samples::Waiting;
use super::{Answer, Look, MOST_SKIPPED, count};
use crate::hooks::loops;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::mixtures::Parts;
use core::mem::MaybeUninit;
use threadtalk_abi::loops::{Access, MOST_ACCESSES, NestAccess, WRITE};
use threadtalk_abi::{ADDRESS_BITS, GRANULE};

/// Rows are told apart so that a look at each pays: all accesses are together at least so many times as long as the
/// tiles are.
const LEAST_TIMES: u64 = 2;
/// Rows that are shorter are filled in one go.
const SHORT: u64 = 32;

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
    if p.is_paused() || accesses.len() > MOST_ACCESSES {
        return Answer::Mixed;
    }
    let (mut reach, mut accessed) = (0u64, 0u64);
    let mut tiles = [const { MaybeUninit::<Tile>::uninit() }; MOST_ACCESSES];
    for (access, place) in accesses.iter().zip(&mut tiles) {
        let Some(tile) = Tile::of(access) else { return Answer::Mixed };
        let bytes = tile.width * tile.count;
        (reach, accessed) = (reach + bytes, accessed.saturating_add(bytes.saturating_mul(tile.times)));
        place.write(tile);
    }
    // SAFETY: as many were written as there are accesses; the layouts are the same.
    let tiles = unsafe { core::slice::from_raw_parts(tiles.as_ptr().cast::<Tile>(), accesses.len()) };
    if accessed / LEAST_TIMES < reach {
        return Answer::Mixed;
    }
    let mut looks = [const { MaybeUninit::<Look>::uninit() }; MOST_ACCESSES];
    let mut used = 0;
    for (access, tile) in accesses.iter().zip(tiles) {
        let written = |(a, other): (&NestAccess, &Tile)| a.flags & WRITE != 0 && other == tile;
        if access.flags & WRITE == 0 && accesses.iter().zip(tiles).any(written) {
            continue;
        }
        let Some(look) = tile.look(access, t, p) else { return Answer::Mixed };
        if let Some(place) = looks.get_mut(used) {
            place.write(look);
            used += 1;
        }
    }
    // SAFETY: the first `used` entries were written; the layouts are the same.
    let looks = unsafe { core::slice::from_raw_parts(looks.as_ptr().cast::<Look>(), used) };
    if !count(t, looks) {
        return Answer::Due;
    }
    for look in looks.iter().filter(|look| !look.known) {
        t.put_window(look.group.place(), look.group.number, look.window);
    }
    for (access, tile) in accesses.iter().zip(tiles).filter(|(a, _)| a.flags & WRITE != 0) {
        tile.write(access.site, t, p);
    }
    Answer::Settled
}

/// What an access of a nest touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tile {
    /// First byte.
    from: u64,
    /// Bytes of a row.
    width: u64,
    /// Bytes from one row to the next, more than one has.
    stride: u64,
    /// Rows.
    count: u64,
    /// How often each granule is accessed.
    times: u64,
}

impl Tile {
    /// `None` if it has another form, or leaves the address space.
    fn of(access: &NestAccess) -> Option<Tile> {
        let mut tile = Tile { from: access.address, width: u64::from(access.bytes), stride: 0, count: 1, times: 1 };
        let mut steps = access.steps;
        // Short strides first.
        for (one, other) in [(0, 1), (1, 2), (0, 1)] {
            if steps[one].stride > steps[other].stride {
                steps.swap(one, other);
            }
        }
        for step in steps.iter().filter(|step| step.count > 1) {
            let stride = u64::try_from(step.stride).ok()?;
            if stride == 0 {
                tile.times = tile.times.checked_mul(step.count)?;
            } else if tile.count == 1 && stride == tile.width {
                tile.width = tile.width.checked_mul(step.count)?;
            } else if tile.count == 1 && stride > tile.width {
                (tile.stride, tile.count) = (stride, step.count);
            } else if tile.count > 1 && Some(stride) == tile.stride.checked_mul(tile.count) {
                tile.count = tile.count.checked_mul(step.count)?;
            } else {
                return None;
            }
        }
        let reach = tile.stride.checked_mul(tile.count - 1)?.checked_add(tile.width)?;
        let bytes = u64::from(access.bytes);
        let whole = [tile.from, bytes, tile.width, tile.stride].iter().all(|n| n.is_multiple_of(GRANULE));
        let inside = tile.from.checked_add(reach)? < 1 << ADDRESS_BITS;
        (whole && inside && reach > 0 && tile.width <= u64::from(u32::MAX)).then_some(tile)
    }

    fn rows(&self) -> impl Iterator<Item = u64> {
        let Tile { from, stride, count, .. } = *self;
        (0..count).map(move |i| from + stride * i)
    }

    /// What the accesses find, if all of it is known.
    fn look(&self, access: &NestAccess, t: &mut Thread, p: &Process) -> Option<Look> {
        let group = Group {
            number: u64::from(access.window).checked_sub(1)?,
            from: self.from,
            to: self.from + self.width,
            strided: Some((self.stride as i64, self.count)),
            step: self.stride,
            writes: access.flags & WRITE != 0,
            site: Some(access.site),
            granules: 0,
            key: 0,
        };
        let same = |w: &threadtalk_abi::window::Window| {
            (w.first, w.end, w.stride, w.iterations, w.cells)
                == (group.from, group.to, self.stride as i64, self.count, self.times)
        };
        if let Some(window) = t.window(group.place(), group.number).filter(same) {
            return Some(Look {
                granules: window.granules,
                window,
                known: true,
                range: None,
                waiting: Waiting::new(),
                group,
            });
        }
        let mut last: Option<(u32, Kind)> = None;
        let mut parts = Parts::new();
        for row in self.rows() {
            let (mut at, end) = (row, row + self.width);
            while at < end {
                let state = state(p, at)?;
                let kind = match last {
                    Some((of, kind)) if of == state => kind,
                    _ => group.kind(t, state)?,
                };
                last = Some((state, kind));
                let to = reach(t, p, (at, end), kind)?;
                if !kind.counter.is_null() {
                    parts.add(kind.counter, (to - at) / GRANULE * self.times, 0)?;
                }
                at = to;
            }
        }
        let counter = t.mixed_counter(&parts)?;
        let mut window = group.window(t, (group.from, group.to), counter);
        window.granules = parts.granules();
        window.cells = self.times;
        Some(Look { granules: window.granules, window, known: false, range: None, waiting: Waiting::new(), group })
    }

    /// Stores the ids that writes leave.
    fn write(&self, site: u32, t: &mut Thread, p: &Process) {
        let (bytes, flags) = (self.width as u32, WRITE);
        let short = Access { address: self.from, stride: self.stride as i64, bytes, flags, site, window: 0 };
        if self.count == 1 || self.width > SHORT {
            for row in self.rows() {
                loops::write(t, p, &Access { address: row, stride: self.width as i64, ..short }, 1);
            }
        } else {
            loops::write(t, p, &short, self.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::HashMap;
    use threadtalk_abi::loops::Step;

    const START: u64 = 0x7000_0000;

    fn access(bytes: u32, steps: [(i64, u64); 3]) -> NestAccess {
        let steps = steps.map(|(stride, count)| Step { stride, count });
        NestAccess { address: START, bytes, flags: 0, site: 1, window: 1, steps }
    }

    /// How often each granule is accessed, iteration by iteration.
    fn accessed(a: &NestAccess) -> HashMap<u64, u64> {
        let [inner, middle, outer] = a.steps;
        let mut times = HashMap::new();
        for i in 0..outer.count as i64 {
            for j in 0..middle.count as i64 {
                for k in 0..inner.count as i64 {
                    let at = START as i64 + i * outer.stride + j * middle.stride + k * inner.stride;
                    for granule in (at as u64..at as u64 + u64::from(a.bytes)).step_by(GRANULE as usize) {
                        *times.entry(granule).or_default() += 1;
                    }
                }
            }
        }
        times
    }

    #[test]
    fn a_tile_is_what_the_iterations_access() {
        let mut rng = Rng::with_seed(5);
        let mut tiles = 0;
        for _ in 0..20_000 {
            let mut step = || (4 * [0, 0, 1, 2, 4, 8, 16, 32, 64, -1, 3][rng.usize(0..11)], rng.u64(1..6));
            let steps = [step(), step(), step()];
            let a = access([4, 8, 16][rng.usize(0..3)], steps);
            let Some(tile) = Tile::of(&a) else { continue };
            tiles += 1;
            let mut rows = HashMap::new();
            for row in tile.rows() {
                for granule in (row..row + tile.width).step_by(GRANULE as usize) {
                    assert!(rows.insert(granule, tile.times).is_none(), "{a:?} {tile:?}: rows meet");
                }
            }
            assert_eq!(rows, accessed(&a), "{a:?} {tile:?}");
        }
        assert!(tiles > 2_000, "{tiles}");
    }

    #[test]
    fn blocks_of_a_matrix_are_tiles() {
        // a[i][j] of 16 x 16 elements, 4 at a time, for each k; rows side by side, and 1 536 elements apart.
        let tile = |steps| Tile::of(&access(32, steps)).map(|t| (t.width, t.stride, t.count, t.times));
        assert_eq!(tile([(32, 4), (128, 16), (0, 16)]), Some((2048, 0, 1, 16)));
        assert_eq!(tile([(32, 4), (12288, 16), (0, 16)]), Some((128, 12288, 16, 16)));
        // One element for each k and i.
        assert_eq!(Tile::of(&access(8, [(12288, 16), (8, 16), (0, 1)])).map(|t| (t.width, t.count)), Some((128, 16)));
    }

    #[test]
    fn what_wraps_around_or_is_no_row_is_no_tile() {
        for steps in [[(-4, 2), (0, 1), (0, 1)], [(i64::MAX, 3), (0, 1), (0, 1)], [(4, 3), (8, 2), (0, 1)]] {
            assert_eq!(Tile::of(&access(4, steps)), None, "{steps:?}");
        }
        assert_eq!(Tile::of(&access(2, [(2, 4), (0, 1), (0, 1)])), None, "two events for each granule");
    }
}
