//! What a thread's loops have stored in the cells of a chunk that it claims, and need not store again.
//!
//! A loop that runs again leaves the ids that it left before, and cells that are not stored are not fetched: of
//! stencils in large grids the traffic of cells is a third of the time. What could change them is known: others'
//! writes end the claim, others' reads and the end of memory leave bits beside it, and inlined writes of the claimant
//! take the slow path, one by one as long as that costs less than it saves ([`Quiet::bears`]).

use super::{NUMBERS, Pattern, Quiet, WORD};
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_sigmem::{Claims, Writable};

/// Bytes of a block: 64 words, which have one id.
const BLOCK: u64 = 64 * WORD;
/// A thread that comes back to a chunk with many inlined writes so often writes it so, for some time.
const MOST_LEFT: u32 = 4;
/// Fills of the chunk until that is tried again. A try costs [`MOST_OWED`] writes on the slow path at most, 8
/// microseconds, as much as so many fills of a block in the cache.
const WAIT: u32 = 512;
/// Inlined writes on the slow path that are borne at most. One takes 30 ns, as long as it takes to store a block whose
/// cells are not in the cache.
const MOST_OWED: u32 = 256;

/// What is known of a chunk; zeroes: nothing.
pub struct Filled {
    /// Words whose cells hold the id of their block.
    words: [u64; NUMBERS],
    ids: [u32; NUMBERS],
    /// How often the thread's inlined writes were sent to the slow path again, and beyond [`MOST_LEFT`] how many fills
    /// were not followed by that.
    left: u32,
    /// What inlined writes on the slow path have cost, in blocks, less those that were not stored again.
    owed: u32,
}

impl Quiet {
    /// The first stretch of `from .. to`, which lies in one chunk, in which words that a pattern writes may not hold
    /// the id.
    #[inline]
    pub fn unfilled(
        &mut self,
        (claims, thread): (&Claims, &Writable),
        own_base: u32,
        (from, to): (u64, u64),
        (pattern, id): (Pattern, u32),
    ) -> Option<(u64, u64)> {
        if from >= to {
            return None;
        }
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag != tag || claims.is_entered(thread, from) || !claims.holds(thread, from) {
            return Some((from, to));
        }
        let known = &mut slot.filled;
        let mut stretch: Option<(u64, u64)> = None;
        for (i, mask) in pattern.masks(from, to) {
            let block = (from & !(CHUNK_BYTES - 1)) + i as u64 * BLOCK;
            let (Some(&filled), Some(&of)) = (known.words.get(i), known.ids.get(i)) else { return Some((from, to)) };
            let filled = if of == id { filled & !words(claims.touched(block)) } else { 0 };
            let missing = mask & !filled;
            if missing == 0 {
                if stretch.is_some() {
                    break;
                }
                known.owed = known.owed.saturating_sub(1);
                continue;
            }
            let first = stretch.map_or(block + u64::from(missing.trailing_zeros()) * WORD, |stretch| stretch.0);
            stretch = Some((first, block + u64::from(64 - missing.leading_zeros()) * WORD));
        }
        stretch.map(|(first, end)| (first.max(from), end.min(to)))
    }

    /// The cells of the words that a pattern writes of `from .. to`, in one chunk, have got an id.
    pub fn fill(
        &mut self,
        (claims, thread): (&Claims, &Writable),
        own_base: u32,
        (from, to): (u64, u64),
        (pattern, id): (Pattern, u32),
    ) {
        let (from, to) = (from.next_multiple_of(WORD), to & !(WORD - 1));
        if !pattern.is_exact() || from >= to || !claims.holds(thread, from) {
            return;
        }
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag != tag {
            slot.begin(tag);
        }
        let known = &mut slot.filled;
        if claims.is_entered(thread, from) {
            known.left += 1;
            if known.left == MOST_LEFT + WAIT {
                known.left = MOST_LEFT;
            } else if known.left > MOST_LEFT {
                return;
            }
            known.owed = 0;
            known.words.fill(0);
            claims.leave(thread, from);
        }
        for (i, mask) in pattern.masks(from, to) {
            let block = (from & !(CHUNK_BYTES - 1)) + i as u64 * BLOCK;
            let (Some(filled), Some(of)) = (known.words.get_mut(i), known.ids.get_mut(i)) else { return };
            if *of != id {
                (*of, *filled) = (id, 0);
            }
            let touched = claims.touched(block) & lines(mask);
            if touched != 0 {
                *filled &= !words(touched);
                claims.ask(block, touched);
            }
            *filled |= mask;
        }
    }

