//! Accesses of a loop that move by the same stride at fixed distances.

use super::turns::Apart;
use super::{Look, rows, strided};
use crate::hooks::loops::granules_each;
use crate::hooks::scan::{all_agree, equal_prefix, prefix};
use crate::process::Process;
use crate::thread::Thread;
use crate::wide::Wide;
use core::ptr;
use threadtalk_abi::cell::{NONE, SHARED, TRACKED};
use threadtalk_abi::loops::{Access, STRIDED, WRITE};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::window::{ASTRIDE, LINE_SHIFT, PAGE_SHIFT, Window, key};
use threadtalk_abi::{ADDRESS_BITS, GRANULE};

/// A group.
pub struct Group {
    /// Its number in the function.
    pub number: u64,
    /// First byte: over all iterations, or of the first one if it is strided.
    pub from: u64,
    /// End of the bytes.
    pub to: u64,
    /// Strided accesses: stride and iterations.
    pub strided: Option<(i64, u64)>,
    /// Bytes from one iteration to the next.
    pub step: u64,
    /// Some of them write.
    pub writes: Wide,
    /// The site of its reads, if there is one.
    pub site: Option<u32>,
    /// Granules read in all iterations.
    pub granules: u64,
    /// How often each granule is read, one time right after the other. `None`: some more often than others.
    pub times: Option<u64>,
    /// See [`threadtalk_abi::window::key`].
    pub key: u64,
}

/// What cells of one kind have in common.
#[derive(Clone, Copy)]
pub struct Kind {
    /// They agree with this...
    pub value: u32,
    /// ...in these bits.
    pub mask: u32,
    /// Cells that nobody has written are of it, too.
    pub nobodys: Wide,
    /// Where reads of them count; null: nowhere, they are no events.
    pub counter: *mut EventCounter,
}

/// Times that own cells and such as nobody has written may take turns in what is compared at once.
const MOST_TURNS: usize = 64;
/// Cells that are compared at once before a row.
const BACK: usize = 64;

impl Kind {
    /// The thread's own, and what nobody has written, as are the bytes that an allocator keeps between two rows.
    pub fn own(t: &Thread) -> Kind {
        Kind { value: t.header.own_base, mask: !(t.header.own_span - 1), nobodys: Wide::Yes, counter: ptr::null_mut() }
    }

    /// Those that are like one in `state`, of which reads count there.
    pub fn of(state: u32, counter: *mut EventCounter) -> Kind {
        let mask = Kind::mask(state);
        Kind { value: state & mask, mask, nobodys: Wide::No, counter }
    }

    /// In which bits cells agree that are like one in `state`: in all but another thread's mark.
    pub fn mask(state: u32) -> u32 {
        if state & SHARED != 0 { !TRACKED } else { u32::MAX }
    }

    /// Whether a cell is of the kind. Elements that other threads watch are like those beside them.
    #[inline]
    pub fn holds(&self, cell: u32) -> bool {
        (cell ^ self.value) & self.mask == 0 || self.nobodys.is_so() && cell == NONE
    }

    /// How many cells from the start are of the kind, if they do not take too many turns.
    #[inline]
    pub fn prefix(&self, cells: &[u32]) -> usize {
        let like = prefix(cells, self.value, self.mask, 0);
        if self.nobodys.is_so() && like < cells.len() { self.prefix_in_turns(cells, like) } else { like }
    }

    /// The same if the first `like` are.
    #[inline(never)]
    fn prefix_in_turns(&self, cells: &[u32], mut like: usize) -> usize {
        for _ in 0..MOST_TURNS {
            let Some(rest @ [NONE, ..]) = cells.get(like..) else { break };
            let gap = equal_prefix(rest, NONE);
            like += gap + prefix(rest.get(gap..).unwrap_or(&[]), self.value, self.mask, 0);
        }
        like
    }

    /// How many cells at the end are of the kind.
    pub fn suffix(&self, cells: &[u32]) -> usize {
        let of_kind = |part: &[u32]| match all_agree(part, self.value, self.mask) {
            true => part.len(),
            false => part.iter().rev().take_while(|cell| self.holds(**cell)).count(),
        };
        let mut like = 0;
        for part in cells.rchunks(BACK) {
            let here = of_kind(part);
            like += here;
            if here < part.len() {
                break;
            }
        }
        like
    }

    /// How many elements from this one on are before the first that the thread watches, `most` at most. Only events end
    /// a watch.
    pub fn unwatched(&self, t: &mut Thread, element: u64, most: usize) -> usize {
        if self.counter.is_null() {
            return most;
        }
        // SAFETY: the watches belong to this thread's block.
        unsafe { (*t.watches).unwatched(element, most as u64) as usize }
    }
}

