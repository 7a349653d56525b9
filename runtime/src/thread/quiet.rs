//! Memory that holds no events for the thread, known beyond a loop nest: as long as the thread's claim on its chunk
//! holds ([`threadtalk_sigmem::claims`]).
//!
//! A bit for each 8 bytes. It is set only for what a loop of the thread really accesses, after the chunk was claimed,
//! and only where the cells said that the access is no event: then another thread's later write is ordered behind the
//! loop, and finds its directory emptied.
//!
//! A cell that holds the id that a loop's write leaves needs no store. For that, the claimant's own inlined writes take
//! the slow path as well, and cells that were read or have ended are known to have changed.

mod filled;

use crate::memory;
use crate::wide::Wide;
use core::num::NonZeroU64;
use filled::Filled;
use threadtalk_abi::loops::Access;
use threadtalk_abi::{ADDRESS_BITS, CHUNK_BYTES, CHUNK_SHIFT, GRANULE};

/// Bytes for each bit.
pub const WORD: u64 = 8;
/// Bits of a chunk, in numbers of 64 bits.
const NUMBERS: usize = (CHUNK_BYTES / WORD / 64) as usize;
/// Chunks that are known at a time, direct-mapped: 64 MiB of the program's memory in 3 MiB.
const SLOTS: u64 = (64 << 20) / CHUNK_BYTES;

/// What is known of a chunk.
struct Slot {
    /// The thread's first id and the chunk's number plus 1; 0 = empty.
    tag: u64,
    /// Bits that are set.
    known: u64,
    bits: [u64; NUMBERS],
    filled: Filled,
}

impl Slot {
    /// Nothing is known. In place: threads may have small stacks.
    fn begin(&mut self, tag: u64) {
        // SAFETY: all zero bytes are an empty slot.
        unsafe { core::ptr::from_mut(self).write_bytes(0, 1) };
        self.tag = tag;
    }
}

/// What a thread knows. Private to it.
pub struct Quiet {
    slots: *mut Slot,
}

/// Which words of its range an access reads.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Which of 64 words, where the first one begins an access.
    mask: u64,
    /// Words from one access to the next, at most 64.
    period: NonZeroU64,
    /// Number of a word that begins an access.
    first: u64,
    /// The access reads all of these words whole.
    exact: Wide,
}

impl Pattern {
    /// All words.
    pub const ALL: Self = Pattern { mask: u64::MAX, period: NonZeroU64::MIN, first: 0, exact: Wide::Yes };

    /// Whether it is no more than what the access reaches.
    pub fn is_exact(self) -> bool {
        self.exact.is_so()
    }

    /// The pattern of an access whose range begins at `first`.
    pub fn of(access: &Access, first: u64) -> Self {
        let (bytes, stride) = (u64::from(access.bytes), access.stride.unsigned_abs());
        let aligned = |unit: u64| [first, bytes, stride].iter().all(|n| n.is_multiple_of(unit));
        if stride == bytes || stride == 0 {
            return Pattern { exact: aligned(GRANULE).into(), ..Pattern::ALL };
        }
        if !aligned(WORD) || stride < bytes {
            return Pattern { exact: (stride < bytes && aligned(GRANULE)).into(), ..Pattern::ALL };
        }
        Self::repeated(u64::MAX >> (64 - (bytes / WORD).min(64)), stride / WORD, first)
    }

