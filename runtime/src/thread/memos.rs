//! The memos of a thread's loop nests: see [`threadtalk_abi::memo`].

use super::Thread;
use threadtalk_abi::memo::{MEMOS, Memo, NO_STATE};
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
        // This may have interrupted the code that the memo belongs to, so only `left` says what was counted, and it
        // is left alone. It is below 0 while that code is on its way to give back what it took too much: what is
        // counted now for that is taken off then.
        let count = memo.counted.wrapping_sub(memo.left);
        memo.counted = memo.left;
        // Half of the granules of each read are in the second state, also of those that are given back.
        let second = if memo.second == memo.counter { 0 } else { (count as i64 >> 1) as u64 };
        for (counter, count) in [(memo.counter, count.wrapping_sub(second)), (memo.second, second)] {
            // SAFETY: counters come from this thread's event cache or are its idle one; all are mapped for the life of
            // the process.
            unsafe { (*counter).rar = (*counter).rar.wrapping_add(count) };
        }
    }
}

/// Takes back what memos have not counted yet, as where a nest begins. [`settle`] comes before.
pub fn empty(memos: &mut [Memo]) {
    for memo in memos {
        // A memo without a state must have nothing left: irregular reads look as if they had found it.
        (memo.states, memo.next_states, memo.left, memo.counted) = (NO_STATE, NO_STATE, 0, 0);
    }
}

impl Thread {
    /// Empties all memos.
    pub fn forget_memos(&mut self) {
        let idle = &raw mut self.idle;
        self.header.memos_used = 0;
        self.header.ranges = 0;
        self.header.called = u64::MAX;
        self.forget_windows();
        self.mixtures.clear();
        // One by one: all at once they would pass the stack of a thread that has little.
        self.header.memos.iter_mut().for_each(|memo| *memo = Memo::new(idle));
    }
}

#[cfg(test)]
mod tests {
    use super::{empty, settle};
    use threadtalk_abi::memo::{Memo, NO_STATE};
    use threadtalk_abi::thread::EventCounter;

    #[test]
    fn what_was_taken_is_counted_once_and_the_rest_can_still_be_taken() {
        let mut counter = EventCounter { rar: 100, next: u64::MAX };
        let counter = &raw mut counter;
        let mut memos = [Memo::new(counter), Memo { states: 7, left: 40, counted: 50, ..Memo::new(counter) }];
        settle(&mut memos);
        settle(&mut memos);
        // SAFETY: a live counter.
        assert_eq!(unsafe { (*counter).rar }, 110);
        assert_eq!((memos[1].states, memos[1].left, memos[0].states), (7, 40, NO_STATE));
        memos[1].left -= 3;
        settle(&mut memos);
        // SAFETY: as above.
        assert_eq!(unsafe { (*counter).rar }, 113);
        // More than was left is taken, found in that state, and given back.
        memos[1].left = memos[1].left.wrapping_sub(39);
        settle(&mut memos);
        memos[1].left = memos[1].left.wrapping_add(39);
        settle(&mut memos);
        // SAFETY: as above.
        assert_eq!(unsafe { (*counter).rar }, 113);
        empty(&mut memos);
        settle(&mut memos);
        // SAFETY: as above.
        assert_eq!(unsafe { (*counter).rar }, 113);
        assert!(memos.iter().all(|memo| memo.left == 0 && memo.states == NO_STATE));
    }

    #[test]
    fn cells_in_two_states_count_half_in_each() {
        let mut counters = [5, 7].map(|rar| EventCounter { rar, next: u64::MAX });
        let [first, second] = counters.each_mut().map(|counter| &raw mut *counter);
        let mut memos = [Memo { states: 1 << 32 | 2, left: 30, counted: 50, second, ..Memo::new(first) }];
        settle(&mut memos);
        // SAFETY: live counters.
        assert_eq!(unsafe { ((*first).rar, (*second).rar) }, (15, 17));
        // More than was left is taken, and given back.
        memos[0].left = memos[0].left.wrapping_sub(32);
        settle(&mut memos);
        // SAFETY: as above.
        assert_eq!(unsafe { ((*first).rar, (*second).rar) }, (31, 33));
        memos[0].left = memos[0].left.wrapping_add(32);
        settle(&mut memos);
        // SAFETY: as above.
        assert_eq!(unsafe { ((*first).rar, (*second).rar) }, (15, 17));
    }
}
