//! The memos of a thread's loop nests: see [`threadtalk_abi::memo`].

use super::Thread;
use threadtalk_abi::memo::{MEMOS, Memo};
use threadtalk_abi::thread::ThreadHeader;

/// The memos of the running loop nest.
#[inline]
pub fn used(header: &mut ThreadHeader) -> &mut [Memo] {
    let used = (header.memos_used as usize).min(MEMOS);
    header.memos.get_mut(..used).unwrap_or(&mut [])
}

/// Tells the counters what the memos have counted: before anyone asks how far a trace is.
#[inline]
pub fn settle(memos: &mut [Memo]) {
    for memo in memos {
        // This may have interrupted the code that the memo belongs to, so only `left` says what was counted, and it is left alone.
        let count = memo.counted - memo.left;
        memo.counted = memo.left;
        // SAFETY: counters come from this thread's event cache or are its idle one; all are mapped for the life of the process.
        unsafe { (*memo.counter).rar += count };
    }
}

impl Thread {
    /// Empties all memos.
    pub fn forget_memos(&mut self) {
        let idle = &raw mut self.idle;
        self.header.memos_used = 0;
        self.header.memos = [const { Memo::new(core::ptr::null_mut()) }; MEMOS];
        self.header.memos.iter_mut().for_each(|memo| memo.counter = idle);
    }
}
