//! Values of other threads that nobody writes any more, known as long as a shared claim on their chunk holds
//! ([`threadtalk_sigmem::claims`]).
//!
//! A bit for each 8 bytes, as of what is quiet ([`super::quiet`]): it is set only for what a loop of the thread really
//! read, after the claim was shared, where the cells said that this is reuse. Each 512 bytes have the name of a state
//! in which they were. It need not be the one that they are in now, because other threads may have read them since;
//! but the writer and the line are the same, and that this thread has read them: reads count in the same record.

use super::quiet::{masks, tag};
use crate::memory;
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};

/// Bytes for each bit.
const WORD: u64 = super::quiet::WORD;
/// Bytes of a block: 64 words, which have one state.
const BLOCK: u64 = 64 * WORD;
const BLOCKS: usize = (CHUNK_BYTES / BLOCK) as usize;
/// Chunks that are known at a time, direct-mapped: 64 MiB of the program's memory in 2 MiB.
const SLOTS: u64 = (64 << 20) / CHUNK_BYTES;
/// Granules that a thread looks at in a chunk, and finds reuse, before it shares a claim: all of them once. A claim
/// costs a look at the directories of all threads, and each writer's next write.
const WORTH: u64 = CHUNK_BYTES / GRANULE;

/// What is known of some bytes.
#[derive(Clone, Copy)]
struct Block {
    words: u64,
    state: u32,
}

/// What is known of a chunk.
struct Slot {
    /// The thread's first id and the chunk's number plus 1; 0 = empty.
    tag: u64,
    /// The claim's number.
    claim: u32,
    /// Reuse that was looked at since the slot is the chunk's.
    looked: u64,
    blocks: [Block; BLOCKS],
}

/// What a thread knows. Private to it.
pub struct Steady {
    slots: *mut Slot,
}

impl Steady {
    /// Nothing. `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { slots: memory::reserve(SLOTS as usize * size_of::<Slot>())?.as_ptr().cast() })
    }

    #[inline]
    fn slot(&mut self, address: u64) -> &mut Slot {
        // SAFETY: below the number of slots; this thread's alone; a slot of zeros is an empty one.
        unsafe { &mut *self.slots.add(((address >> CHUNK_SHIFT) % SLOTS) as usize) }
    }

    /// How far from `from` on, at most to `to` in the same chunk, reads are reuse in one state, and which. `claim`: the
    /// number of the shared claim that holds now.
    #[inline]
    pub fn reach(&mut self, own_base: u32, claim: u32, (from, to): (u64, u64)) -> Option<(u64, u32)> {
        let slot = self.slot(from);
        if slot.tag != tag(own_base, from) || slot.claim != claim {
            return None;
        }
        let (mut end, mut of) = (from, None);
        for (i, mask) in masks(from, to) {
            let block = slot.blocks.get(i)?;
            if *of.get_or_insert(block.state) != block.state {
                break;
            }
            let missing = mask & !block.words;
            let start = (from & !(CHUNK_BYTES - 1)) + i as u64 * BLOCK;
            if missing != 0 {
                end = end.max((start + u64::from(missing.trailing_zeros()) * WORD).min(to));
                break;
            }
            end = (start + BLOCK).min(to);
        }
        (end > from).then_some((end, of?))
    }

    /// The thread has found so much reuse in the cells of the chunk of `address`. Whether a shared claim is worth it.
    #[inline]
    pub fn is_worth(&mut self, own_base: u32, address: u64, granules: u64) -> bool {
        let slot = self.slot(address);
        if slot.tag != tag(own_base, address) {
            slot.begin(tag(own_base, address), 0);
        }
        slot.looked += granules;
        slot.looked >= WORTH
    }

    /// Reads of all of `from .. to`, in one chunk, are reuse in `state`, and were so while the claim of that number
    /// held. `same`: whether two states mean the same to the thread.
    pub fn add(
        &mut self,
        own_base: u32,
        claim: u32,
        (from, to): (u64, u64),
        state: u32,
        same: impl Fn(u32, u32) -> bool,
    ) {
        let (from, to) = (from.next_multiple_of(WORD), to & !(WORD - 1));
        if from >= to {
            return;
        }
        let slot = self.slot(from);
        if slot.tag != tag(own_base, from) || slot.claim != claim {
            slot.begin(tag(own_base, from), claim);
        }
        let mut checked = None;
        for (i, mask) in masks(from, to) {
            let Some(block) = slot.blocks.get_mut(i) else { return };
            if block.state != state && checked != Some(block.state) {
                if block.words == 0 || !same(block.state, state) {
                    *block = Block { words: 0, state };
                } else {
                    checked = Some(block.state);
                }
            }
            block.words |= mask;
        }
    }

    /// The thread waits for the next use of the granule at an address.
    pub fn forget(&mut self, own_base: u32, address: u64) {
        let slot = self.slot(address);
        if slot.tag == tag(own_base, address) {
            for (i, mask) in masks(address, address + GRANULE) {
                if let Some(block) = slot.blocks.get_mut(i) {
                    block.words &= !mask;
                }
            }
        }
    }
}

