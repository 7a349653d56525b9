//! Columns of which something is not known before the loop, as all is before the first row of a product: they are read
//! by themselves, element by element in the order of the loop, and what they find is known to the next one.
//!
//! The loop's instrumented copy would do the same at three times the price: each of its reads waits for a cell that
//! lies pages away from the one before. Here they are asked for ahead.

use crate::hooks::scan::prefetch_line;
use crate::hooks::{access, range};
use crate::process::Process;
use crate::thread::Thread;
use core::ops::Range;
use threadtalk_abi::GRANULE;

/// Columns of a loop: an unrolled one has four.
const MOST_COLUMNS: usize = 8;
/// Iterations between a read and the one whose cell is asked for.
const AHEAD: u64 = 8;

/// In an iteration of a loop over a column, asks for the cell that it comes to [`AHEAD`] iterations on.
#[inline(always)]
pub fn ask_ahead(p: &Process, (from, stride): (u64, i64), iteration: u64, iterations: u64) {
    let ahead = iteration + AHEAD;
    if ahead < iterations
        && let Some(cell) = p.signature.directory.translate(place(from, stride, ahead))
    {
        prefetch_line(cell.cast());
    }
}

/// Where a column is in an iteration.
#[inline(always)]
fn place(from: u64, stride: i64, iteration: u64) -> u64 {
    from.wrapping_add_signed(stride.wrapping_mul(iteration as i64))
}

/// A strided read of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// First byte in the first iteration.
    pub from: u64,
    /// Bytes in each iteration.
    pub bytes: u64,
    /// From one iteration to the next.
    pub stride: i64,
    /// The reading line.
    pub site: u32,
}

impl Unread {
    fn address(&self, iteration: u64) -> u64 {
        place(self.from, self.stride, iteration)
    }

    /// Whether the two may read the same element, in `iterations` of both.
    fn may_meet(&self, other: &Unread, iterations: u64) -> bool {
        let reach = |column: &Unread| {
            let (one, last) = (column.from, column.address(iterations - 1));
            (one.min(last) & !(GRANULE - 1), one.max(last) + column.bytes)
        };
        let ((first, end), (other_first, other_end)) = (reach(self), reach(other));
        first < other_end && other_first < end
    }
}

/// Those of a loop, in the order of its body.
#[derive(Clone, Copy)]
pub struct Columns {
    all: [Option<Unread>; MOST_COLUMNS],
    used: usize,
    iterations: u64,
}

impl Columns {
    /// None.
    pub const fn new() -> Self {
        Columns { all: [None; MOST_COLUMNS], used: 0, iterations: 0 }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// One more of a loop of so many iterations. `None`: there is no room, or which of two lines reads an element first
    /// depends on the order in an iteration, which is not known here.
    pub fn add(&mut self, column: Unread, iterations: u64) -> Option<()> {
        let clash = |other: &Unread| other.site != column.site && other.may_meet(&column, iterations);
        if self.all.iter().flatten().any(clash) {
            return None;
        }
        *self.all.get_mut(self.used)? = Some(column);
        self.used += 1;
        self.iterations = iterations;
        Some(())
    }

    /// Iterations of the loop.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Reads what all of them read in these iterations.
    pub fn read(&self, t: &mut Thread, p: &Process, iterations: Range<u64>) {
        for iteration in iterations {
            for column in self.all.iter().flatten() {
                ask_ahead(p, (column.from, column.stride), iteration, self.iterations);
                let address = column.address(iteration);
                match column.bytes {
                    4 => access::read::<4>(t, p, address, column.site),
                    8 => access::read::<8>(t, p, address, column.site),
                    16 => access::read::<16>(t, p, address, column.site),
                    bytes => range::read(t, p, address, bytes, column.site),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_two_lines_must_lie_apart() {
        let column = |from, site| Unread { from, bytes: 8, stride: 96, site };
        let mut columns = Columns::new();
        assert_eq!(columns.add(column(4096, 1), 10), Some(()));
        // Every other row of the same matrix, by the same line; another line's behind the last one.
        assert_eq!(columns.add(column(4096 + 48, 1), 10), Some(()));
        assert_eq!(columns.add(column(4096 + 912, 2), 10), None);
        assert_eq!(columns.add(column(4096 + 920, 2), 10), Some(()));
        assert_eq!((3..20).filter(|i| columns.add(column(8192 * i, 3), 10).is_some()).count(), MOST_COLUMNS - 3);
        let back = Unread { stride: -96, ..column(4096 + 864, 4) };
        assert!(back.may_meet(&column(4096, 1), 10) && !back.may_meet(&column(4096 + 872, 1), 10));
    }
}
