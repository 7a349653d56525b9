//! Reuse that the thread knows, counted up to the next one that is to be sampled.

use super::Period;
use crate::hooks::event::reuse_counter;
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::thread::EventCounter;
use threadtalk_sigmem::{Member, MemberRead};

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
        let each = || all(period, element, (members, n));
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

/// The reuse of `n` granules, site by site of each member: its state, the site, and how often.
fn all<'a>(
    period: &'a Period,
    element: u64,
    (members, n): (&'a [Member], usize),
) -> impl Iterator<Item = (u32, u32, u64)> + 'a {
    let rest = n.checked_rem(members.len()).unwrap_or(0);
    let whole = n.checked_div(members.len()).unwrap_or(0) as u64;
    let places = members.iter().zip(period.from(element)).zip(0..);
    let reuse = places.filter(|((member, _), _)| member.read == MemberRead::Reuse);
    reuse.flat_map(move |((member, reads), place)| {
        let times = whole + u64::from(place < rest);
        let sites = reads.each(period.sites()).filter(move |_| times > 0);
        sites.map(move |(site, count)| (member.state, site, times * count))
    })
}
