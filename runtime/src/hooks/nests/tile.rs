//! What an access of a nest touches, and what it finds there.

use super::Look;
use super::any_order::AnyOrder;
use super::group::{Group, Kind};
use super::order::Order;
use super::rows::{alike, each_watched, state, unmapped};
use super::turns::Apart;
use crate::hooks::loops;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::mixtures::Parts;
use crate::wide::Wide;
use threadtalk_abi::loops::{Access, NestAccess, WRITE};
use threadtalk_abi::window::Window;
use threadtalk_abi::{ADDRESS_BITS, GRANULE};

/// Rows that are shorter are filled in one go.
const SHORT: u64 = 32;

/// Why a tile or a column cannot be counted as a whole.
pub enum Refused {
    /// Some elements are not known before they are read the first time.
    Unread(FirstReads),
    /// Different lines may read the same of them: which is first is a matter of the nest's order.
    Ordered,
    /// Anything else.
    Mixed,
}

/// How a nest reads what is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FirstReads {
    /// Once, and not row by row.
    Once,
    /// All of it in each iteration of the outermost loop.
    Again,
    /// Again and again in one iteration of the outermost loop, and others in the next one.
    Within,
}

impl FirstReads {
    fn by(access: &NestAccess, times: u64) -> Self {
        match outermost(access).and_then(|step| access.steps.get(step)) {
            _ if times == 1 => Self::Once,
            Some(last) if last.stride != 0 => Self::Within,
            _ => Self::Again,
        }
    }
}

/// What an access of a nest touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// First byte.
    pub from: u64,
    /// Bytes of a row.
    pub width: u64,
    /// Bytes from one row to the next, more than one has.
    pub stride: u64,
    /// Rows.
    pub count: u64,
    /// How often each granule is accessed.
    pub times: u64,
}

impl Tile {
    /// `None` if it has another form, or leaves the address space.
    pub fn of(access: &NestAccess) -> Option<Tile> {
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

    /// Whether it may have memory in common with another one: what lies between rows is not looked at.
    pub fn may_meet(&self, other: &Tile) -> bool {
        let end = |tile: &Tile| tile.from + tile.stride * (tile.count - 1) + tile.width;
        self.from < end(other) && other.from < end(self)
    }

    /// Whether it may have elements in common with another one: rows that lie between each other's have none.
    pub fn may_share(&self, other: &Tile) -> bool {
        let stride = self.stride.max(other.stride);
        let in_step = [self, other].iter().all(|tile| tile.stride == stride || tile.count == 1);
        // From where a row of this one begins, or would begin, to where the other one's next row does.
        let distance = self.from.abs_diff(other.from).checked_rem(stride);
        let behind = distance.map(|d| if self.from <= other.from { d } else { (stride - d) % stride });
        let between = behind.is_some_and(|behind| behind >= self.width && behind + other.width <= stride);
        self.may_meet(other) && !(in_step && between)
    }

    /// Where its rows begin.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        let Tile { from, stride, count, .. } = *self;
        (0..count).map(move |i| from + stride * i)
    }

