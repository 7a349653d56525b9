//! Several cells at once: neighbours in one state, or in states that repeat.
//!
//! A locked exchange takes some 20 cycles, of four bytes or of eight, and little more of sixteen. Where it is known
//! what two or four neighbours hold, one exchange serves all.

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
            && exchange_four(four, [from; 4], [to; 4])
        {
            done += 4;
            continue;
        }
        // Aligned, so that the two are in one cache line.
        if let Some(two) = rest.first_chunk::<2>().filter(|two| two.as_ptr().addr().is_multiple_of(8))
            && exchange_two(two, [from; 2], [to; 2])
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

/// A name that a cell holds, and the one that it is exchanged for; the same one if it is not.
pub type Exchange = (u32, u32);

/// [`exchange`] of names that repeat: `exchanges` in turn, from the first cell on, as far as the cells hold them.
pub fn exchange_repeated(cells: &[AtomicU32], exchanges: &[Exchange], pair: bool) -> usize {
    let mut done = 0;
    let mut turns = exchanges.iter().copied().cycle();
    while let Some(rest @ [first, ..]) = cells.get(done..) {
        let four = rest.first_chunk::<4>().filter(|four| !pair && four.as_ptr().addr().is_multiple_of(16));
        if let Some(four) = four {
            let mut ahead = turns.clone();
            let next: [Exchange; 4] = core::array::from_fn(|_| ahead.next().unwrap_or_default());
            let (from, to) = (next.map(|(from, _)| from), next.map(|(_, to)| to));
            let found = || four.iter().map(|cell| cell.load(Ordering::Relaxed));
            if from == to && found().eq(from) || exchange_four(four, from, to) {
                turns = ahead;
                done += 4;
                continue;
            }
        }
        let Some((from, to)) = turns.next() else { return done };
        let exchanged = if pair || from == to {
            let holds = first.load(Ordering::Relaxed) == from;
            if holds && from != to {
                first.store(to, Ordering::Release);
            }
            holds
        } else {
            first.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        if !exchanged {
            return done;
        }
        done += 1;
    }
    done
}

/// Exchanges four cells, within sixteen aligned bytes, that were just found to hold `from`, each for its own name: all,
/// or none, as well where the processor cannot do that.
#[inline(always)]
pub fn exchange_mixed(cells: &[AtomicU32; 4], from: [u32; 4], to: [u32; 4], pair: bool) -> bool {
    if pair {
        let places = cells.iter().zip(to);
        places
            .zip(from)
            .filter(|((_, to), from)| to != from)
            .for_each(|((cell, to), _)| cell.store(to, Ordering::Release));
        return true;
    }
    // Names that stay were read when they were found. Two cells take some cycles less than four.
    let ([a, b, c, d], [to_a, to_b, to_c, to_d]) = (from, to);
    let (pairs, _) = cells.as_chunks::<2>();
    match ((a, b) == (to_a, to_b), (c, d) == (to_c, to_d)) {
        (true, true) => true,
        (false, true) => pairs.first().is_some_and(|pair| exchange_two(pair, [a, b], [to_a, to_b])),
        (true, false) => pairs.last().is_some_and(|pair| exchange_two(pair, [c, d], [to_c, to_d])),
        (false, false) => exchange_four(cells, from, to),
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
        Some(two) => exchange_two(two, [from; 2], [to; 2]),
        None => cells.iter().all(|cell| cell.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()),
    }
}

/// Exchanges both or none. In terms of single cells: two exchanges that succeed with nothing between them, or two
/// loads. Rust's atomics cannot say that of overlapping accesses of different sizes, the machine can.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline]
fn exchange_two(cells: &[AtomicU32; 2], from: [u32; 2], to: [u32; 2]) -> bool {
    let mut found = word(from);
    // SAFETY: eight bytes of two cells, atomics that may be changed through a shared reference. A locked instruction
    // orders all accesses around it, which is more than the Release that is asked for.
    unsafe {
        core::arch::asm!(
            "lock cmpxchg qword ptr [{cells}], {to}",
            cells = in(reg) cells.as_ptr(),
            to = in(reg) word(to),
            inout("rax") found,
            options(nostack),
        );
    }
    found == word(from)
}

/// Two cells as one word.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline]
fn word([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// As [`exchange_two`], of sixteen bytes: 1.3 ns a cell instead of 2.3.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline]
fn exchange_four(cells: &[AtomicU32; 4], from: [u32; 4], to: [u32; 4]) -> bool {
    // An exchange that fails takes as long; where the states change, this tells.
    if !has_wide_exchange() || cells.iter().zip(from).any(|(cell, from)| cell.load(Ordering::Relaxed) != from) {
        return false;
    }
    let words = |[a, b, c, d]: [u32; 4]| (word([a, b]), word([c, d]));
    let ((mut low, mut high), (to_low, to_high)) = (words(from), words(to));
    // SAFETY: sixteen aligned bytes of four cells, and a processor that has the instruction; else as in `exchange_two`.
    // The compiler keeps rbx for itself: it has its value again at the end.
    unsafe {
        core::arch::asm!(
            "xchg {to}, rbx",
            "lock cmpxchg16b xmmword ptr [rdi]",
            "mov rbx, {to}",
            to = inout(reg) to_low => _,
            in("rdi") cells.as_ptr(),
            in("rcx") to_high,
            inout("rax") low,
            inout("rdx") high,
            options(nostack),
        );
    }
    (low, high) == words(from)
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
fn exchange_two(_: &[AtomicU32; 2], _: [u32; 2], _: [u32; 2]) -> bool {
    false
}

/// See [`exchange_two`].
#[cfg(not(all(target_arch = "x86_64", not(loom))))]
fn exchange_four(_: &[AtomicU32; 4], _: [u32; 4], _: [u32; 4]) -> bool {
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

    /// Every start in four aligned cells, every length, names that repeat after one to six cells, one of which stays,
    /// and every place of a stranger.
    #[test]
    fn names_that_repeat_are_exchanged_as_far_as_they_do() {
        for (first, period) in (0..4).flat_map(|first| (1..=6).map(move |period| (first, period))) {
            let to = |name: u32| if name == 12 { name } else { name + 100 };
            let exchanges: Vec<Exchange> = (10..10 + period).map(|name| (name, to(name))).collect();
            let name = |at: usize| 10 + at as u32 % period;
            for length in 0..=13 - first {
                for (stranger, pair) in (0..=length).flat_map(|stranger| [(stranger, false), (stranger, true)]) {
                    let cells = Aligned([const { AtomicU32::new(0) }; 13]);
                    let used = &cells.0[first..first + length];
                    for (at, cell) in used.iter().enumerate() {
                        cell.store(if at == stranger { 8 } else { name(at) }, Ordering::Relaxed);
                    }
                    assert_eq!(exchange_repeated(used, &exchanges, pair), stranger);
                    for (at, cell) in used.iter().enumerate() {
                        let expected = match at {
                            at if at < stranger => to(name(at)),
                            at if at == stranger => 8,
                            at => name(at),
                        };
                        assert_eq!(cell.load(Ordering::Relaxed), expected, "{first} {period} {length} {at} {pair}");
                    }
                }
            }
        }
    }
}
