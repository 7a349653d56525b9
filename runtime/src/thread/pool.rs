//! Free control blocks: a stack that many threads push to and pop from.

use super::Thread;
use crate::process::Process;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Treiber's stack. The upper 16 bits of the head count the changes, so that a block that was popped and pushed
/// again in between (ABA) makes the exchange fail; 2^16 changes between one thread's load and exchange would be needed
/// to fool it. Blocks are never unmapped, so a stale link can be read.
pub struct Pool {
    head: AtomicU64,
    made: AtomicU32,
    all: [AtomicU64; MOST],
}

/// Most threads alive at a time that get a block of their own; others run uncounted.
pub const MOST: usize = 4096;

const ADDRESS: u64 = (1 << 48) - 1;

impl Pool {
    /// No blocks.
    pub const fn new() -> Self {
        Self { head: AtomicU64::new(0), made: AtomicU32::new(0), all: [const { AtomicU64::new(0) }; MOST] }
    }

    /// A free block, or a new one.
    pub fn take(&self, process: &Process) -> Option<*mut Thread> {
        // Acquire: partner is the exchange in `put`; the block's state as its last thread left it is visible.
        let mut head = self.head.load(Ordering::Acquire);
        while head & ADDRESS != 0 {
            let block = (head & ADDRESS) as *mut Thread;
            // SAFETY: blocks are never unmapped; a stale link fails the exchange.
            let next = unsafe { (*block).next_free.load(Ordering::Relaxed) };
            let new = (head & !ADDRESS).wrapping_add(1 << 48) | next;
            match self.head.compare_exchange_weak(head, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(block),
                Err(now) => head = now,
            }
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed) as usize;
        if number >= MOST {
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let block = Thread::create(process)?;
        // SAFETY: just made, and nobody else has seen it.
        unsafe { (*block).join(process) };
        self.all[number].store(block as u64, Ordering::Release);
        Some(block)
    }

    /// Gives a block back.
    pub(crate) fn put(&self, block: *mut Thread) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block belongs to the caller until the exchange succeeds.
            unsafe { (*block).next_free.store(head & ADDRESS, Ordering::Relaxed) };
            let new = (head & !ADDRESS).wrapping_add(1 << 48) | block as u64;
            // Release: partner is the load in `take`.
            match self.head.compare_exchange_weak(head, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// All blocks ever made, free ones included.
    pub fn all(&self) -> impl Iterator<Item = *mut Thread> + '_ {
        let made = self.made.load(Ordering::Relaxed) as usize;
        self.all.iter().take(made).map(|b| b.load(Ordering::Acquire) as *mut Thread).filter(|b| !b.is_null())
    }
}
