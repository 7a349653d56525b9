//! A thread's counters of control flow: a row of all counters for each level ([`super::levels`]).
//!
//! The rows are one reservation of addresses; pages come as they are counted in. So neither a module that is loaded
//! late nor a new level moves anything under a running thread.

use super::levels::MOST;
use crate::memory;
use crate::module::COLUMN;
use crate::process::Process;
use crate::thread::Thread;
use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

const WORDS: usize = MOST as usize / 64;

/// So many counters at a time that sums of them stay in the first-level cache, beside the rows that are added up.
const CHUNK: u32 = 256;
/// So many that their sums have registers while all rows are gone through.
const GROUP: usize = 16;

/// Counters of a row that are added at once.
#[repr(C, align(64))]
struct Group([u64; GROUP]);

const _: () = assert!(COLUMN.is_multiple_of(GROUP) && (CHUNK as usize).is_multiple_of(GROUP));

/// The rows, and which of them may hold anything.
pub struct Columns {
    /// Row of level 1; null as long as no module has counters, or without addresses.
    rows: AtomicPtr<u64>,
    /// Bit `level - 1`: the thread has been there.
    seen: [AtomicU64; WORDS],
}

impl Columns {
    /// No rows.
    pub const fn new() -> Self {
        Self { rows: AtomicPtr::new(ptr::null_mut()), seen: [const { AtomicU64::new(0) }; WORDS] }
    }

    /// Makes the rows, if any module has counters. Any thread may call this for any other.
    pub fn make_room(&self, process: &Process) {
        if process.sites.counters() == 0 || !self.rows.load(Ordering::Relaxed).is_null() {
            return;
        }
        let bytes = MOST as usize * COLUMN * size_of::<u64>();
        let Some(fresh) = memory::reserve(bytes) else { return };
        let made =
            self.rows.compare_exchange(ptr::null_mut(), fresh.as_ptr().cast(), Ordering::AcqRel, Ordering::Acquire);
        if made.is_err() {
            // SAFETY: just reserved; nobody else knows of it.
            unsafe { memory::release(fresh, bytes) };
        }
    }

    /// A new logical thread: it has been nowhere yet. What it finds in the rows is 0, because [`Self::drain`] left it
    /// so.
    ///
    /// # Safety
    /// `thread` is the calling thread's block.
    pub unsafe fn begin(thread: *mut Thread, process: &Process) {
        // SAFETY: the caller's promise; only atomics are touched.
        let own = unsafe { &(*thread).execution.columns };
        own.make_room(process);
        for word in &own.seen {
            word.store(0, Ordering::Relaxed);
        }
        loop {
            let level = process.levels.level();
            // SAFETY: the caller's promise.
            unsafe { Self::switch(thread, process, level) };
            // SeqCst: as in `Levels::publish`.
            fence(Ordering::SeqCst);
            if process.levels.level() == level {
                return;
            }
        }
    }

    /// A thread counts in the row of `level` from now on.
    ///
    /// # Safety
    /// `thread` is a control block.
    pub unsafe fn switch(thread: *mut Thread, process: &Process, level: u32) {
        // SAFETY: blocks are never unmapped; the owner reads the field as a plain aligned word.
        let (own, shown) =
            unsafe { (&(*thread).execution.columns, AtomicPtr::from_ptr(&raw mut (*thread).header.column)) };
        let row = if process.is_paused() { None } else { own.row(level) };
        let Some(row) = row else {
            shown.store(process.levels.waste(), Ordering::Relaxed);
            return;
        };
        let (word, bit) = ((level - 1) as usize / 64, 1 << ((level - 1) % 64));
        if let Some(word) = own.seen.get(word).filter(|w| w.load(Ordering::Relaxed) & bit == 0) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        // Relaxed: the owner loads it for every bump; one that is under way still counts at the old level.
        shown.store(row.as_ptr(), Ordering::Relaxed);
    }

