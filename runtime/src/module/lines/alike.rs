//! Lines whose cells are alike are looked at once. Neighbours mostly are: whole arrays are in one state, and arrays of
//! structures repeat after a few lines. So are blocks that a program frees one after the other: rows of a matrix, nodes
//! of a tree. Kinds are therefore kept from one range to the next.

use super::ELEMENTS;
use core::arch::x86_64::__m128i;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use threadtalk_abi::cell::NONE;

/// Kinds of lines in hand: members of structures that different lines write repeat after 3, 5 or 7 lines, nodes of
/// trees have members that some of them never got, and of a piece of a grid that several lines wrote each row begins
/// and ends elsewhere in its lines (AMReX's advection: looks took 3.3 % of the time with 32 kinds, 1.9 % with these).
/// 10 KiB.
const KINDS: usize = 128;

/// How many of the lines that are like none in hand one stands for, up to so many of them: all are looked at first,
/// then one in eight at random, then one in 32. To look at one takes up to a microsecond; programs that free a block
/// for each of a million tasks or queries spent a tenth to a fifth of their time on it, and those that free an array
/// for each piece of a grid a twentieth with one in eight. How many lines a site wrote is known to some 5 % if they
/// are 1 % of the first 2^18, or of a million later ones.
const STANDS_FOR: [(u32, u32); 2] = [(1 << 14, 1), (1 << 18, 8)];
/// After all of those.
const LATER: u32 = 32;

/// Lines with equal cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Names of the states of their elements; none at all where there is no kind.
    pub states: [u32; ELEMENTS],
    /// Address of the first one.
    pub first: u64,
    /// How many of them nobody has looked at yet.
    pub times: u64,
}

impl Lines {
    /// One line, as it is now.
    pub fn of(line: &[AtomicU32; ELEMENTS], address: u64) -> Self {
        Self { states: states_of(line), first: address, times: 1 }
    }
}

/// The kinds of lines that were met last. The first line of a kind is looked at when it is met, as the block that it is
/// part of may be unknown later; the others together, when the kind leaves.
pub struct Alike {
    kinds: [Lines; KINDS],
    /// Kind of the line before.
    last: usize,
    /// Lines that were like none in hand.
    met: u32,
    /// State of the generator that chooses among the later ones.
    dice: u32,
}

impl Alike {
    /// None, as zeroed memory is.
    #[cfg(test)]
    const fn new() -> Self {
        Self { kinds: [Lines { states: [NONE; ELEMENTS], first: 0, times: 0 }; KINDS], last: 0, met: 0, dice: 0 }
    }

    /// Counts a line. `look`: is given the lines that have to leave for it, and it if it is the first of its kind.
    pub fn add(&mut self, line: &[AtomicU32; ELEMENTS], address: u64, mut look: impl FnMut(&Lines)) {
        let states = states_of(line);
        // Most lines are like the one before. Before any line that is one of no state, which counts nowhere.
        if let Some(before) = self.kinds.get_mut(self.last)
            && are_equal(&before.states, &states)
        {
            before.times += 1;
            return;
        }
        if are_equal(&[NONE; ELEMENTS], &states) {
            return;
        }
        self.last = place(&states);
        let Some(kind) = self.kinds.get_mut(self.last) else { return };
        if are_equal(&kind.states, &states) {
            kind.times += 1;
            return;
        }
        let Some(times) = chosen(&mut self.met, &mut self.dice) else { return };
        look_at_rest(kind, &mut look);
        look(&Lines { states, first: address, times });
        *kind = Lines { states, first: address, times: 0 };
    }

    /// `look` is given all lines that nobody has looked at.
    pub fn look_at_all(&mut self, mut look: impl FnMut(&Lines)) {
        self.kinds.iter_mut().for_each(|kind| look_at_rest(kind, &mut look));
    }
}

/// What a line's cells hold. Sixteen loads of atomics stay sixteen, and comparing and hashing lines one word at a time
/// took 14 % of the time of AMReX's advection; as four vectors it takes 7 %.
fn states_of(line: &[AtomicU32; ELEMENTS]) -> [u32; ELEMENTS] {
    let [a, b, c, d]: [__m128i; 4];
    // SAFETY: reads the 64 bytes that the reference leads to. Each word is one that the cell held at some moment. No
    // memory operation moves over it, and loads of this processor do not pass earlier ones: as an acquire, whose
    // partner is the exchange that put a reader's name there; the state behind it is read later.
    unsafe {
        core::arch::asm!(
            "movdqu {a}, xmmword ptr [{line}]",
            "movdqu {b}, xmmword ptr [{line} + 16]",
            "movdqu {c}, xmmword ptr [{line} + 32]",
            "movdqu {d}, xmmword ptr [{line} + 48]",
            line = in(reg) line.as_ptr(),
            a = out(xmm_reg) a,
            b = out(xmm_reg) b,
            c = out(xmm_reg) c,
            d = out(xmm_reg) d,
            options(nostack, preserves_flags),
        );
    }
    // SAFETY: four vectors of four words each.
    unsafe { core::mem::transmute([a, b, c, d]) }
}

fn are_equal(a: &[u32; ELEMENTS], b: &[u32; ELEMENTS]) -> bool {
    a.iter().zip(b).fold(0, |bits, (a, b)| bits | a ^ b) == 0
}

