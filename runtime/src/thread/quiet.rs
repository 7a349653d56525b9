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
use filled::Filled;
use threadtalk_abi::loops::Access;
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT};

/// Bytes for each bit.
pub const WORD: u64 = 8;
/// Bits of a chunk, in numbers of 64 bits.
const NUMBERS: usize = (CHUNK_BYTES / WORD / 64) as usize;
/// Chunks that are known at a time, direct-mapped: 64 MiB of the program's memory in 1 MiB.
const SLOTS: u64 = 1024;

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

/// Which words of its range an access reads, by the last six bits of the word's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    mask: u64,
    /// The access reads all of these words whole.
    exact: bool,
}

impl Pattern {
    /// All words.
    pub const ALL: Self = Pattern { mask: u64::MAX, exact: true };

    /// Whether it is no more than what the access reaches.
    pub fn is_exact(self) -> bool {
        self.exact
    }

    /// The pattern of an access whose range begins at `first`.
    pub fn of(access: &Access, first: u64) -> Self {
        let (bytes, stride) = (u64::from(access.bytes), access.stride.unsigned_abs());
        let aligned = |unit: u64| [first, bytes, stride].iter().all(|n| n.is_multiple_of(unit));
        if stride == bytes || stride == 0 {
            return Pattern { mask: u64::MAX, exact: aligned(4) };
        }
        let period = stride / WORD;
        if !aligned(WORD) || stride < bytes || !period.is_power_of_two() || period > 64 {
            return Pattern { mask: u64::MAX, exact: stride < bytes && aligned(4) };
        }
        // Once in each period, by doubling.
        let (mut all, mut covered) = (u64::MAX >> (64 - bytes / WORD), period);
        while covered < 64 {
            all |= all << covered;
            covered *= 2;
        }
        Pattern { mask: all.rotate_left((first / WORD % 64) as u32), exact: true }
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

    /// Whether all of the chunk is known.
    #[inline]
    pub fn is_full(&self, own_base: u32, address: u64) -> bool {
        let (slot, tag) = self.place(own_base, address);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &*slot };
        slot.tag == tag && slot.known == CHUNK_BYTES / WORD
    }

    /// Whether the words that a pattern reads of `from .. to`, which lies in one chunk, are known.
    #[inline]
    pub fn covers(&self, own_base: u32, (from, to): (u64, u64), pattern: Pattern) -> bool {
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &*slot };
        slot.tag == tag
            && (slot.known == CHUNK_BYTES / WORD
                || masks(from, to).all(|(i, m)| m & pattern.mask & !bits(slot, i) == 0))
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
        if !pattern.exact || from % WORD != 0 || to % WORD != 0 {
            return;
        }
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag != tag {
            slot.begin(tag);
        }
        for (i, mask) in masks(from, to) {
            let Some(bits) = slot.bits.get_mut(i) else { return };
            let added = mask & pattern.mask & !*bits;
            *bits |= added;
            slot.known += u64::from(added.count_ones());
        }
    }
}

#[inline]
fn bits(slot: &Slot, i: usize) -> u64 {
    slot.bits.get(i).copied().unwrap_or(0)
}

/// What names a chunk of memory as a thread knows it: its first id and the chunk's number plus 1, never 0.
#[inline]
pub fn tag(own_base: u32, address: u64) -> u64 {
    u64::from(own_base) << 32 | ((address >> CHUNK_SHIFT) + 1)
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

    fn access(address: u64, stride: i64, bytes: u32) -> Access {
        Access { address, stride, bytes, flags: 0, site: 1, window: 0 }
    }

    /// The bytes of a range that an access reads, one by one.
    fn read(access: &Access, iterations: u64) -> HashSet<u64> {
        let start = |i| access.address.wrapping_add_signed(access.stride * i as i64);
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

    #[test]
    fn what_is_known_is_what_was_read_word_by_word() {
        let mut rng = Rng::with_seed(11);
        let (mut covered, mut asked) = (0, 0);
        for _ in 0..300 {
            let mut quiet = Quiet::new().unwrap();
            let mut known = HashSet::new();
            for _ in 0..12 {
                let unit = [1, 4, 8, 8][rng.usize(0..4)];
                let bytes = unit * rng.u32(1..5);
                let stride = [0, 1, -1, 2, 3, 4, -2][rng.usize(0..7)] * i64::from(bytes);
                let address = BASE + CHUNK_BYTES + u64::from(unit) * rng.u64(0..6) - 24 * u64::from(rng.bool());
                let iterations = rng.u64(1..40);
                let a = access(address, stride, bytes);
                let bytes = read(&a, iterations);
                let (from, to) = range(&bytes);
                let pattern = Pattern::of(&a, from);
                let from = from & !3;
                for part in parts((from, to)) {
                    asked += 1;
                    if quiet.covers(5, part, pattern) {
                        covered += 1;
                        let mut here = bytes.iter().filter(|byte| (part.0..part.1).contains(byte));
                        assert!(here.all(|byte| known.contains(byte)), "{a:?} {part:?}");
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
        assert!(quiet.covers(5, chunk, red) && !quiet.covers(5, chunk, black) && !quiet.is_full(5, BASE));
        quiet.add(5, chunk, black);
        assert!(quiet.is_full(5, BASE + 100));
        quiet.begin(5, BASE);
        assert!(!quiet.covers(5, chunk, red));
        quiet.add(5, chunk, red);
        let other = BASE + SLOTS * CHUNK_BYTES;
        quiet.add(5, (other, other + 8), red);
        assert!(quiet.covers(5, (other, other + 8), red) && !quiet.covers(5, chunk, red));
    }
}
