//! Claims: chunks of memory that only one thread writes, as far as that thread can tell.
//!
//! A read of an own value is no event, so a thread that knows a stretch of memory to hold own values need not look at
//! its cells; until another thread writes there. Writes are inlined and leave no trace but the cells. So each thread
//! has a directory of its own for writes. Who *claims* a chunk puts a 0 there into the directories of all others, whose
//! next write then takes the slow path, which ends the claim before it touches a cell. Whole loops look at the claim by
//! themselves.
//!
//! *Shared claims* are held by any number of threads that only read: see [`shared`].
//!
//! A claimant that knows what its own loops have stored need not store it again. What others do to its cells without
//! writing the elements, they leave in bits beside the claim: see [`Claims::touch`].
//!
//! See `README.md`, "Claims", for what a holder may rely on, and why.

mod shared;

use crate::primitive::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT};

/// Threads alive at a time that can claim chunks. 64 directories are 4 TiB of address space; beyond that, nobody holds
/// a claim.
pub const MOST: usize = if cfg!(loom) { 2 } else { 64 };

/// A chunk whose claims ended so often is not claimed again: threads write it in turns.
const MOST_ENDED: u32 = 4;

/// Bits of a chunk's word that hold the number of the claimant plus 1.
const CLAIMANT: u32 = 0xff;
/// Set while there is a shared claim.
const SHARED: u32 = 1 << 8;
/// How many claims have ended, [`MOST_ENDED`] at most, is in three bits from here on...
const ENDED: u32 = 1 << 9;
const ENDED_BITS: u32 = 7 * ENDED;
/// ...and how many shared ones above them.
const SHARED_ENDED: u32 = 1 << 12;

/// Bytes of memory for each bit that others set: a line of cells.
pub const LINE: u64 = 64;
/// Numbers of such bits for each chunk.
pub const TOUCHED: usize = (CHUNK_BYTES / LINE / 64) as usize;

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

    /// What a chunk's word becomes when the thread writes there.
    #[inline]
    fn after_write(&self, word: u32) -> u32 {
        let claimant = word & CLAIMANT;
        let ended = if claimant == 0 || claimant == self.number + 1 { word } else { word - claimant + ENDED };
        if ended & SHARED == 0 { ended } else { ended - SHARED + SHARED_ENDED }
    }
}

/// Who claims what.
pub struct Claims {
    words: *const AtomicU32,
    touched: *const AtomicU64,
    directories: [AtomicPtr<AtomicU64>; MOST],
    joined: AtomicU32,
    void: AtomicBool,
}

// SAFETY: words, bits and directories consist of atomics that live as long as the claims (contracts of `new`, `join`).
unsafe impl Send for Claims {}
// SAFETY: as above; every method takes `&self`.
unsafe impl Sync for Claims {}