impl Slot {
    /// Nothing is known. In place: threads may have small stacks.
    fn begin(&mut self, tag: u64, claim: u32) {
        for block in &mut self.blocks {
            block.words = 0;
        }
        (self.tag, self.claim, self.looked) = (tag, claim, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::HashMap;
    use std::vec::Vec;

    const BASE: u64 = 7 << 30;
    const OWN: u32 = 5;

    /// States of one source: names that differ only in the last digit.
    fn source(state: u32) -> u32 {
        state / 10
    }

    fn same(one: u32, other: u32) -> bool {
        source(one) == source(other)
    }

    /// How far all is known, as a loop finds it, and of which sources.
    fn walk(steady: &mut Steady, claim: u32, (from, to): (u64, u64)) -> Vec<(u64, u64, u32)> {
        let mut at = from;
        core::iter::from_fn(|| {
            let (end, state) = (at < to).then(|| steady.reach(OWN, claim, (at, to)))??;
            assert!(end > at && end <= to);
            let found = (at, end, source(state));
            at = end;
            Some(found)
        })
        .collect()
    }

    /// Word by word, what was added last and not forgotten.
    #[test]
    fn what_is_reuse_of_which_source_is_what_loops_have_found_under_the_claim_that_holds() {
        let mut rng = Rng::with_seed(5);
        let (mut known, mut asked) = (0, 0);
        for _ in 0..200 {
            let mut steady = Steady::new().unwrap();
            let mut words: HashMap<u64, u32> = HashMap::new();
            let mut claim = 0;
            for _ in 0..60 {
                let from = BASE + 4 * rng.u64(0..600);
                let to = from + 4 * rng.u64(1..500);
                let state = 10 * rng.u32(1..3) + rng.u32(0..10);
                match rng.u32(0..12) {
                    0 => {
                        claim += 1;
                        words.clear();
                    }
                    1 | 2 => {
                        steady.forget(OWN, from);
                        words.remove(&(from / WORD));
                    }
                    _ => {
                        steady.add(OWN, claim, (from, to), state, same);
                        let whole = from.div_ceil(WORD)..to / WORD;
                        words.extend(whole.clone().map(|word| (word, source(state))));
                        let found = walk(&mut steady, claim, (whole.start * WORD, whole.end * WORD));
                        assert_eq!(found.last().map_or(whole.start * WORD, |last| last.1), whole.end * WORD);
                        assert!(found.iter().all(|part| part.2 == source(state)), "{found:?} {state}");
                    }
                }
                let first = BASE + 4 * rng.u64(0..1200);
                let range = (first, first + 4 * rng.u64(1..400));
                for (from, end, of) in walk(&mut steady, claim, range) {
                    let right = |word| words.get(&word) == Some(&of);
                    assert!((from / WORD..end.div_ceil(WORD)).all(right), "{from}..{end} of {of}");
                    known += end - from;
                }
                asked += range.1 - range.0;
                assert_eq!(steady.reach(OWN + 1, claim, range), None, "another thread's");
                assert_eq!(steady.reach(OWN, claim + 1, range), None, "another claim");
            }
        }
        assert!(known > asked / 20, "{known} of {asked}");
    }

    #[test]
    fn a_state_is_kept_as_long_as_it_means_the_same() {
        let mut steady = Steady::new().unwrap();
        let block = |i: u64| (BASE + i * BLOCK, BASE + (i + 1) * BLOCK);
        steady.add(OWN, 3, (BASE, BASE + 64), 11, same);
        steady.add(OWN, 3, (BASE + 64, BASE + 2 * BLOCK), 12, same);
        assert_eq!(steady.reach(OWN, 3, block(0)), Some((BASE + BLOCK, 11)), "the name that the block had");
        assert_eq!(steady.reach(OWN, 3, (BASE, BASE + 2 * BLOCK)), Some((BASE + BLOCK, 11)));
        assert_eq!(steady.reach(OWN, 3, block(1)), Some((BASE + 2 * BLOCK, 12)));
        steady.add(OWN, 3, (BASE + 128, BASE + 192), 21, same);
        assert_eq!(steady.reach(OWN, 3, block(0)), None, "one source for a block");
        assert_eq!(steady.reach(OWN, 3, (BASE + 128, BASE + 192)), Some((BASE + 192, 21)));
    }

    #[test]
    fn a_claim_is_worth_it_when_as_much_was_looked_at_as_a_chunk_has_and_each_has_to_be_worth_it_anew() {
        let mut steady = Steady::new().unwrap();
        let looks = |steady: &mut Steady| (1..1000).find(|_| steady.is_worth(OWN, BASE + 8, 1024)).unwrap();
        assert_eq!(looks(&mut steady), WORTH / 1024);
        steady.add(OWN, 0, (BASE, BASE + 64), 11, same);
        assert_eq!(looks(&mut steady), 1, "the first claim's number is that of an empty slot");
        steady.add(OWN, 1, (BASE, BASE + 64), 11, same);
        assert_eq!(looks(&mut steady), WORTH / 1024);
        let other = BASE + SLOTS * CHUNK_BYTES;
        assert!(!steady.is_worth(OWN, other, 1));
        assert_eq!(steady.reach(OWN, 1, (BASE, BASE + 64)), None, "its place is another chunk's");
        assert!(!steady.is_worth(OWN, BASE, 1));
    }
}