    /// The pattern of several accesses with one stride, next to each other within it, of which the first one begins at
    /// `first`.
    pub fn of_all(accesses: &[Access], first: u64) -> Self {
        let inexact = Pattern { exact: Wide::No, ..Pattern::ALL };
        let [head, ..] = accesses else { return inexact };
        let stride = head.stride.unsigned_abs();
        let place = |access: &Access| (access.address - head.address, u64::from(access.bytes));
        let any = accesses.iter().map(place).fold(first | stride, |any, (from, bytes)| any | from | bytes);
        let unit = if any.is_multiple_of(WORD) { WORD } else { GRANULE };
        if !any.is_multiple_of(GRANULE) || stride > 64 * unit {
            return inexact;
        }
        let mut units = 0u64;
        for (from, bytes) in accesses.iter().map(place) {
            let read = u64::MAX.checked_shr(64 - (bytes / unit) as u32).unwrap_or(0);
            units |= read.checked_shl((from / unit) as u32).unwrap_or(0);
        }
        match u64::from(units.count_ones()) * unit == stride {
            true => Pattern::ALL,
            false if unit == WORD => Self::repeated(units, stride / WORD, first),
            false => inexact,
        }
    }

    /// Those of the first 64 words from `first` on, again after each period.
    fn repeated(words: u64, period: u64, first: u64) -> Self {
        let Some(period) = NonZeroU64::new(period).filter(|period| period.get() <= 64) else {
            return Pattern { exact: Wide::No, ..Pattern::ALL };
        };
        let (mut mask, mut covered) = (words, period.get());
        while covered < 64 {
            mask |= mask << covered;
            covered *= 2;
        }
        Pattern { mask, period, first: first / WORD, exact: Wide::Yes }
    }

    /// The numbers of a chunk that hold bits of the words that `from .. to` touches, and which of those bits are
    /// the pattern's.
    #[inline]
    fn masks(self, from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
        // Where the first number's first word is in a period, and how much farther the next one's is.
        let period = self.period.get();
        let begin = (from / WORD - from / WORD % 64 + 64 * period).wrapping_sub(self.first);
        let (mut phase, further) = match period.is_power_of_two() {
            true => (begin & (period - 1), 0),
            false => (begin % self.period, 64 % self.period),
        };
        masks(from, to).map(move |(i, mask)| {
            let read = self.mask >> phase | self.mask << (period - 1 - phase) << 1;
            phase += further;
            if phase >= period {
                phase -= period;
            }
            (i, mask & read)
        })
    }
}

/// The end of the part of `at .. end` that begins at `at`: whole words of one chunk, or less than a word.
#[inline]
pub fn part_end(at: u64, end: u64) -> u64 {
    let chunk = (at & !(CHUNK_BYTES - 1)) + CHUNK_BYTES;
    let whole = end & !(WORD - 1);
    if at.is_multiple_of(WORD) && at < whole { whole.min(chunk) } else { end.min((at | (WORD - 1)) + 1) }
}

impl Quiet {
    /// Nothing. `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { slots: memory::reserve(SLOTS as usize * size_of::<Slot>())?.as_ptr().cast() })
    }

    /// The slot of the chunk of `address`, whatever it holds, and the chunk's tag.
    #[inline]
    fn place(&self, own_base: u32, address: u64) -> (*mut Slot, u64) {
        let chunk = address >> CHUNK_SHIFT;
        // SAFETY: below the number of slots.
        let slot = unsafe { self.slots.add((chunk % SLOTS) as usize) };
        (slot, tag(own_base, address))
    }

    /// The first byte of `from .. to`, which lies in one chunk, of a word that a pattern reads and that is not known;
    /// `to` if there is none.
    #[inline]
    pub fn reach(&self, own_base: u32, (from, to): (u64, u64), pattern: Pattern) -> u64 {
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &*slot };
        if slot.tag != tag || from >= to {
            return from;
        }
        if slot.known != CHUNK_BYTES / WORD {
            for (i, mask) in pattern.masks(from, to) {
                let missing = mask & !bits(slot, i);
                if missing != 0 {
                    let word = i as u64 * 64 + u64::from(missing.trailing_zeros());
                    return ((from & !(CHUNK_BYTES - 1)) + word * WORD).max(from);
                }
            }
        }
        to
    }

    /// The chunk of `address` was claimed anew: nothing is known of it.
    pub fn begin(&mut self, own_base: u32, address: u64) {
        let (slot, tag) = self.place(own_base, address);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        slot.begin(tag);
    }

    /// What a pattern reads of `from .. to`, in one chunk, is no event.
    pub fn add(&mut self, own_base: u32, (from, to): (u64, u64), pattern: Pattern) {
        let (from, to) = (from.next_multiple_of(WORD), to & !(WORD - 1));
        if !pattern.is_exact() || from >= to {
            return;
        }
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag != tag {
            slot.begin(tag);
        }
        for (i, mask) in pattern.masks(from, to) {
            let Some(bits) = slot.bits.get_mut(i) else { return };
            let added = mask & !*bits;
            *bits |= added;
            slot.known += u64::from(added.count_ones());
        }
    }
}