    /// The thread's inlined code writes a granule on the slow path. Whether it is to do so the next time as well,
    /// because its loops need not store what they have stored.
    #[inline]
    pub fn bears(&mut self, (claims, thread): (&Claims, &Writable), own_base: u32, granule: u64) -> bool {
        let (slot, tag) = self.place(own_base, granule);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag != tag || slot.filled.owed == MOST_OWED || !claims.holds(thread, granule) {
            return false;
        }
        slot.filled.owed += 1;
        self.forget(own_base, (granule, granule + 1), Pattern::ALL);
        true
    }

    /// The thread's inlined code writes in the chunk of `address` unseen from now on, until [`Claims::leave`]. Who
    /// shares a claim sends it to the slow path again, which does not say what it has written until then.
    pub fn is_entered(&mut self, own_base: u32, address: u64) {
        let (slot, tag) = self.place(own_base, address);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag == tag {
            slot.filled.words.fill(0);
        }
    }

    /// Whether anything may be known of what the thread has stored in the chunk of `address`.
    pub fn is_filled(&self, own_base: u32, address: u64) -> bool {
        let (slot, tag) = self.place(own_base, address);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        unsafe { (*slot).tag == tag }
    }

    /// The thread writes cells of `from .. to`, in one chunk, in some other way.
    #[inline]
    pub fn forget(&mut self, own_base: u32, (from, to): (u64, u64), pattern: Pattern) {
        let (slot, tag) = self.place(own_base, from);
        // SAFETY: this thread's alone; a slot of zeros is an empty one.
        let slot = unsafe { &mut *slot };
        if slot.tag == tag {
            for (i, mask) in pattern.masks(from, to) {
                if let Some(filled) = slot.filled.words.get_mut(i) {
                    *filled &= !mask;
                }
            }
        }
    }
}

/// The words of lines, eight of a block.
#[inline]
fn words(lines: u8) -> u64 {
    // Spreads the bits to the lowest of each byte, and fills the bytes.
    let mut spread = u64::from(lines);
    spread = (spread | (spread << 28)) & 0x0000_000F_0000_000F;
    spread = (spread | (spread << 14)) & 0x0003_0003_0003_0003;
    spread = (spread | (spread << 7)) & 0x0101_0101_0101_0101;
    spread * 0xff
}