    /// Row of a level from 1 to [`MOST`].
    fn row(&self, level: u32) -> Option<NonNull<u64>> {
        let rows = NonNull::new(self.rows.load(Ordering::Acquire))?;
        // SAFETY: inside the reservation for MOST rows.
        (1..=MOST).contains(&level).then(|| unsafe { rows.add((level - 1) as usize * COLUMN) })
    }

    /// Levels at which the thread has been, with their rows.
    pub fn rows(&self) -> impl Iterator<Item = (u32, NonNull<u64>)> + '_ {
        let bits = |word: &AtomicU64| {
            let mut left = word.load(Ordering::Relaxed);
            core::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(bit)
            })
        };
        let levels = (0..).zip(&self.seen).flat_map(move |(word, seen)| bits(seen).map(move |bit| word * 64 + bit + 1));
        levels.filter_map(|level| Some((level, self.row(level)?)))
    }

    /// Calls `act(level, counter, count)` for all counts. `take`: they become 0; only the owner may, and only when it
    /// counts no more.
    pub fn drain(&self, counters: u32, take: bool, mut act: impl FnMut(u32, u32, u64)) {
        for (level, row) in self.rows() {
            for counter in 0..counters {
                // SAFETY: below the number of registered counters, which the row is reserved for. Another thread may be
                // counting: a volatile read of an aligned word sees one of the values that it had.
                let count = unsafe { row.add(counter as usize).read_volatile() };
                if count == 0 {
                    continue;
                }
                act(level, counter, count);
                if take {
                    // SAFETY: as above; the caller owns the row.
                    unsafe { row.add(counter as usize).write(0) };
                }
            }
        }
    }

    /// Calls `act(first, counts)` with the sums over all levels, of so many counters from the first on.
    pub fn totals(&self, counters: u32, mut act: impl FnMut(u32, &[u64])) {
        let mut room = [0u64; CHUNK as usize];
        let mut first = 0;
        while first < counters {
            let length = (counters - first).min(CHUNK);
            let sums = room.get_mut(..length as usize).unwrap_or(&mut []);
            sums.fill(0);
            for (_, row) in self.rows() {
                for (sum, counter) in sums.iter_mut().zip(first as usize..) {
                    // SAFETY: as in `drain`.
                    *sum += unsafe { row.add(counter).read_volatile() };
                }
            }
            act(first, sums);
            first += length;
        }
    }

    /// [`Self::totals`] of the calling thread's own columns, which nobody else changes. One row is handed on as it is,
    /// of several so many counters at a time are added up in registers: 16 threads have 16 rows.
    ///
    /// # Safety
    /// The columns are the calling thread's.
    pub unsafe fn own_totals(&self, counters: u32, mut act: impl FnMut(u32, &[u64])) {
        let mut room = [ptr::null(); MOST as usize];
        let mut count = 0;
        for (place, (_, row)) in room.iter_mut().zip(self.rows()) {
            *place = row.as_ptr().cast_const().cast::<Group>();
            count += 1;
        }
        let rows = room.get(..count).unwrap_or(&[]);
        let mut sums = [[0; GROUP]; CHUNK as usize / GROUP];
        let mut first = 0;
        while first < counters {
            let length = (counters - first).min(CHUNK) as usize;
            let at = first as usize / GROUP;
            let totals = match rows {
                // SAFETY: below the number of registered counters, as in `drain`; the caller's promise.
                [row] => unsafe { slice::from_raw_parts(row.add(at).cast(), length) },
                _ => {
                    for (sums, group) in sums.iter_mut().zip(at..).take(length.div_ceil(GROUP)) {
                        // SAFETY: as above; a row is whole groups long, and begins at the border of a page.
                        let counts = rows.iter().map(|row| unsafe { &*row.add(group) });
                        *sums = counts.fold([0; GROUP], |mut sums, Group(counts)| {
                            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                            sums
                        });
                    }
                    sums.as_flattened().get(..length).unwrap_or(&[])
                }
            };
            act(first, totals);
            first += CHUNK;
        }
    }
}
