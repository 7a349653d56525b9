//! What is known of strided accesses: a window as it was found, and what is watched in it.
//!
//! The window that inlined code sees leaves out what is watched, on either side of where a loop has asked. Without the
//! whole one, columns around a watched element would be looked at again in each row of the nest, which took a third of
//! the time of a product of matrices.

use super::windows::reach;
use threadtalk_abi::window::Window;

/// Elements of a column that are watched, at most.
const MOST_WATCHED: usize = 13;

/// Bytes of the widest column that has an outline.
const OUTLINED: u64 = 256;

/// Whether a column may have an address, in an eighth of a cache line: a product has 480 columns of three lines each,
/// more than the first-level cache holds, and each element that begins to be watched is looked for in all of them.
#[derive(Clone, Copy)]
pub struct Outline {
    /// The column's stride; 0: it may have any.
    stride: u32,
    /// Its first byte, modulo the stride.
    residue: u32,
}

impl Outline {
    /// `false` is certain. `place`: the stride looked at last, and what the address is modulo that.
    pub(super) fn may_have(self, address: u64, (stride, place): &mut (u64, u64)) -> bool {
        if self.stride == 0 {
            return true;
        }
        if *stride != u64::from(self.stride) {
            (*stride, *place) = (self.stride.into(), address.checked_rem(self.stride.into()).unwrap_or(0));
        }
        behind(*place, self.residue.into(), *stride) < OUTLINED
    }
}

/// How far a place is behind another one, both modulo a stride.
fn behind(place: u64, residue: u64, stride: u64) -> u64 {
    if place >= residue { place - residue } else { place + stride - residue }
}

/// A column of a matrix, or more of them side by side.
#[derive(Clone, Copy)]
pub struct Column {
    pub(super) window: Window,
    /// The window's first byte, modulo its stride.
    residue: u64,
    /// The iterations with events, if they count in one counter: the first and the last one.
    range: (u64, u64),
    /// Addresses of elements whose next read by this thread must be seen; 0: none.
    watched: [u64; MOST_WATCHED],
}

impl Column {
    /// A column without watched elements. `window`: its stride is not 0. `range`: the iterations with events, if they
    /// count in one counter.
    pub fn new(window: Window, range: (u64, u64)) -> Self {
        let residue = window.first.checked_rem(window.stride.unsigned_abs()).unwrap_or(0);
        Column { window, residue, range, watched: [0; MOST_WATCHED] }
    }

    /// The first iteration with events and the last one, if they count in one counter.
    pub fn range(&self) -> (u64, u64) {
        self.range
    }

    /// The window, with what is watched.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The elements that are watched.
    pub fn watched(&self) -> impl Iterator<Item = u64> + use<> {
        self.watched.into_iter().filter(|address| *address != 0)
    }

    /// Notes that an element is watched. `false`: there is no room.
    pub fn watch(&mut self, address: u64) -> bool {
        if self.watched.contains(&address) {
            return true;
        }
        let free = self.watched.iter_mut().find(|place| **place == 0);
        free.is_some_and(|place| {
            *place = address;
            true
        })
    }

    /// Nobody waits for an element any more.
    pub fn unwatch(&mut self, address: u64) {
        if let Some(place) = self.watched.iter_mut().find(|place| **place == address) {
            *place = 0;
        }
    }

    /// How many bytes behind the beginning of its iteration an address of the column lies.
    pub fn within(&self, address: u64) -> u64 {
        let stride = self.window.stride.unsigned_abs();
        behind(address.checked_rem(stride).unwrap_or(0), self.residue, stride)
    }

    /// The iteration that reaches an address of the column.
    pub fn iteration(&self, address: u64) -> u64 {
        let distance = address.abs_diff(self.window.first + self.within(address));
        distance.checked_div(self.window.stride.unsigned_abs()).unwrap_or(0)
    }

    /// What is looked at before the column is.
    pub(super) fn outline(&self) -> Outline {
        let stride = self.window.stride.unsigned_abs();
        let is_narrow = self.window.end - self.window.first <= OUTLINED;
        // Residues are below strides.
        let stride = u32::try_from(stride).ok().filter(|_| is_narrow).unwrap_or(0);
        Outline { stride, residue: self.residue as u32 }
    }

    /// Whether the column has an address.
    pub(super) fn has(&self, address: u64) -> bool {
        let ((first, reach), width) = (reach(&self.window), self.window.end - self.window.first);
        let within = self.within(address);
        within < width && address >= first && address - first - within <= reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    fn window(first: u64, end: u64, stride: i64, iterations: u64) -> Window {
        Window { stamp: 1, first, end, counter: ptr::null_mut(), stride, iterations, granules: 0, cells: 0 }
    }

    #[test]
    fn a_column_has_what_its_window_reaches_and_knows_the_iteration() {
        for (stride, iterations) in [(96, 1), (96, 5), (-96, 5), (-64, 3), (1000, 2)] {
            let w = window(5000, 5064, stride, iterations);
            let column = Column::new(w, (0, 0));
            for address in 4000..7000 {
                let round =
                    (0..iterations as i64).find(|i| (5000 + i * stride..5064 + i * stride).contains(&(address as i64)));
                assert_eq!(column.has(address), round.is_some(), "{address}");
                assert!(column.outline().may_have(address, &mut (0, 0)) || round.is_none(), "{address}");
                if let Some(round) = round {
                    let within = (address as i64 - 5000 - round * stride) as u64;
                    assert_eq!((column.within(address), column.iteration(address)), (within, round as u64));
                }
            }
        }
    }

    #[test]
    fn a_column_has_room_for_a_few_watched_elements_each_once() {
        let mut column = Column::new(window(5000, 5064, 96, 5), (0, 0));
        for _ in 0..2 {
            assert!((1..=MOST_WATCHED as u64).all(|address| column.watch(4 * address)));
        }
        assert!(!column.watch(400));
        assert_eq!(column.watched().count(), MOST_WATCHED);
        column.unwatch(8);
        assert!(column.watch(400) && !column.watch(404));
        assert!(column.watched().any(|address| address == 400) && column.watched().all(|address| address != 8));
    }
}
