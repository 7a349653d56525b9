//! Which processor each thread runs on (`bind=3,0-2`).
//!
//! A thread binds itself when it begins, before its start routine. The first thread is bound when it creates its first
//! thread and not before: C++ and OpenMP runtimes ask for the processors they may use to find out how many threads to
//! make, and a bound process has one.

use super::message::Line;
use crate::memory;
use core::sync::atomic::{AtomicBool, Ordering};

/// Processors that fit into a mask. Linux is built for 8192 at most.
const PROCESSORS: usize = 8192;
/// Entries of a list, ranges counted by their members: more threads than that take turns on it.
const ENTRIES: u64 = 1 << 16;

/// The processors of the logical threads, by number; beyond the end it begins again.
pub struct Binding {
    processors: *const u16,
    count: u32,
    first_is_bound: AtomicBool,
    complained: AtomicBool,
}

impl Binding {
    /// No thread is bound.
    pub const fn none() -> Self {
        Self {
            processors: core::ptr::null(),
            count: 0,
            first_is_bound: AtomicBool::new(true),
            complained: AtomicBool::new(false),
        }
    }

    /// From a list that [`count`] accepts. `None` without memory.
    pub fn new(list: &[u8]) -> Option<Self> {
        let entries = count(list)?;
        let table = memory::reserve(entries as usize * size_of::<u16>())?.as_ptr().cast::<u16>();
        let mut next = 0;
        each(list, |processor| {
            // SAFETY: the table has room for all entries, which are counted by the same function.
            unsafe { table.add(next).write(processor) };
            next += 1;
        });
        let binding = Self::none();
        binding.first_is_bound.store(false, Ordering::Relaxed);
        Some(Self { processors: table, count: entries as u32, ..binding })
    }

    /// The calling thread, which is this logical one, begins.
    pub fn thread_begins(&self, thread: u32) {
        let Some(entry) = thread.checked_rem(self.count) else { return };
        // SAFETY: below the count, and the table is never unmapped.
        let processor = unsafe { *self.processors.add(entry as usize) };
        let mut mask = [0u64; PROCESSORS / 64];
        if let Some(word) = mask.get_mut(usize::from(processor) / 64) {
            *word |= 1 << (processor % 64);
        }
        // SAFETY: a mask of the size that is said; 0 is the calling thread.
        let failed = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&mask), mask.as_ptr()) } != 0;
        if failed && !self.complained.swap(true, Ordering::Relaxed) {
            Line::new()
                .text(b"cannot bind thread ")
                .number(thread.into())
                .text(b" to processor ")
                .number(processor.into())
                .text(b", which this process may not use; it stays where it is")
                .print();
        }
    }

    /// The calling thread, which is this logical one, is about to create a thread.
    pub fn thread_creates(&self, thread: u32) {
        // The first thread alone does this, so the two steps need not be one.
        if thread == 0 && !self.first_is_bound.load(Ordering::Relaxed) {
            self.first_is_bound.store(true, Ordering::Relaxed);
            self.thread_begins(0);
        }
    }
}

/// Entries of a list such as `3,0-2`; none if it is no list or too long.
pub fn count(list: &[u8]) -> Option<u64> {
    let mut entries = 0u64;
    let whole = each(list, |_| entries += 1);
    Some(entries).filter(|n| whole && *n <= ENTRIES)
}

/// Calls `found` for each processor in the order of the list. False if it is none; then some may have been found.
fn each(list: &[u8], mut found: impl FnMut(u16)) -> bool {
    list.split(|&b| b == b',').all(|part| {
        let mut ends = part.splitn(2, |&b| b == b'-').map(number);
        let Some(Some(first)) = ends.next() else { return false };
        let Some(last) = ends.next().unwrap_or(Some(first)) else { return false };
        (first..=last).for_each(&mut found);
        first <= last
    })
}

fn number(digits: &[u8]) -> Option<u16> {
    // The library's parser takes a sign.
    let text = core::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    text.parse().ok().filter(|n| usize::from(*n) < PROCESSORS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn listed(list: &str) -> Option<Vec<u16>> {
        let mut all = Vec::new();
        each(list.as_bytes(), |processor| all.push(processor)).then_some(all)
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(listed("3,0-2,3"), Some([3, 0, 1, 2, 3].into()));
        assert_eq!(listed("8191"), Some([8191].into()));
        assert_eq!(count(b"3,0-2,3"), Some(5));
        for wrong in ["", ",", "1,", "2-1", "1-", "-1", "+1", "1-+2", "8192", "1-2-3", "x", "1 2"] {
            assert_eq!((listed(wrong), count(wrong.as_bytes())), (None, None), "{wrong:?}");
        }
    }

    #[test]
    fn a_list_that_is_too_long_is_refused() {
        let long = std::vec!["0-8191"; 9].join(",");
        assert_eq!(count(&long.as_bytes()[..long.len() - 7]), Some(ENTRIES));
        assert_eq!(count(long.as_bytes()), None);
    }
}
