//! Reuse that the thread knows, counted up to the next one that is to be sampled.

use super::Period;
use crate::hooks::event::reuse_counter;
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::thread::EventCounter;
use threadtalk_sigmem::Member;

/// Why reads were not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The thread does not know them.
    Unknown,
    /// One of them is to be sampled.
    Due,
}

/// So many reads more, if the thread knows where they count, before the next one to be sampled.
#[inline]
pub fn add(counter: Option<*mut EventCounter>, count: u64) -> Result<(), Refused> {
    // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in them.
    let counter = unsafe { &mut *counter.ok_or(Refused::Unknown)? };
    let all = counter.rar.saturating_add(count);
    if all >= counter.next {
        return Err(Refused::Due);
    }
    counter.rar = all;
    Ok(())
}

/// What [`add`] has counted, as long as nothing else has happened.
pub fn take_back(counter: Option<*mut EventCounter>, count: u64) {
    if let Some(counter) = counter {
        // SAFETY: as in `add`.
        unsafe { (*counter).rar -= count };
    }
}

/// Counts the reads of `n` granules from `element` on, which are `members` again and again, as far as they are reuse
/// that the thread knows and none of it is to be sampled; how many granules.
pub fn reuse(t: &mut Thread, p: &Process, period: &Period, (element, n): (u64, usize), members: &[Member]) -> usize {
    let mut n = n;
    while n > 0 {
        let each = || {
            let all = period.of_members(element, (members, n));
            all.flat_map(|(member, reads, times)| {
                reads.each(period.sites()).map(move |(site, count)| (member.state, site, times * count))
            })
        };
        // In turn: two states may have one counter.
        let mut added = 0;
        let counted: Result<(), Refused> = each().try_for_each(|(state, site, count)| {
            add(reuse_counter(t, p, state, site), count)?;
            added += 1;
            Ok(())
        });
        let Err(why) = counted else { return n };
        each().take(added).for_each(|(state, site, count)| take_back(reuse_counter(t, p, state, site), count));
        n = if why == Refused::Due { n / 2 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_not_counted_and_what_was_counted_can_be_taken_back() {
        let mut counter = EventCounter { rar: 10, next: 13 };
        let known = Some(&raw mut counter);
        assert_eq!((add(known, 2), add(known, 1), add(None, 1)), (Ok(()), Err(Refused::Due), Err(Refused::Unknown)));
        assert_eq!(counter.rar, 12);
        take_back(known, 2);
        take_back(None, 1);
        assert_eq!(counter.rar, 10);
    }
}
