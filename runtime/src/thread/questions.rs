//! Which short loops this thread asks about ([`threadtalk_abi::credit`]).

use core::sync::atomic::{AtomicU8, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::credit;
use threadtalk_abi::loops::{Access, WRITE};
use threadtalk_abi::window::{SHORTEST, SHORTEST_ASKED};

/// Questions of a trial. In vain they cost some 250 ns each, less than the hooks that come between two trials.
const TRIAL: u32 = 32;
/// Looks at the clock ([`phases`](crate::phases), every 64th hook) between two trials; twice as many after each that
/// found nothing.
const PAUSES: (u32, u32) = (4, 4096);
/// Questions that were worth it, less those that were not, with which a loop gets a credit, or loses it if they are as
/// many below zero. Of a block's rows all reads but the first are reuse: its loops had credits again and again, and
/// took 7 % longer, while the first question decided.
const ENOUGH: i8 = 4;
/// The most that they count for.
const MOST: i8 = 8;
/// Places where they are counted.
const PLACES: usize = 64;

/// What a question costs, and what the sequence of a read of new values does, for each access and each granule of it
/// (`benchmarks/NOTES.md`): in nanoseconds, but only what they are to each other matters.
const QUESTION: u64 = 250;
/// See [`QUESTION`].
const READ: (u64, u64) = (15, 10);

/// A thread's part.
pub struct Questions {
    /// The question that is being answered has read values that the thread had not read.
    news: bool,
    /// Questions left of the running trial; 0: there is none.
    left: u32,
    /// The trial has found a loop.
    found: bool,
    /// Looks until the next trial.
    looks: u32,
    /// Looks between two.
    pause: u32,
    /// Questions that were worth it, less those that were not, for each place.
    scores: [i8; PLACES],
}

impl Questions {
    /// Of a thread that begins.
    pub const fn new() -> Self {
        Self { news: false, left: 0, found: false, looks: PAUSES.0, pause: PAUSES.0, scores: [0; PLACES] }
    }

    /// The question that is being answered reads values that another thread has written since.
    #[inline]
    pub fn meets_news(&mut self) {
        self.news = true;
    }

    /// A look at the clock; `least_asked`, here and below, is the [header's](threadtalk_abi::thread::ThreadHeader).
    pub fn look(&mut self, least_asked: &mut u64) {
        if self.left > 0 {
            return;
        }
        self.looks -= 1;
        if self.looks == 0 {
            (self.left, self.found) = (TRIAL, false);
            *least_asked = SHORTEST;
        }
    }

    /// A question is answered. All that is stored in `loop_credit` is relaxed: it is a hint, and any value of it right.
    #[inline]
    pub fn answered(&mut self, least_asked: &mut u64, loop_credit: &AtomicU8, accesses: &[Access], iterations: u64) {
        let news = core::mem::take(&mut self.news);
        if iterations < SHORTEST_ASKED {
            self.weigh(least_asked, loop_credit, news, accesses);
        }
    }

    #[inline(never)]
    fn weigh(&mut self, least_asked: &mut u64, loop_credit: &AtomicU8, news: bool, accesses: &[Access]) {
        let place = core::ptr::from_ref(loop_credit).addr() % PLACES;
        let Some(score) = self.scores.get_mut(place) else { return };
        *score = if news { (*score + 1).min(MOST) } else { (*score - 1).max(-MOST) };
        let known = loop_credit.load(Ordering::Relaxed);
        if news && *score >= ENOUGH && known == 0 {
            loop_credit.store(credit::from(least(accesses)), Ordering::Relaxed);
            self.found = true;
        } else if *score <= -ENOUGH && known > 0 {
            loop_credit.store(0, Ordering::Relaxed);
            self.pause = (2 * self.pause).min(PAUSES.1);
        }
        if self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                self.pause = if self.found { PAUSES.0 } else { (2 * self.pause).min(PAUSES.1) };
                self.looks = self.pause;
                *least_asked = SHORTEST_ASKED;
            }
        }
    }
}