    /// What the accesses find. What is not known is left to be read in any order, if that is given; and so are rows of
    /// elements that are read once, at their moment.
    pub fn look<'a>(
        &self,
        access: &'a NestAccess,
        (t, p): (&mut Thread, &Process),
        apart: &mut Apart,
        mut any_order: Option<&mut AnyOrder>,
    ) -> Result<Look<'a>, Refused> {
        let group = Group {
            number: u64::from(access.window).checked_sub(1).ok_or(Refused::Mixed)?,
            from: self.from,
            to: self.from + self.width,
            strided: Some((self.stride as i64, self.count)),
            step: self.stride,
            writes: (access.flags & WRITE != 0).into(),
            site: Some(access.site),
            granules: self.width / GRANULE * self.count * self.times,
            key: 0,
            times: Some(1),
        };
        let (nest, before) = (Some(access), apart.count());
        let same = |w: &Window| {
            (w.first, w.end, w.stride, w.iterations, w.cells)
                == (group.from, group.to, self.stride as i64, self.count, self.times)
        };
        if let Some(window) = t.window(group.place(), group.number).filter(same) {
            return Ok(Look { granules: window.granules, window, known: Wide::Yes, nest, range: None, group });
        }
        let order = Order::of_nest(access);
        let mut found = Found { parts: Parts::new(), last: None, new: false };
        for row in self.rows() {
            let end = row + self.width;
            let any_order = any_order.as_deref_mut();
            let reached = found.look_at_row(self, (&group, &order), (row, end), (t, p), (apart, any_order))?;
            if reached < end && self.times == 1 && order.reads_at_once(self.width) {
                let at = order.next(reached, None).ok_or(Refused::Mixed)?;
                apart.add_row(reached, (end - reached) as u32, at, access.site).ok_or(Refused::Mixed)?;
            } else if reached < end {
                return Err(Refused::Unread(FirstReads::by(access, self.times)));
            }
        }
        // Nothing of what is new begins or ends at a moment of its own.
        let all = if found.new { found.parts.granules() } else { group.granules };
        let counter = t.tile_counter(&found.parts, all).ok_or(Refused::Mixed)?;
        let mut window = group.window(t, (group.from, group.to), counter);
        window.granules = found.parts.granules();
        window.cells = self.times;
        let (known, range) = ((found.new || apart.count() > before).into(), Some(found.parts.range()));
        Ok(Look { granules: window.granules, window, known, nest, range, group })
    }

    /// Stores the ids that writes leave.
    pub fn write(&self, site: u32, t: &mut Thread, p: &Process) {
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

/// What was found in a tile so far.
struct Found {
    parts: Parts,
    /// The kind of cells that was found last, and the state that it was found for.
    last: Option<(u32, Kind)>,
    /// Some of it is new to the thread, and is read in any order.
    new: bool,
}

impl Found {
    /// Looks at a row of a tile, up to elements that are to be read first. Returns how far.
    fn look_at_row(
        &mut self,
        tile: &Tile,
        (group, order): (&Group, &Order),
        (row, end): (u64, u64),
        (t, p): (&mut Thread, &Process),
        (apart, mut any_order): (&mut Apart, Option<&mut AnyOrder>),
    ) -> Result<u64, Refused> {
        let mut at = row;
        while at < end {
            let Some(state) = state(p, at) else {
                let to = unmapped(p, (at, end));
                if to == at {
                    return Err(Refused::Mixed);
                }
                at = to;
                continue;
            };
            let kind = match self.last {
                Some((of, kind)) if of == state => kind,
                _ => match group.kind(t, state) {
                    Some(kind) => kind,
                    None if group.writes.is_so() => return Err(Refused::Mixed),
                    None => {
                        let new = any_order.as_deref_mut().zip(group.site);
                        let new = new.and_then(|(rows, site)| rows.add(t, p, (at, end), state, site));
                        let Some((to, counter)) = new else { return Ok(at) };
                        let again = (to - at) / GRANULE * (tile.times - 1);
                        if again > 0 {
                            self.parts.add(counter, again, (0, 0), 0).ok_or(Refused::Mixed)?;
                        }
                        (self.new, at) = (true, to);
                        continue;
                    }
                },
            };
            self.last = Some((state, kind));
            let to = alike(p, (at, end), kind);
            if to == at {
                return Err(Refused::Mixed);
            }
            if !kind.counter.is_null() {
                let range = order.range_of(row, end - row);
                let slice = |address: u64| (address - tile.from).checked_div(order.slices().0).unwrap_or(0);
                let slices = bits(slice(at), slice(to - 1));
                let counted = self.parts.add(kind.counter, (to - at) / GRANULE * tile.times, range, slices);
                let awaited = |address| apart.add_awaited(address, order.next(address, None)?, group.site?);
                counted.and_then(|()| each_watched(t, (at, to), kind, awaited)).ok_or(Refused::Mixed)?;
            }
            at = to;
        }
        Ok(end)
    }
}

/// These numbers as bits, from the first one to the last; but for those above 63.
fn bits(first: u64, last: u64) -> u64 {
    let from = |number: u64| if number < 64 { u64::MAX << number } else { 0 };
    from(first) & !from(last + 1)
}

/// The step of an access that is the outermost loop of its nest, if that has more than one iteration.
pub fn outermost(access: &NestAccess) -> Option<usize> {
    access.steps.iter().rposition(|step| step.count > 1)
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
    fn tiles_that_share_an_element_are_told() {
        let mut rng = Rng::with_seed(6);
        let (mut shared, mut told) = (0, 0);
        for _ in 0..20_000 {
            let stride = 4 * rng.u64(1..20);
            let mut tile = |stride: u64| {
                let (width, count) = (4 * rng.u64(1..=stride / 4), rng.u64(1..6));
                let stride = if count == 1 { 0 } else { stride };
                Tile { from: START + 4 * rng.u64(0..60), width, stride, count, times: 1 }
            };
            let (one, other) =
                (tile(stride), tile(if stride.is_multiple_of(3) { stride } else { 4 * (stride % 5 + 1) }));
            let is_in_both = |row: u64| other.rows().any(|o| row < o + other.width && o < row + one.width);
            let share = one.rows().any(is_in_both);
            assert!(one.may_share(&other) || !share, "{one:?} {other:?}");
            assert_eq!(one.may_share(&other), other.may_share(&one), "{one:?} {other:?}");
            shared += u32::from(share);
            told += u32::from(one.may_share(&other));
        }
        assert!(shared > 5_000 && told < shared + 1_000, "{shared} {told}");
        // Two blocks of one matrix, side by side.
        let block = |from| Tile { from, width: 128, stride: 1024, count: 16, times: 1 };
        assert!(!block(START).may_share(&block(START + 128)) && block(START).may_meet(&block(START + 128)));
        assert!(block(START).may_share(&block(START + 2048 + 124)));
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