/// The lines of a block's words.
#[inline]
fn lines(words: u64) -> u8 {
    words.to_le_bytes().iter().zip(0..).fold(0, |lines, (byte, line)| lines | (u8::from(*byte != 0) << line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU32, AtomicU64};
    use fastrand::Rng;
    use std::collections::HashMap;
    use std::vec::Vec;
    use threadtalk_abi::CHUNK_SHIFT;
    use threadtalk_abi::loops::Access;
    use threadtalk_sigmem::claims::TOUCHED;

    /// Of three chunks; the tests use the second and the third.
    const CHUNKS: usize = 3;

    struct Memory {
        words: Vec<AtomicU32>,
        touched: Vec<AtomicU64>,
        entries: Vec<AtomicU64>,
    }

    impl Memory {
        fn new() -> Self {
            let numbers = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
            let words = (0..CHUNKS).map(|_| AtomicU32::new(0)).collect();
            Memory { words, touched: numbers(CHUNKS * TOUCHED), entries: numbers(CHUNKS) }
        }

        fn claims(&self) -> (Claims, Writable) {
            // SAFETY: for all chunks that the tests use, and alive as long.
            unsafe {
                let claims = Claims::new(self.words.as_ptr(), self.touched.as_ptr());
                let thread = claims.join(self.entries.as_ptr()).unwrap();
                (claims, thread)
            }
        }
    }

    /// What a loop does: stores only where it must. Returns the words that it left alone.
    fn run(
        (quiet, shared): (&mut Quiet, (&Claims, &Writable)),
        cells: &mut HashMap<u64, u32>,
        (first, stride, iterations): (u64, u64, u64),
        id: u32,
    ) -> u64 {
        let access = Access { address: first, stride: stride as i64, bytes: 8, flags: 1, site: 1, window: 0 };
        let pattern = Pattern::of(&access, first);
        let written: Vec<u64> = (0..iterations).map(|i| first + i * stride).collect();
        let mut stored = 0;
        let (mut at, end) = (first, first + (iterations - 1) * stride + 8);
        while at < end {
            let part = super::super::part_end(at, end);
            while let Some((from, to)) = quiet.unfilled(shared, 5, (at, part), (pattern, id)) {
                for &word in written.iter().filter(|word| (from..to).contains(word)) {
                    quiet.forget(5, (word, word + 8), Pattern::ALL);
                    cells.insert(word, id);
                    stored += 1;
                }
                quiet.fill(shared, 5, (from, to), (pattern, id));
                at = to;
            }
            at = part;
        }
        for word in &written {
            assert_eq!(cells.get(word), Some(&id), "{word:#x} of {first:#x}, {stride}, {iterations}");
        }
        iterations - stored
    }

    #[test]
    fn after_a_loop_all_its_cells_hold_its_id_whatever_was_not_stored() {
        let mut rng = Rng::with_seed(17);
        let (mut spared, mut total) = (0, 0);
        for _ in 0..60 {
            let memory = Memory::new();
            let (claims, thread) = memory.claims();
            let shared = (&claims, &thread);
            let mut quiet = Quiet::new().unwrap();
            let mut cells = HashMap::new();
            let base = 1 << CHUNK_SHIFT;
            // So that loops go over the border of the two chunks.
            let middle = CHUNK_BYTES / 8 - 192;
            for chunk in [base, 2 * base] {
                assert!(claims.claim(&thread, chunk));
                quiet.begin(5, chunk);
            }
            for _ in 0..200 {
                let word = base + 8 * (middle + rng.u64(0..400));
                match rng.u32(0..8) {
                    0 => {
                        // Another thread reads it.
                        cells.insert(word, 99);
                        claims.touch(word, word + 8);
                    }
                    1 => {
                        // Inlined code, with what stands for it on the slow path.
                        if !claims.is_entered(&thread, word) && !quiet.bears(shared, 5, word) {
                            claims.enter(&thread, word, 40);
                        }
                        cells.insert(word, 98);
                    }
                    2 => {
                        let to = (word + 8 * rng.u64(1..40)).min((word & !(CHUNK_BYTES - 1)) + CHUNK_BYTES);
                        cells.extend((word..to).step_by(8).map(|word| (word, 97)));
                        quiet.forget(5, (word, to), Pattern::ALL);
                    }
                    _ => {
                        let stride = 8 * [1, 1, 2, 2, 4, 3][rng.usize(0..6)];
                        let first = base + 8 * (middle + rng.u64(0..3) + 190 * rng.u64(0..2));
                        let iterations = rng.u64(1..200);
                        spared += run((&mut quiet, shared), &mut cells, (first, stride, iterations), rng.u32(1..3));
                        total += iterations;
                    }
                }
            }
        }
        assert!(spared > total / 20, "{spared} of {total}");
    }

    #[test]
    fn nothing_is_known_after_the_claim_has_ended_or_was_made_anew() {
        let memory = Memory::new();
        let (claims, thread) = memory.claims();
        let shared = (&claims, &thread);
        let mut quiet = Quiet::new().unwrap();
        let (base, mut cells) = (1 << CHUNK_SHIFT, HashMap::new());
        let mut spared = |quiet: &mut Quiet| run((quiet, shared), &mut cells, (base, 8, 100), 7);
        assert_eq!((spared(&mut quiet), spared(&mut quiet)), (0, 0), "not claimed");
        assert!(claims.claim(&thread, base));
        quiet.begin(5, base);
        assert_eq!((spared(&mut quiet), spared(&mut quiet)), (0, 100));
        quiet.begin(5, base);
        assert_eq!((spared(&mut quiet), spared(&mut quiet)), (0, 100));
        claims.give_up();
        assert_eq!(spared(&mut quiet), 0);
    }

    #[test]
    fn many_inlined_writes_are_borne_a_few_times_and_again_after_some_time() {
        let memory = Memory::new();
        let (claims, thread) = memory.claims();
        let shared = (&claims, &thread);
        let mut quiet = Quiet::new().unwrap();
        let (base, mut cells) = (1 << CHUNK_SHIFT, HashMap::new());
        assert!(claims.claim(&thread, base));
        quiet.begin(5, base);
        let mut borne = 0;
        for round in 0..2 * WAIT {
            run((&mut quiet, shared), &mut cells, (base, 8, 100), 7);
            let before = borne;
            while !claims.is_entered(&thread, base) {
                match quiet.bears(shared, 5, base) {
                    true => borne += 1,
                    false => claims.enter(&thread, base, 40),
                }
            }
            let again = round <= MOST_LEFT || (round - MOST_LEFT).is_multiple_of(WAIT);
            assert_eq!(borne - before, if again { MOST_OWED } else { 0 }, "round {round}");
        }
    }

    #[test]
    fn lines_and_words_are_eight_to_one() {
        for all in 0..=u8::MAX {
            let of = (0..64).filter(|word| all >> (word / 8) & 1 == 1).fold(0u64, |set, word| set | (1 << word));
            assert_eq!((words(all), lines(of)), (of, all));
            assert_eq!(lines(of & 0x8040_2010_0804_0201), all, "one word is enough");
        }
    }
}