/// With so many iterations a question about these accesses is worth it, if what they read is new. Cold: it divides,
/// once for each credit that is given.
#[cold]
#[inline(never)]
fn least(accesses: &[Access]) -> u64 {
    let reads = accesses.iter().filter(|access| access.flags & WRITE == 0);
    let saved: u64 = reads.map(|access| READ.0 + READ.1 * u64::from(access.bytes).div_ceil(GRANULE)).sum();
    QUESTION.div_ceil(saved.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(bytes: &[u32]) -> std::vec::Vec<Access> {
        bytes.iter().map(|&bytes| Access { address: 0, stride: 8, bytes, flags: 0, site: 1, window: 0 }).collect()
    }

    #[test]
    fn wide_and_many_reads_need_fewer_iterations() {
        let least = [&[4][..], &[8], &[8, 8], &[32, 32], &[64, 64, 64, 64]].map(|bytes| least(&reads(bytes)));
        assert_eq!(least, [10, 8, 4, 2, 1]);
        let writes = [Access { flags: WRITE, ..reads(&[8])[0] }];
        assert_eq!(credit::from(super::least(&writes)), 0, "what only writes reads nothing new");
    }

    /// Asks until a trial is over, about loops that are worth it or not; how long the next one is waited for.
    fn trial(q: &mut Questions, least_asked: &mut u64, loop_credit: &AtomicU8, news: bool) -> u32 {
        let mut looks = 0;
        while *least_asked == SHORTEST_ASKED {
            q.look(least_asked);
            looks += 1;
        }
        assert_eq!(*least_asked, SHORTEST);
        for asked in 0..TRIAL {
            assert_eq!(*least_asked, SHORTEST, "{asked}");
            if news {
                q.meets_news();
            }
            q.answered(least_asked, loop_credit, &reads(&[8]), 5);
        }
        assert_eq!(*least_asked, SHORTEST_ASKED);
        looks
    }

    #[test]
    fn trials_become_rare_where_nothing_is_new_and_frequent_again_where_something_is() {
        let (mut q, mut least_asked) = (Questions::new(), SHORTEST_ASKED);
        let loop_credit = AtomicU8::new(0);
        let mut waited = std::vec::Vec::new();
        for _ in 0..4 {
            waited.push(trial(&mut q, &mut least_asked, &loop_credit, false));
        }
        assert_eq!(waited, [4, 8, 16, 32]);
        assert_eq!(loop_credit.load(Ordering::Relaxed), 0);
        assert_eq!(trial(&mut q, &mut least_asked, &loop_credit, true), 64);
        assert_eq!(loop_credit.load(Ordering::Relaxed), 24, "8 iterations are enough");
        assert_eq!(trial(&mut q, &mut least_asked, &loop_credit, true), 4);
        assert_eq!(trial(&mut q, &mut least_asked, &loop_credit, true), 8, "it had its credit before");
    }

    #[test]
    fn a_credit_comes_with_four_questions_that_were_worth_it_and_goes_with_as_many_that_were_not() {
        let (mut q, mut least_asked) = (Questions::new(), SHORTEST_ASKED);
        let loop_credit = AtomicU8::new(0);
        let mut ask = |news: bool, iterations: u64| {
            if news {
                q.meets_news();
            }
            q.answered(&mut least_asked, &loop_credit, &reads(&[8]), iterations);
            loop_credit.load(Ordering::Relaxed)
        };
        let rows_of_a_block = (0..100).map(|i| ask(i % 16 == 0, 9));
        assert!(rows_of_a_block.into_iter().all(|found| found == 0), "all reads but the first are reuse");
        let credits: std::vec::Vec<u8> = (0..14).map(|_| ask(true, 9)).collect();
        assert_eq!(credits, [[0; 11].as_slice(), &[24; 3]].concat(), "from 8 below zero to 4");
        assert_eq!(ask(true, 32), 24, "longer ones are asked about without, and say nothing");
        let credits: std::vec::Vec<u8> = (0..11).map(|_| ask(false, 9)).collect();
        assert_eq!(credits, [[24; 9].as_slice(), &[0; 2]].concat());
    }
}
