//! Several cells at once: neighbours in one state.
//!
//! A locked exchange takes some 20 cycles, of four bytes or of eight. Where two neighbours hold one name, one exchange
//! serves both.

use crate::primitive::{AtomicU32, Ordering};

/// Exchanges `from` for `to` in the leading cells that hold it, and says in how many. Orderings as of the exchange of
/// one cell in [`crate::view::View::read`].
#[inline]
pub fn exchange(cells: &[AtomicU32], from: u32, to: u32) -> usize {
    let mut done = 0;
    loop {
        let Some(rest) = cells.get(done..) else { return done };
        // Aligned, so that the two are in one cache line.
        if let Some(two) = rest.first_chunk::<2>().filter(|two| two.as_ptr().addr().is_multiple_of(8))
            && exchange_two(two, from, to)
        {
            done += 2;
            continue;
        }
        let Some(first) = rest.first() else { return done };
        if first.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_err() {
            return done;
        }
        done += 1;
    }
}

/// Exchanges both or none. In terms of single cells: two exchanges that succeed with nothing between them, or two
/// loads. Rust's atomics cannot say that of overlapping accesses of different sizes, the machine can.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline]
fn exchange_two(cells: &[AtomicU32; 2], from: u32, to: u32) -> bool {
    let both = |name: u32| u64::from(name) << 32 | u64::from(name);
    let mut found = both(from);
    // SAFETY: eight bytes of two cells, atomics that may be changed through a shared reference. A locked instruction
    // orders all accesses around it, which is more than the Release that is asked for.
    unsafe {
        core::arch::asm!(
            "lock cmpxchg qword ptr [{cells}], {to}",
            cells = in(reg) cells.as_ptr(),
            to = in(reg) both(to),
            inout("rax") found,
            options(nostack),
        );
    }
    found == both(from)
}

/// Without such an instruction, and in the model, which has none either: one by one.
#[cfg(not(all(target_arch = "x86_64", not(loom))))]
fn exchange_two(_: &[AtomicU32; 2], _: u32, _: u32) -> bool {
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[repr(align(16))]
    struct Aligned([AtomicU32; 9]);

    /// Every start in an aligned pair, every length, every place of a stranger.
    #[test]
    fn as_many_as_hold_the_name_are_exchanged() {
        for first in 0..4 {
            for length in 0..=9 - first {
                for stranger in 0..=length {
                    let cells = Aligned([const { AtomicU32::new(7) }; 9]);
                    if let Some(cell) = cells.0[first..first + length].get(stranger) {
                        cell.store(8, Ordering::Relaxed);
                    }
                    assert_eq!(exchange(&cells.0[first..first + length], 7, 9), stranger);
                    let now: Vec<u32> = cells.0.iter().map(|c| c.load(Ordering::Relaxed)).collect();
                    let expected = (0..9).map(|i| match i {
                        i if i < first || i >= first + length => 7,
                        i if i - first < stranger => 9,
                        i if i - first == stranger => 8,
                        _ => 7,
                    });
                    assert_eq!(now, expected.collect::<Vec<u32>>(), "{first} {length} {stranger}");
                }
            }
        }
    }
}
