//! Claims: chunks of memory that only one thread writes, as far as that thread can tell.
//!
//! A read of an own value is no event, so a thread that knows a stretch of memory to hold own values need not look at
//! its cells; until another thread writes there. Writes are inlined and leave no trace but the cells. So each thread
//! has a directory of its own for writes. Who *claims* a chunk puts a 0 there into the directories of all others, whose
//! next write then takes the slow path, which ends the claim before it touches a cell.
//!
//! See `README.md`, "Claims", for what a holder may rely on, and why.

use crate::primitive::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use threadtalk_abi::CHUNK_SHIFT;

/// Threads alive at a time that can claim chunks. 64 directories are 1 TiB of address space; beyond that, nobody holds
/// a claim.
pub const MOST: usize = if cfg!(loom) { 2 } else { 64 };

/// A chunk whose claims ended so often is not claimed again: threads write it in turns.
const MOST_ENDED: u32 = 4;

/// Bits of a chunk's word that hold the number of the claimant plus 1; how many claims have ended is above them.
const CLAIMANT: u32 = 0xff;
const ENDED: u32 = CLAIMANT + 1;

/// The directory for writes of one thread.
#[derive(Clone, Copy)]
pub struct Writable {
    entries: *const AtomicU64,
    number: u32,
}

impl Writable {
    /// Of a thread that has claimed nothing and writes by another directory.
    pub const NONE: Self = Self { entries: core::ptr::null(), number: 0 };

    /// Address of the first entry, for the inlined code; null for [`Writable::NONE`].
    pub fn base(&self) -> *const AtomicU64 {
        self.entries
    }

    #[inline]
    fn entry(&self, address: u64) -> Option<&AtomicU64> {
        // SAFETY: the contract of `join`; callers have found the address in the directory of cells.
        (!self.entries.is_null()).then(|| unsafe { &*self.entries.add((address >> CHUNK_SHIFT) as usize) })
    }
}

/// Who claims what.
pub struct Claims {
    words: *const AtomicU32,
    directories: [AtomicPtr<AtomicU64>; MOST],
    joined: AtomicU32,
    void: AtomicBool,
}

// SAFETY: the words and the directories consist of atomics that live as long as the claims (contracts of `new`,
// `join`).
unsafe impl Send for Claims {}
// SAFETY: as above; every method takes `&self`.
unsafe impl Sync for Claims {}