impl Claims {
    /// # Safety
    /// `words` points to a zeroed word for each chunk of the address space, `touched` to [`TOUCHED`] zeroed numbers for
    /// each; they live as long as the claims, and nobody else writes them.
    pub unsafe fn new(words: *const AtomicU32, touched: *const AtomicU64) -> Self {
        Self {
            words,
            touched,
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
    /// by its directory: another thread's claim ends, and any shared one.
    #[cold]
    pub fn enter(&self, thread: &Writable, address: u64, offset: u64) {
        let Some(entry) = thread.entry(address) else { return };
        entry.store(offset, Ordering::Relaxed);
        // SeqCst: partners are the fences in `claim` and `share`. Either the claim is seen here, or the entry there,
        // which is emptied again.
        fence(Ordering::SeqCst);
        self.end(thread, address);
    }

    /// A loop of the thread, whose accesses are known, is about to write cells of the chunk of `address`, and
    /// synchronises with nobody before it has: another thread's claim ends, and any shared one.
    #[inline]
    pub fn overwrite(&self, thread: &Writable, address: u64) {
        let found = self.word(address).load(Ordering::Relaxed);
        if found != thread.after_write(found) {
            self.end(thread, address);
        }
    }

    #[cold]
    fn end(&self, thread: &Writable, address: u64) {
        let word = self.word(address);
        let mut found = word.load(Ordering::Relaxed);
        loop {
            let ended = thread.after_write(found);
            if found == ended {
                return;
            }
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
        if (found & ENDED_BITS) / ENDED >= MOST_ENDED
            || word.compare_exchange(found, claimed, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return false;
        }
        self.empty(address, Some(thread.number));
        true
    }

    /// From now on, inlined writes of all threads but one in the chunk of `address` take the slow path.
    fn empty(&self, address: u64, but: Option<u32>) {
        // SeqCst: partner is the fence in `enter`.
        fence(Ordering::SeqCst);
        let joined = self.joined.load(Ordering::Relaxed);
        for (directory, number) in self.directories.iter().take(joined as usize).zip(0..) {
            let other = Writable { entries: directory.load(Ordering::Relaxed), number };
            if but == Some(number) {
                continue;
            }
            if let Some(entry) = other.entry(address).filter(|entry| entry.load(Ordering::Relaxed) != 0) {
                entry.store(0, Ordering::Relaxed);
            }
        }
    }

    /// The thread's inlined writes in the chunk of `address` are to take the slow path again.
    pub fn leave(&self, thread: &Writable, address: u64) {
        if let Some(entry) = thread.entry(address) {
            entry.store(0, Ordering::Relaxed);
        }
    }

    /// The bits of 64 lines, of which `address` is in one.
    #[inline]
    fn lines(&self, address: u64) -> &AtomicU64 {
        // SAFETY: callers have found the address in the directory of cells, which is as long.
        unsafe { &*self.touched.add((address / (64 * LINE)) as usize) }
    }

    /// Cells of `from .. to`, which lies in one chunk that has some, have changed though nobody wrote the elements:
    /// these were read, or their memory has ended. Who claims the chunk may want to know.
    #[inline]
    pub fn touch(&self, from: u64, to: u64) {
        if self.word(from).load(Ordering::Relaxed) & CLAIMANT == 0 {
            return;
        }
        let mut at = from;
        while at < to {
            let end = ((at | (64 * LINE - 1)) + 1).min(to);
            let (lines, bits) = (self.lines(at), line_bits(at, end));
            // Readers come in crowds, and the first one has set the bit.
            if bits & !lines.load(Ordering::Relaxed) != 0 {
                lines.fetch_or(bits, Ordering::Relaxed);
            }
            at = end;
        }
    }

    /// [`Claims::touch`] of elements that all lie in the line of `address`.
    #[inline(always)]
    pub fn touch_line(&self, address: u64) {
        if self.word(address).load(Ordering::Relaxed) & CLAIMANT == 0 {
            return;
        }
        let (lines, bit) = (self.lines(address), line_bits(address, address + 1));
        if bit & !lines.load(Ordering::Relaxed) != 0 {
            lines.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Which of the eight lines of the 512 bytes of `address` were touched, a bit for each.
    #[inline]
    pub fn touched(&self, address: u64) -> u8 {
        (self.lines(address).load(Ordering::Relaxed) >> (address / LINE % 64 / 8 * 8)) as u8
    }

    /// The claimant relies on nothing in these lines of the 512 bytes of `address`, and wants to know from now on.
    #[cold]
    pub fn ask(&self, address: u64, lines: u8) {
        let bits = u64::from(lines) << (address / LINE % 64 / 8 * 8);
        self.lines(address).fetch_and(!bits, Ordering::Relaxed);
    }

    /// Whether the thread's claim has held since it was made.
    #[inline]
    pub fn holds(&self, thread: &Writable, address: u64) -> bool {
        let word = self.word(address).load(Ordering::Relaxed);
        word & CLAIMANT == thread.number + 1 && !thread.entries.is_null() && !self.void.load(Ordering::Relaxed)
    }
}

/// The bits of the lines that `from .. to` touches, which lies in the memory of one number.
#[inline]
fn line_bits(from: u64, to: u64) -> u64 {
    (u64::MAX << (from / LINE % 64)) & (u64::MAX >> (63 - (to - 1) / LINE % 64))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Two chunks and some threads' directories for them.
    pub struct Memory {
        words: Vec<AtomicU32>,
        touched: Vec<AtomicU64>,
        entries: Vec<Vec<AtomicU64>>,
    }

    pub fn memory(threads: usize) -> Memory {
        let entries = || (0..2).map(|_| AtomicU64::new(0)).collect();
        Memory {
            words: (0..2).map(|_| AtomicU32::new(0)).collect(),
            touched: (0..2 * TOUCHED).map(|_| AtomicU64::new(0)).collect(),
            entries: (0..threads).map(|_| entries()).collect(),
        }
    }

    impl Memory {
        pub fn claims(&self) -> (Claims, Vec<Option<Writable>>) {
            // SAFETY: words and entries for two chunks; the tests use no other addresses.
            unsafe {
                let claims = Claims::new(self.words.as_ptr(), self.touched.as_ptr());
                let threads = self.entries.iter().map(|entries| claims.join(entries.as_ptr())).collect();
                (claims, threads)
            }
        }
    }

    pub const CHUNK: u64 = 1 << CHUNK_SHIFT;

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
    fn loops_of_another_thread_end_a_claim_without_its_entry_and_those_of_the_holder_do_not() {
        let memory = memory(2);
        let (claims, threads) = memory.claims();
        let [Some(a), Some(b)] = threads[..] else { panic!("two directories") };
        assert!(claims.claim(&a, CHUNK));
        claims.overwrite(&a, CHUNK + 8);
        claims.overwrite(&b, 0);
        assert!(claims.holds(&a, CHUNK));
        claims.overwrite(&b, CHUNK + 8);
        assert!(!claims.holds(&a, CHUNK) && !claims.is_entered(&b, CHUNK));
        claims.enter(&a, 0, 40);
        claims.leave(&a, 0);
        assert!(!claims.is_entered(&a, 0), "its own inlined writes take the slow path again");
    }

    #[test]
    fn the_lines_of_a_claimed_chunk_that_others_touch_are_told_until_the_holder_asks_anew() {
        let memory = memory(1);
        let (claims, threads) = memory.claims();
        let [Some(a)] = threads[..] else { panic!("a directory") };
        claims.touch(CHUNK, CHUNK + 64);
        claims.touch_line(CHUNK);
        assert_eq!(claims.touched(CHUNK), 0, "nobody wants to know");
        assert!(claims.claim(&a, CHUNK));
        let mut lines = [0u8; (CHUNK_BYTES / 512) as usize];
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..2_000 {
            let from = 4 * rng.u64(0..CHUNK_BYTES / 4);
            let most = [4, 300, 20_000][rng.usize(0..3)];
            let to = (from + 4 * rng.u64(1..3_000)).min(CHUNK_BYTES).min(from + most);
            if (from / 64, to - from) == ((to - 1) / 64, 4) {
                claims.touch_line(CHUNK + from);
            } else {
                claims.touch(CHUNK + from, CHUNK + to);
            }
            (from / 64..=(to - 1) / 64).for_each(|line| lines[line as usize / 8] |= 1 << (line % 8));
            let asked = rng.usize(0..lines.len());
            let some = rng.u8(..);
            claims.ask(CHUNK + 512 * asked as u64 + rng.u64(0..512), some);
            lines[asked] &= !some;
            for (block, lines) in (0..).zip(lines) {
                assert_eq!(claims.touched(CHUNK + 512 * block + 200), lines, "block {block}");
            }
        }
        assert_eq!(claims.touched(0), 0, "the other chunk's");
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
