//! What other threads' marks cost a thread that does not wait for their elements.
//!
//! A marked element sends everybody's reads to a hook, and stays marked for as long as its thread does not use it
//! again: with more threads than processors also while that one waits for a processor. Where that takes a thread more
//! of its time than is worth, the traces of the region in which it reads are sampled less ([`super::shares`]).

/// Reads after which the thread looks at what they took: a fifth of a millisecond.
const LOOK_AT: u32 = 1 << 13;
/// Nanoseconds that such a read takes longer than an inlined one.
const COST_NS: u64 = 25;
/// They may take one in so many nanoseconds.
const ONE_IN: u64 = 64;

/// A thread's reads of elements that others wait for. Zeroed memory is none.
#[derive(Default)]
pub struct Bystander {
    reads: u32,
    /// The thread's CPU time at the last look.
    looked_ns: u64,
}

impl Bystander {
    /// One more read, unless a look is due with it: false, and nothing was done.
    #[inline(always)]
    pub fn bears(&mut self) -> bool {
        let is_due = self.reads + 1 >= LOOK_AT;
        self.reads += u32::from(!is_due);
        !is_due
    }

    /// One more read. `cpu_ns`: the thread's CPU time. Whether such reads have taken too much of it since the last
    /// look.
    pub fn is_held_up(&mut self, cpu_ns: impl FnOnce() -> u64) -> bool {
        if self.bears() {
            return false;
        }
        let now = cpu_ns();
        let took = now.saturating_sub(self.looked_ns);
        (self.reads, self.looked_ns) = (0, now);
        took < u64::from(LOOK_AT) * COST_NS * ONE_IN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_thread_is_held_up_where_such_reads_take_more_than_their_share() {
        let mut bystander = Bystander::default();
        let mut now = 1_000_000_000;
        let mut looks = |ns_each: u64| {
            let mut looks = Vec::new();
            for _ in 0..4 * LOOK_AT {
                now += ns_each;
                let mut looked = false;
                let held_up = bystander.is_held_up(|| {
                    looked = true;
                    now
                });
                if looked {
                    looks.push(held_up);
                }
            }
            looks
        };
        assert_eq!(looks(10 * COST_NS), [false, true, true, true], "the first look has all the time before it");
        assert_eq!(looks(2 * ONE_IN * COST_NS), [false; 4]);
        assert_eq!(looks(ONE_IN * COST_NS / 2), [true; 4]);
    }

    #[test]
    fn a_read_with_which_a_look_is_due_is_not_counted_before_it() {
        let mut bystander = Bystander::default();
        assert_eq!((0..2 * LOOK_AT).filter(|_| bystander.bears()).count() as u32, LOOK_AT - 1);
        assert!(!bystander.is_held_up(|| u64::MAX));
        assert!(bystander.bears());
    }
}
