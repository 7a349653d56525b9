//! What inlined code has counted and no counter knows yet.

use super::memos;
use super::patterns::Patterns;
use threadtalk_abi::memo::Memo;
use threadtalk_abi::thread::ThreadHeader;

/// That of a thread.
pub struct Pending<'t> {
    memos: &'t mut [Memo],
    patterns: &'t mut Patterns,
}

impl<'t> Pending<'t> {
    /// What memos and patterns have counted.
    #[inline]
    pub fn of(header: &'t mut ThreadHeader, patterns: &'t mut Patterns) -> Self {
        Self { memos: memos::used(header), patterns }
    }

    /// Tells the counters: before anyone asks how far a trace is.
    #[inline]
    pub fn settle(&mut self) {
        memos::settle(self.memos);
        self.patterns.settle();
    }
}