/// Where a kind of lines is in hand: four elements are hashed at a time.
fn place(states: &[u32; ELEMENTS]) -> usize {
    let mut lanes = [0u32; 4];
    for four in states.as_chunks::<4>().0 {
        lanes.iter_mut().zip(four).for_each(|(lane, state)| *lane = lane.rotate_left(7) ^ state);
    }
    let hash = lanes.iter().fold(0u32, |hash, lane| hash.rotate_left(5) ^ lane);
    // Multiplied, so that the top bits depend on all of them.
    (hash.wrapping_mul(0x9E37_79B9) >> 20) as usize % KINDS
}

/// How many lines one stands for that is like none in hand; none if it is not looked at.
fn chosen(met: &mut u32, dice: &mut u32) -> Option<u64> {
    let one_in = STANDS_FOR.iter().find(|(up_to, _)| *met < *up_to).map_or(LATER, |(_, one_in)| *one_in);
    *met = met.saturating_add(1);
    // At random, as structures come in turns and every eighth line may be the same one's: the linear congruential
    // generator of Numerical Recipes (section 7.1), whose low bits repeat.
    *dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    ((*dice >> 16) & (one_in - 1) == 0).then_some(one_in.into())
}

fn look_at_rest(kind: &mut Lines, look: &mut impl FnMut(&Lines)) {
    if kind.times > 0 && kind.states != [NONE; ELEMENTS] {
        look(kind);
    }
    kind.times = 0;
}

/// Kinds of lines that one thread at a time has in hand.
#[repr(align(64))]
pub struct Hand {
    is_taken: AtomicBool,
    alike: UnsafeCell<Alike>,
}

// SAFETY: only who has taken it touches what is in it.
unsafe impl Sync for Hand {}

impl Hand {
    /// Calls `with` on it; not if somebody has it, another thread or one that a signal has interrupted here.
    pub fn take<R>(&self, with: impl FnOnce(&mut Alike) -> R) -> Option<R> {
        // Acquire: the partner is the release of whoever had it before.
        if self.is_taken.swap(true, Ordering::Acquire) {
            return None;
        }
        // SAFETY: it is this call's until the store below.
        let result = with(unsafe { &mut *self.alike.get() });
        self.is_taken.store(false, Ordering::Release);
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    /// Every line is counted once, with lines of its own kind, whatever leaves in between.
    fn check(lines: &[[u32; ELEMENTS]]) -> usize {
        let mut alike = Alike::new();
        let mut found: Vec<Lines> = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            alike.add(&line.map(AtomicU32::new), 64 * number as u64, |met| found.push(*met));
        }
        alike.look_at_all(|rest| found.push(*rest));
        alike.look_at_all(|rest| panic!("{rest:?} is looked at twice"));
        let (mut got, mut want) = (BTreeMap::<_, u64>::new(), BTreeMap::<_, u64>::new());
        for kind in &found {
            assert_eq!(kind.states, lines[(kind.first / 64) as usize], "the first of them is one of them");
            *got.entry(kind.states).or_default() += kind.times;
        }
        lines.iter().filter(|line| **line != [NONE; ELEMENTS]).for_each(|line| *want.entry(*line).or_default() += 1);
        assert_eq!(got, want);
        found.len()
    }

    #[test]
    fn every_line_is_counted_with_its_like() {
        // Before any other, lines that nobody wrote. Structures of 40 bytes with two writing lines: five kinds in turn,
        // then one array in one state, a hole, and more kinds than are kept.
        let structure = |line: usize| core::array::from_fn(|i| 1 + u32::from((line * ELEMENTS + i) % 10 < 3));
        let mut lines = std::vec![[NONE; ELEMENTS]; 3];
        lines.extend((0..50).map(structure));
        lines.extend([[7; ELEMENTS]; 20]);
        lines.extend([[NONE; ELEMENTS]; 3]);
        // Each of the six kinds when it comes, and when all are looked at.
        assert_eq!(check(&lines), 6 + 6);
        lines.extend((0..800).map(|n| core::array::from_fn(|i| (n % 160) * 100 + i as u32)));
        check(&lines);
    }

    /// By turns, nearly twice as many kinds as are in hand.
    #[test]
    fn of_very_many_lines_some_stand_for_all() {
        let (mut alike, mut looks, mut times) = (Alike::new(), 0u32, [0u64; 240]);
        let line = |kind: u32| -> [AtomicU32; ELEMENTS] {
            core::array::from_fn(|i| AtomicU32::new(1 + kind * 100 + i as u32))
        };
        let rounds = 150_000;
        for number in 0..240 * rounds {
            let kind = number * 7 % 240;
            alike.add(&line(kind), 64, |met| {
                looks += 1;
                times[(met.states[0] / 100) as usize] += met.times;
            });
        }
        alike.look_at_all(|met| times[(met.states[0] / 100) as usize] += met.times);
        assert!(looks < 240 * rounds / 8, "{looks}");
        for (kind, times) in times.iter().enumerate() {
            let part = *times as f64 / f64::from(rounds);
            assert!((0.95..1.05).contains(&part), "kind {kind}: {times} of {rounds}");
        }
    }

    #[test]
    fn who_has_it_in_hand_has_it_alone() {
        let hand = Hand { is_taken: AtomicBool::new(false), alike: UnsafeCell::new(Alike::new()) };
        let inner = hand.take(|_| hand.take(|_| ()));
        assert_eq!(inner, Some(None));
        assert_eq!(hand.take(|_| ()), Some(()));
    }
}