impl Group {
    /// `None` if it leaves the address space.
    pub fn of(accesses: &[Access], iterations: u64) -> Option<Group> {
        let [first, ..] = accesses else { return None };
        let strided = first.flags & STRIDED != 0;
        let from = accesses.iter().map(|a| a.address & !(GRANULE - 1)).min()?;
        let ends = accesses.iter().map(|a| a.address.saturating_add(u64::from(a.bytes)));
        let end = ends.max()?.checked_next_multiple_of(GRANULE)?;
        let reach = first.stride.checked_mul(i64::try_from(iterations - 1).ok()?)?;
        let bits = |a: &Access| a.address | u64::from(a.bytes) | a.stride as u64;
        let parts = !accesses.iter().fold(0, |all, access| all | bits(access)).is_multiple_of(GRANULE);
        // Columns of parts are those of their granules, if each iteration begins at the same place of one.
        if strided && (accesses.len() > 1 || parts && first.stride % GRANULE as i64 != 0) {
            return None;
        }
        let to = if strided { end } else { end.checked_add_signed(reach)?.checked_next_multiple_of(GRANULE)? };
        let furthest = end.checked_add_signed(reach)?.max(end);
        from.checked_add_signed(reach)?;
        if furthest >= 1 << ADDRESS_BITS || from >= to {
            return None;
        }
        let writes = accesses.iter().any(|a| a.flags & WRITE != 0);
        let reads = || accesses.iter().filter(|a| a.flags & WRITE == 0);
        let site = reads().next().map(|a| a.site).filter(|site| reads().all(|a| a.site == *site));
        let in_one = match parts {
            false => reads().map(|a| u64::from(a.bytes) / GRANULE).sum::<u64>(),
            true => reads().try_fold(0, |sum, access| Some(sum + granules_each(access)?))?,
        };
        let astride = strided && u64::from(first.bytes) >= GRANULE && !first.address.is_multiple_of(GRANULE);
        Some(Group {
            number: u64::from(first.window) - 1,
            from,
            to,
            strided: strided.then_some((first.stride, iterations)),
            step: first.stride.unsigned_abs(),
            writes: writes.into(),
            key: key(first.site, writes) | if astride { ASTRIDE } else { 0 },
            site,
            times: if strided || !parts { Some(1) } else { times(accesses, iterations) },
            granules: in_one.checked_mul(iterations)?,
        })
    }

    /// What finds its entry in the table.
    pub fn place(&self) -> (u64, u32) {
        (self.from, if self.strided.is_some() { LINE_SHIFT } else { PAGE_SHIFT })
    }

    /// What the group is, if it is of one kind.
    pub fn look(self, t: &mut Thread, p: &Process, apart: &mut Apart) -> Option<Look<'static>> {
        if let Some(steps) = self.strided {
            return strided::look(self, steps, t, p, apart);
        }
        let same = |w: &Window| (w.stride, w.iterations, w.granules) == (0, 0, self.key);
        let known = t.window(self.place(), self.number).filter(|w| w.first <= self.from && self.to <= w.end && same(w));
        if let Some(window) = known {
            let granules = if window.counter == t.idle_counter() { 0 } else { self.granules };
            return Some(Look { granules, nest: None, range: None, window, known: Wide::Yes, group: self });
        }
        rows::look(self, t, p, apart)
    }

    /// A window from `first` to `end`; without a counter its reads are no events.
    pub fn window(&self, t: &Thread, (first, end): (u64, u64), counter: *mut EventCounter) -> Window {
        let counter = if counter.is_null() { t.idle_counter() } else { counter };
        let (stride, iterations) = self.strided.unwrap_or((0, 0));
        let (granules, cells) = if self.strided.is_some() { (0, self.key) } else { (self.key, 0) };
        Window { stamp: 0, first, end, counter, stride, iterations, granules, cells }
    }

    /// What all cells that are like one in `state` have in common, if that is known.
    pub fn kind(&self, t: &Thread, state: u32) -> Option<Kind> {
        let none = ptr::null_mut();
        if t.header.is_own(state) || state == NONE {
            return Some(Kind::own(t));
        }
        if self.writes.is_so() {
            return None;
        }
        let counter = t.counter_of(state & Kind::mask(state), self.site?)?;
        let counter = if counter == t.idle_counter() { none } else { counter };
        Some(Kind::of(state, counter))
    }
}

/// How often a row of parts of granules reads each granule, if it begins with one and ends with one.
fn times(accesses: &[Access], iterations: u64) -> Option<u64> {
    let [Access { address, stride, bytes, .. }] = accesses else { return None };
    let bytes = u64::from(*bytes);
    let is_dense = *stride == bytes as i64 && bytes < GRANULE && GRANULE.is_multiple_of(bytes);
    let ends = [*address, iterations.checked_mul(bytes)?];
    (is_dense && ends.iter().all(|end| end.is_multiple_of(GRANULE))).then(|| GRANULE / bytes)
}

#[cfg(test)]
mod tests {
    use super::{Kind, MOST_TURNS, Wide};
    use core::ptr;
    use threadtalk_abi::cell::NONE;

    const KIND: Kind = Kind { value: 0x30, mask: !0xf, nobodys: Wide::Yes, counter: ptr::null_mut() };

    #[test]
    fn both_ends_are_what_a_look_at_each_cell_finds() {
        for (length, other) in (0..200).flat_map(|length| (0..=length).map(move |other| (length, other))) {
            for (every, nobodys) in [(usize::MAX, true), (7, true), (7, false)] {
                let kind = Kind { nobodys: nobodys.into(), ..KIND };
                let mut cells: Vec<u32> = (1..=length).map(|at| if at % every == 0 { NONE } else { 0x35 }).collect();
                if let Some(cell) = cells.get_mut(other) {
                    *cell = 0x45;
                }
                let before = cells.iter().take_while(|cell| kind.holds(**cell)).count();
                let behind = cells.iter().rev().take_while(|cell| kind.holds(**cell)).count();
                assert_eq!((kind.prefix(&cells), kind.suffix(&cells)), (before, behind), "{length} {other} {every}");
            }
        }
    }

    #[test]
    fn cells_that_take_turns_are_not_compared_one_by_one_for_long() {
        let turns: Vec<u32> = (0..4 * MOST_TURNS).map(|at| if at % 2 == 0 { 0x30 } else { NONE }).collect();
        assert_eq!(KIND.prefix(&turns), 2 * MOST_TURNS + 1);
    }
}