impl Claims {
    /// # Safety
    /// `words` points to a zeroed word for each chunk of the address space; they live as long as the claims, and nobody
    /// else writes them.
    pub unsafe fn new(words: *const AtomicU32) -> Self {
        Self {
            words,
            directories: core::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut())),
            joined: AtomicU32::new(0),
            void: AtomicBool::new(false),
        }
    }

    /// A thread, present or to come, will write by this directory. `None`: there are too many; see [`Claims::give_up`].
    ///
    /// # Safety
    /// `entries` points to a zeroed entry for each chunk of the address space; they live as long as the claims. Only
    /// the thread itself, or one after another, stores what [`Claims::enter`] stores.
    pub unsafe fn join(&self, entries: *const AtomicU64) -> Option<Writable> {
        // Relaxed: the fence of the thread's first `enter` comes behind, so that a claim finds the directory, or is
        // found there.
        let number = self.joined.fetch_add(1, Ordering::Relaxed);
        let place = self.directories.get(number as usize)?;
        place.store(entries.cast_mut(), Ordering::Relaxed);
        Some(Writable { entries, number })
    }

    /// A thread will write without a directory of its own: from now on there are no claims. It calls this before its
    /// first write, so that whoever reads what it has written knows.
    pub fn give_up(&self) {
        self.void.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn word(&self, address: u64) -> &AtomicU32 {
        // SAFETY: callers have found the address in the directory of cells, which is as long.
        unsafe { &*self.words.add((address >> CHUNK_SHIFT) as usize) }
    }

    /// Whether the thread has entered the chunk of `address`, which has cells, and may write them.
    #[inline]
    pub fn is_entered(&self, thread: &Writable, address: u64) -> bool {
        thread.entry(address).is_none_or(|entry| entry.load(Ordering::Relaxed) != 0)
    }

    /// The thread is about to write cells of the chunk of `address`, which are at this `offset`, and goes on to do so
    /// by its directory: another thread's claim ends.
    #[cold]
    pub fn enter(&self, thread: &Writable, address: u64, offset: u64) {
        let Some(entry) = thread.entry(address) else { return };
        entry.store(offset, Ordering::Relaxed);
        // SeqCst: partner is the fence in `claim`. Either the claim is seen here, or the entry there, which is emptied
        // again.
        fence(Ordering::SeqCst);
        let word = self.word(address);
        let mut found = word.load(Ordering::Relaxed);
        while found & CLAIMANT != 0 && found & CLAIMANT != thread.number + 1 {
            let ended = (found & !CLAIMANT).wrapping_add(ENDED);
            match word.compare_exchange(found, ended, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => found = now,
            }
        }
    }

    /// Claims the chunk of `address`, which has cells, for the thread. `false`: another thread has it, or it changes
    /// hands too often. What the thread looks at from now on counts, not what it has seen before.
    pub fn claim(&self, thread: &Writable, address: u64) -> bool {
        let word = self.word(address);
        let found = word.load(Ordering::Relaxed);
        if thread.entries.is_null() || self.void.load(Ordering::Relaxed) || found & CLAIMANT != 0 {
            return found & CLAIMANT == thread.number + 1 && !thread.entries.is_null();
        }
        let claimed = found | (thread.number + 1);
        if found / ENDED >= MOST_ENDED
            || word.compare_exchange(found, claimed, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return false;
        }
        // SeqCst: partner is the fence in `enter`.
        fence(Ordering::SeqCst);
        let joined = self.joined.load(Ordering::Relaxed);
        for (directory, number) in self.directories.iter().take(joined as usize).zip(0..) {
            let entries = directory.load(Ordering::Relaxed);
            let other = Writable { entries, number };
            if number == thread.number {
                continue;
            }
            if let Some(entry) = other.entry(address).filter(|entry| entry.load(Ordering::Relaxed) != 0) {
                entry.store(0, Ordering::Relaxed);
            }
        }
        true
    }

    /// Whether the thread's claim has held since it was made.
    #[inline]
    pub fn holds(&self, thread: &Writable, address: u64) -> bool {
        let word = self.word(address).load(Ordering::Relaxed);
        word & CLAIMANT == thread.number + 1 && !thread.entries.is_null() && !self.void.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Two chunks and some threads' directories for them.
    struct Memory {
        words: Vec<AtomicU32>,
        entries: Vec<Vec<AtomicU64>>,
    }

    fn memory(threads: usize) -> Memory {
        let entries = || (0..2).map(|_| AtomicU64::new(0)).collect();
        Memory {
            words: (0..2).map(|_| AtomicU32::new(0)).collect(),
            entries: (0..threads).map(|_| entries()).collect(),
        }
    }

    impl Memory {
        fn claims(&self) -> (Claims, Vec<Option<Writable>>) {
            // SAFETY: words and entries for two chunks; the tests use no other addresses.
            unsafe {
                let claims = Claims::new(self.words.as_ptr());
                let threads = self.entries.iter().map(|entries| claims.join(entries.as_ptr())).collect();
                (claims, threads)
            }
        }
    }

    const CHUNK: u64 = 1 << CHUNK_SHIFT;

    #[test]
    fn the_next_write_of_another_thread_ends_a_claim_and_no_other() {
        let memory = memory(3);
        let (claims, threads) = memory.claims();
        let [Some(a), Some(b), Some(c)] = threads[..] else { panic!("three directories") };
        claims.enter(&b, CHUNK + 8, 40);
        assert!(claims.is_entered(&b, CHUNK) && !claims.is_entered(&c, CHUNK) && !claims.is_entered(&b, 0));
        assert!(claims.claim(&a, CHUNK) && claims.claim(&a, 0));
        assert!(claims.holds(&a, CHUNK + 100) && !claims.holds(&b, CHUNK));
        assert!(!claims.is_entered(&b, CHUNK), "its next write takes the slow path");
        assert!(!claims.claim(&b, CHUNK), "another thread has it");
        claims.enter(&a, CHUNK, 40);
        assert!(claims.holds(&a, CHUNK), "the holder may write");
        claims.enter(&c, CHUNK, 40);
        assert!(!claims.holds(&a, CHUNK) && claims.holds(&a, 0));
    }

    #[test]
    fn a_chunk_that_changes_hands_is_given_up() {
        let memory = memory(2);
        let (claims, threads) = memory.claims();
        let [Some(a), Some(b)] = threads[..] else { panic!("two directories") };
        let claimed = (0..50).filter(|_| {
            let claimed = claims.claim(&a, CHUNK);
            claims.enter(&b, CHUNK, 40);
            claimed
        });
        assert_eq!(claimed.count(), MOST_ENDED as usize);
        assert!(claims.claim(&a, 0));
    }

    #[test]
    fn without_directories_for_all_nobody_claims() {
        let memory = memory(MOST + 1);
        let (claims, threads) = memory.claims();
        let (Some(a), None) = (threads[0], threads[MOST]) else { panic!("{MOST} directories") };
        assert!(claims.claim(&a, CHUNK) && claims.holds(&a, CHUNK));
        claims.give_up();
        assert!(!claims.holds(&a, CHUNK) && !claims.claim(&a, 0) && !claims.claim(&Writable::NONE, 0));
        assert!(claims.is_entered(&Writable::NONE, 0), "it writes by the directory of all");
    }
}
