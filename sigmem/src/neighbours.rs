//! Several cells at once: neighbours in one state.
//!
//! A locked exchange takes some 20 cycles, of four bytes or of eight, and little more of sixteen. Where two or four
//! neighbours hold one name, one exchange serves all.

use crate::primitive::{AtomicU32, Ordering};

/// Exchanges `from` for `to` in the leading cells that hold it, and says in how many. `pair`: nobody else changes them
/// now ([`crate::states::States::is_pair`]). Orderings as of the exchange of one cell in [`crate::view::View::read`].
#[inline(always)]
pub fn exchange(cells: &[AtomicU32], from: u32, to: u32, pair: bool) -> usize {
    if pair {
        let alike = cells.iter().take_while(|cell| cell.load(Ordering::Relaxed) == from);
        return alike.inspect(|cell| cell.store(to, Ordering::Release)).count();
    }
    let mut done = 0;
    loop {
        let Some(rest) = cells.get(done..) else { return done };
        if let Some(four) = rest.first_chunk::<4>().filter(|four| four.as_ptr().addr().is_multiple_of(16))
            && exchange_four(four, from, to)
        {
            done += 4;
            continue;
        }
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

/// [`exchange`] of one cell or of two that are aligned as one word, all or none.
#[inline(always)]
pub fn exchange_all<const CELLS: usize>(cells: &[AtomicU32; CELLS], from: u32, to: u32, pair: bool) -> bool {
    const { assert!(CELLS == 1 || CELLS == 2) };
    if pair {
        let alike = cells.iter().all(|cell| cell.load(Ordering::Relaxed) == from);
        if alike {
            cells.iter().for_each(|cell| cell.store(to, Ordering::Release));
        }
        return alike;
    }
    match cells.first_chunk() {
        Some(two) => exchange_two(two, from, to),
        None => cells.iter().all(|cell| cell.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()),
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

/// As [`exchange_two`], of sixteen bytes: 1.3 ns a cell instead of 2.3.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline]
fn exchange_four(cells: &[AtomicU32; 4], from: u32, to: u32) -> bool {
    // An exchange that fails takes as long; where the states change, this tells.
    if !has_wide_exchange() || cells.iter().any(|cell| cell.load(Ordering::Relaxed) != from) {
        return false;
    }
    let both = |name: u32| u64::from(name) << 32 | u64::from(name);
    let (mut low, mut high) = (both(from), both(from));
    // SAFETY: sixteen aligned bytes of four cells, and a processor that has the instruction; else as in `exchange_two`.
    // The compiler keeps rbx for itself: it has its value again at the end.
    unsafe {
        core::arch::asm!(
            "xchg {to}, rbx",
            "lock cmpxchg16b xmmword ptr [rdi]",
            "mov rbx, {to}",
            to = inout(reg) both(to) => _,
            in("rdi") cells.as_ptr(),
            in("rcx") both(to),
            inout("rax") low,
            inout("rdx") high,
            options(nostack),
        );
    }
    (low, high) == (both(from), both(from))
}

/// Whether the processor has `cmpxchg16b`: the first ones of the architecture had not.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline]
fn has_wide_exchange() -> bool {
    /// 0 = not asked yet, 1 = no, 2 = yes.
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    #[cold]
    fn ask() -> bool {
        let yes = core::arch::x86_64::__cpuid(1).ecx >> 13 & 1 == 1;
        KNOWN.store(1 + u32::from(yes), Ordering::Relaxed);
        yes
    }
    match KNOWN.load(Ordering::Relaxed) {
        0 => ask(),
        known => known == 2,
    }
}

/// Without such an instruction, and in the model, which has none either: one by one.
#[cfg(not(all(target_arch = "x86_64", not(loom))))]
fn exchange_two(_: &[AtomicU32; 2], _: u32, _: u32) -> bool {
    false
}

/// See [`exchange_two`].
#[cfg(not(all(target_arch = "x86_64", not(loom))))]
fn exchange_four(_: &[AtomicU32; 4], _: u32, _: u32) -> bool {
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[repr(align(16))]
    struct Aligned([AtomicU32; 13]);

    #[repr(align(8))]
    struct Word<const CELLS: usize>([AtomicU32; CELLS]);

    fn all_or_none<const CELLS: usize>(contents: [u32; CELLS], pair: bool) {
        let cells = Word(contents.map(AtomicU32::new));
        let alike = contents == [7; CELLS];
        assert_eq!(exchange_all(&cells.0, 7, 9, pair), alike, "{contents:?} {pair}");
        let now = cells.0.map(AtomicU32::into_inner);
        assert_eq!(now, if alike { [9; CELLS] } else { contents }, "{pair}");
    }

    #[test]
    fn one_cell_or_two_are_exchanged_all_or_none() {
        for pair in [false, true] {
            [7, 8].into_iter().for_each(|cell| all_or_none([cell], pair));
            [[7, 7], [7, 8], [8, 7], [8, 8]].into_iter().for_each(|cells| all_or_none(cells, pair));
        }
    }

    /// Every start in four aligned cells, every length, every place of a stranger.
    #[test]
    fn as_many_as_hold_the_name_are_exchanged() {
        for first in 0..4 {
            for length in 0..=13 - first {
                for stranger in 0..=length {
                    for pair in [false, true] {
                        let cells = Aligned([const { AtomicU32::new(7) }; 13]);
                        if let Some(cell) = cells.0[first..first + length].get(stranger) {
                            cell.store(8, Ordering::Relaxed);
                        }
                        assert_eq!(exchange(&cells.0[first..first + length], 7, 9, pair), stranger);
                        let now: Vec<u32> = cells.0.iter().map(|c| c.load(Ordering::Relaxed)).collect();
                        let expected = (0..13).map(|i| match i {
                            i if i < first || i >= first + length => 7,
                            i if i - first < stranger => 9,
                            i if i - first == stranger => 8,
                            _ => 7,
                        });
                        assert_eq!(now, expected.collect::<Vec<u32>>(), "{first} {length} {stranger} {pair}");
                    }
                }
            }
        }
    }
}