#[inline]
fn bits(slot: &Slot, i: usize) -> u64 {
    slot.bits.get(i).copied().unwrap_or(0)
}

/// What names a chunk of memory as a thread knows it: its first id, of 31 bits, and the chunk's number plus 1,
/// never 0.
#[inline]
pub fn tag(own_base: u32, address: u64) -> u64 {
    u64::from(own_base) << (ADDRESS_BITS - CHUNK_SHIFT) | ((address >> CHUNK_SHIFT) + 1)
}

/// The numbers of a chunk that hold bits of the words that `from .. to` touches, and which bits.
#[inline]
pub fn masks(from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
    let first = from % CHUNK_BYTES / WORD;
    let last = first + ((to - 1) / WORD - from / WORD);
    (first / 64..=last / 64).map(move |i| {
        let low = if i == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let high = if i == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        (i as usize, low & high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::HashSet;

    const BASE: u64 = 7 << 30;

    impl Quiet {
        fn covers(&self, own_base: u32, part: (u64, u64), pattern: Pattern) -> bool {
            self.reach(own_base, part, pattern) == part.1
        }
    }

    fn access(address: u64, stride: i64, bytes: u32) -> Access {
        Access { address, stride, bytes, flags: 0, site: 1, window: 0 }
    }

    /// The bytes of a range that an access reads, one by one.
    fn read(access: &Access, iterations: u64) -> HashSet<u64> {
        let start = |i| access.address_in(i);
        (0..iterations).flat_map(|i| start(i)..start(i) + u64::from(access.bytes)).collect()
    }

    /// First byte and end.
    fn range(read: &HashSet<u64>) -> (u64, u64) {
        (*read.iter().min().unwrap(), read.iter().max().unwrap() + 1)
    }

    fn parts((from, to): (u64, u64)) -> Vec<(u64, u64)> {
        let mut at = from;
        core::iter::from_fn(|| {
            let part = (at < to).then(|| (at, part_end(at, to)));
            at = part_end(at, to);
            part
        })
        .collect()
    }

    /// One access.
    fn alone(rng: &mut Rng) -> Vec<Access> {
        let unit = [1, 4, 8, 8][rng.usize(0..4)];
        let bytes = unit * rng.u32(1..5);
        let stride = [0, 1, -1, 2, 3, 4, 7, -2][rng.usize(0..8)] * i64::from(bytes);
        let address = BASE + CHUNK_BYTES + u64::from(unit) * rng.u64(0..6) - 24 * u64::from(rng.bool());
        [access(address, stride, bytes)].to_vec()
    }

    /// Some members of structures.
    fn members(rng: &mut Rng) -> Vec<Access> {
        let unit = [4, 8, 8][rng.usize(0..3)];
        let size = rng.u32(2..12);
        let stride = i64::from(unit * size) * if rng.bool() { 1 } else { -1 };
        let first = BASE + CHUNK_BYTES + u64::from(unit) * rng.u64(0..3) - 24 * u64::from(rng.bool());
        let mut all: Vec<Access> = (0..rng.usize(2..6))
            .map(|_| {
                let member = rng.u32(0..size);
                access(first + u64::from(unit * member), stride, unit * rng.u32(1..=(size - member).min(3)))
            })
            .collect();
        all.sort_by_key(|access| access.address);
        // All within a stride of the first one.
        let head = all[0].address;
        all.retain(|access| access.address + u64::from(access.bytes) <= head + stride.unsigned_abs());
        all
    }

    #[test]
    fn what_is_known_is_what_was_read_word_by_word() {
        let mut rng = Rng::with_seed(11);
        let (mut covered, mut asked) = (0, 0);
        for _ in 0..600 {
            let mut quiet = Quiet::new().unwrap();
            let mut known = HashSet::new();
            for _ in 0..12 {
                let of_structures = rng.bool();
                let accesses = if of_structures { members(&mut rng) } else { alone(&mut rng) };
                let iterations = rng.u64(1..80);
                let bytes = accesses.iter().flat_map(|access| read(access, iterations)).collect();
                let (from, to) = range(&bytes);
                let pattern =
                    if of_structures { Pattern::of_all(&accesses, from) } else { Pattern::of(&accesses[0], from) };
                let from = from & !3;
                for part in parts((from, to)) {
                    asked += 1;
                    if quiet.covers(5, part, pattern) {
                        covered += 1;
                        let mut here = bytes.iter().filter(|byte| (part.0..part.1).contains(byte));
                        assert!(here.all(|byte| known.contains(byte)), "{accesses:?} {part:?}");
                    }
                    assert!(!quiet.covers(6, part, pattern), "another thread's");
                }
                for part in parts((from, to)) {
                    quiet.add(5, part, pattern);
                }
                known.extend(bytes);
            }
        }
        assert!(covered > asked / 20, "{covered} of {asked}");
    }

    #[test]
    fn every_fifth_word_is_known_beyond_the_first_number_and_so_are_all_five_together() {
        let mut quiet = Quiet::new().unwrap();
        let member = |number: u64| access(BASE + 8 * number, 40, 8);
        let rows = (BASE, BASE + 40 * 100);
        quiet.add(5, rows, Pattern::of(&member(0), BASE));
        assert!(quiet.covers(5, rows, Pattern::of(&member(0), BASE)));
        assert_eq!(quiet.reach(5, rows, Pattern::ALL), BASE + 8);
        let others: Vec<Access> = (1..5).map(member).collect();
        quiet.add(5, (BASE + 8, rows.1), Pattern::of_all(&others, BASE + 8));
        assert!(quiet.covers(5, rows, Pattern::ALL));
    }

    #[test]
    fn dense_ranges_are_known_at_once_but_for_words_that_were_read_in_part() {
        let mut quiet = Quiet::new().unwrap();
        let floats = access(BASE + 4, 4, 4);
        let pattern = Pattern::of(&floats, floats.address);
        let range = (BASE + 4, BASE + 44);
        parts(range).into_iter().for_each(|part| quiet.add(5, part, pattern));
        let covered: Vec<bool> = parts(range).into_iter().map(|part| quiet.covers(5, part, pattern)).collect();
        assert_eq!(covered, [false, true, false]);
    }

    #[test]
    fn both_colours_of_a_row_make_it_whole_and_a_new_claim_or_another_chunk_forgets_it() {
        let mut quiet = Quiet::new().unwrap();
        let chunk = (BASE, BASE + CHUNK_BYTES);
        let [red, black] = [0, 8].map(|first| Pattern::of(&access(BASE + first, 16, 8), BASE + first));
        quiet.add(5, chunk, red);
        assert!(quiet.covers(5, chunk, red) && !quiet.covers(5, chunk, black) && !quiet.covers(5, chunk, Pattern::ALL));
        quiet.add(5, chunk, black);
        assert!(quiet.covers(5, chunk, Pattern::ALL));
        quiet.begin(5, BASE);
        assert!(!quiet.covers(5, chunk, red));
        quiet.add(5, chunk, red);
        let other = BASE + SLOTS * CHUNK_BYTES;
        quiet.add(5, (other, other + 8), red);
        assert!(quiet.covers(5, (other, other + 8), red) && !quiet.covers(5, chunk, red));
    }
}
