//! Shared claims: chunks of memory that nobody writes, as far as their readers can tell.
//!
//! Reuse of another thread's value stays reuse until somebody writes the element, be it the reader itself, or its
//! memory ends. So a shared claim empties the chunk's entries in the directories for writes of *all* threads, and any
//! write ends it, for all of its holders. They tell one from the next by its number. It does not disturb a claim: the
//! claimant's next write takes the slow path, too.

use super::{Claims, SHARED, SHARED_ENDED, Writable};
use crate::primitive::Ordering;

/// A chunk whose shared claims ended so often is written and read in turns, and gets no more.
const MOST_SHARED_ENDED: u32 = 8;

impl Claims {
    /// Shares a claim of the chunk of `address`, which has cells: its number. `None`: others write there again and
    /// again. What the thread looks at from now on counts, not what it has seen before.
    pub fn share(&self, thread: &Writable, address: u64) -> Option<u32> {
        if thread.base().is_null() || self.void.load(Ordering::Relaxed) {
            return None;
        }
        let word = self.word(address);
        let mut found = word.load(Ordering::Relaxed);
        while found & SHARED == 0 {
            if found / SHARED_ENDED >= MOST_SHARED_ENDED {
                return None;
            }
            match word.compare_exchange(found, found | SHARED, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => found = now,
            }
        }
        // Also where another thread has made it: that one may not have come so far.
        self.empty(address, None);
        Some(found / SHARED_ENDED)
    }

    /// The number of the shared claim of the chunk of `address`.
    #[inline]
    pub fn shared(&self, address: u64) -> Option<u32> {
        let word = self.word(address).load(Ordering::Relaxed);
        (word & SHARED != 0 && !self.void.load(Ordering::Relaxed)).then_some(word / SHARED_ENDED)
    }

    /// The memory of `from .. to`, in one chunk, has ended, and its cells are zeros: what was reuse is none any more.
    pub fn died(&self, from: u64, to: u64) {
        self.touch(from, to);
        let word = self.word(from);
        let mut found = word.load(Ordering::Relaxed);
        while found & SHARED != 0 {
            let ended = found - SHARED + SHARED_ENDED;
            match word.compare_exchange(found, ended, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => found = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::tests::{CHUNK, memory};
    use super::*;
    use std::vec::Vec;

    #[test]
    fn any_write_ends_a_shared_claim_the_holders_own_as_well_and_a_claim_lasts() {
        let memory = memory(3);
        let (claims, threads) = memory.claims();
        let [Some(a), Some(b), Some(c)] = threads[..] else { panic!("three directories") };
        for thread in [&a, &b, &c] {
            claims.enter(thread, CHUNK, 40);
        }
        assert!(claims.claim(&a, CHUNK));
        assert_eq!((claims.shared(CHUNK), claims.share(&b, CHUNK + 8)), (None, Some(0)));
        assert!([a, b, c].iter().all(|thread| !claims.is_entered(thread, CHUNK)), "all writes take the slow path");
        assert_eq!((claims.share(&c, CHUNK), claims.shared(CHUNK + 100), claims.shared(0)), (Some(0), Some(0), None));
        claims.enter(&a, CHUNK, 40);
        assert!(claims.holds(&a, CHUNK) && claims.shared(CHUNK).is_none(), "the claimant's write ends the shared one");
        assert_eq!(claims.share(&b, CHUNK), Some(1), "the next one");
        claims.overwrite(&b, CHUNK + 50);
        assert!(claims.shared(CHUNK).is_none() && !claims.holds(&a, CHUNK), "a loop of a reader ends both");
        assert_eq!(claims.share(&a, CHUNK), Some(2));
        claims.died(CHUNK + 4, CHUNK + 8);
        assert!(claims.shared(CHUNK).is_none(), "so does the end of the memory");
        assert!(claims.claim(&b, CHUNK) && claims.share(&b, CHUNK) == Some(3) && claims.holds(&b, CHUNK));
        claims.died(CHUNK + 4, CHUNK + 8);
        assert!(claims.holds(&b, CHUNK), "which ends no claim");
        assert_eq!(claims.touched(CHUNK), 1);
    }

    #[test]
    fn readers_and_a_claimants_fills_do_not_end_it() {
        let memory = memory(2);
        let (claims, threads) = memory.claims();
        let [Some(a), Some(b)] = threads[..] else { panic!("two directories") };
        assert!(claims.claim(&a, CHUNK));
        let number = claims.share(&b, CHUNK);
        claims.touch(CHUNK, CHUNK + 64);
        claims.ask(CHUNK, 1);
        claims.leave(&a, CHUNK);
        assert_eq!((claims.shared(CHUNK), number), (number, Some(0)));
    }

    #[test]
    fn a_chunk_that_is_written_and_read_in_turns_is_shared_so_often_and_claimed_all_the_same() {
        let memory = memory(2);
        let (claims, threads) = memory.claims();
        let [Some(a), Some(b)] = threads[..] else { panic!("two directories") };
        let numbers: Vec<_> = (0..50)
            .map_while(|_| {
                let number = claims.share(&a, CHUNK);
                claims.overwrite(&b, CHUNK);
                number
            })
            .collect();
        assert_eq!(numbers, (0..MOST_SHARED_ENDED).collect::<Vec<_>>());
        assert!(claims.claim(&a, CHUNK));
        assert_eq!(claims.share(&b, 0), Some(0), "another chunk");
    }

    #[test]
    fn without_directories_for_all_threads_there_are_none() {
        let memory = memory(1);
        let (claims, threads) = memory.claims();
        let [Some(a)] = threads[..] else { panic!("a directory") };
        assert_eq!((claims.share(&Writable::NONE, CHUNK), claims.share(&a, CHUNK)), (None, Some(0)));
        claims.give_up();
        assert_eq!((claims.share(&a, 0), claims.shared(CHUNK)), (None, None));
    }
}
