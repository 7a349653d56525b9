//! Threads that have ended, a bit for each.
//!
//! Whoever has ended reads nothing any more, so whether it was among a value's readers makes no event first read or
//! reuse. Programs that make a new team for each phase would have a set of readers for each subset of all their teams
//! together, of which nearly every element has another one: such sets leave out who has ended
//! ([`crate::States::with_reader`]).

use crate::primitive::{AtomicU64, Ordering};

/// Words of the table. Threads with higher numbers never count as ended.
pub const WORDS: usize = if cfg!(loom) { 1 } else { 1 << 10 };

/// The table.
pub(crate) struct Ended {
    words: *const AtomicU64,
}

// SAFETY: the words are atomics that live as long as the table (contract of `new`).
unsafe impl Send for Ended {}
// SAFETY: as above.
unsafe impl Sync for Ended {}

impl Ended {
    /// # Safety
    /// `words` points to [`WORDS`] words, zero at first, that live as long as the table and that nobody else writes.
    pub unsafe fn new(words: *const AtomicU64) -> Self {
        Self { words }
    }

    /// The thread has ended.
    ///
    /// Relaxed, as the loads: who does not see it yet takes the thread for a living one, which costs a state.
    pub fn add(&self, thread: u32) {
        if let Some(word) = self.word(thread / 64) {
            word.fetch_or(1 << (thread % 64), Ordering::Relaxed);
        }
    }

    /// Whether the thread is known to have ended.
    pub fn contains(&self, thread: u32) -> bool {
        self.bits(thread / 64) >> (thread % 64) & 1 == 1
    }

    /// A bit for each of 64 threads from `64 * at` on.
    pub fn bits(&self, at: u32) -> u64 {
        self.word(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn word(&self, at: u32) -> Option<&AtomicU64> {
        // SAFETY: below the number of words.
        ((at as usize) < WORDS).then(|| unsafe { &*self.words.add(at as usize) })
    }
}
