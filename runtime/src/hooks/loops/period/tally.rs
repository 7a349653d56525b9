//! How often each line reads granules in each state.

use super::{MOST_REPEATED, Period};
use crate::hooks::event::Reads;
use threadtalk_sigmem::{Member, MemberRead};

/// Pairs of a state and a site, at most.
const MOST: usize = MOST_REPEATED;

/// Reads of granules whose states repeat.
pub struct Tally {
    reads: [Reads; MOST],
    used: usize,
}

impl Tally {
    /// None.
    pub fn new() -> Self {
        Tally { reads: [Reads::NONE; MOST], used: 0 }
    }

    /// Those of [`Period::of_members`]. False: too many different ones.
    pub fn sum(&mut self, period: &Period, element: u64, members: &[Member], n: usize) -> bool {
        self.used = 0;
        for (member, reads, times) in period.of_members(element, (members, n)) {
            let first = reads.first.and_then(|number| period.sites().get(usize::from(number)));
            for (site, count) in reads.each(period.sites()) {
                let is_first = first == Some(&site) && member.read == MemberRead::Communication;
                let Some(entry) = self.entry(member, site) else { return false };
                entry.raw += times * u64::from(is_first);
                entry.rar += times * (count - u64::from(is_first));
            }
        }
        true
    }

    /// Those of reads at one site in one state, which the latest ones may be: two halves of a number. To look for it
    /// among all took longer than to count it twice.
    fn entry(&mut self, member: &Member, site: u32) -> Option<&mut Reads> {
        let latest = self.used.checked_sub(1).and_then(|latest| self.reads.get(latest));
        if latest.is_none_or(|reads| (reads.state, reads.site) != (member.state, site)) {
            *self.reads.get_mut(self.used)? = Reads { state: member.state, writer: member.writer, site, ..Reads::NONE };
            self.used += 1;
        }
        self.reads.get_mut(self.used.checked_sub(1)?)
    }

    /// All of them.
    pub fn reads(&self) -> &[Reads] {
        self.reads.get(..self.used).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Turns;
    use super::super::turns::tests::{accesses, in_loop};
    use super::*;
    use std::collections::HashMap;
    use std::vec::Vec;
    use threadtalk_abi::GRANULE;
    use threadtalk_sigmem::FreshId;

    /// Whatever the states are, and wherever one begins, the sums are those of the loop.
    #[test]
    fn counts_are_those_of_the_loop() {
        let pixels = accesses(4099, 3, &[(0, 1), (1, 1), (2, 1)]);
        let vectors = accesses(4098, 16, &[(0, 16)]);
        let members = accesses(4096, 24, &[(0, 8), (8, 2), (16, 4), (20, 1)]);
        for (accesses, length) in [(pixels, 3), (vectors, 4), (members, 6)] {
            let (iterations, in_loop) = (40, in_loop(&accesses, 40));
            let period = Period::of(Turns::of(&accesses, iterations).unwrap());
            assert_eq!(period.length(), length);
            let granules: Vec<u64> = period.turns.granules().step_by(GRANULE as usize).collect();
            let states = |at: usize| {
                let read = [MemberRead::Communication, MemberRead::Reuse, MemberRead::Nothing][at % 5 % 3];
                Member { writer: FreshId(1), from: 1, state: 10 + at as u32 % 4, read }
            };
            for (from, times) in (1..granules.len()).flat_map(|from| [(from, 1), (from, 2)]) {
                let members: Vec<Member> = (0..times * length).map(states).collect();
                for n in 0..=period.turns.within(granules[from], granules.len()).min(granules.len() - from) {
                    let mut expected: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
                    for (granule, member) in granules[from..from + n].iter().zip(members.iter().cycle()) {
                        let mut reads = in_loop.iter().filter(|(read, _)| read == granule).peekable();
                        let mut is_first = member.read == MemberRead::Communication;
                        for (_, site) in reads.by_ref().filter(|_| member.read != MemberRead::Nothing) {
                            let entry = expected.entry((member.state, *site)).or_default();
                            if is_first {
                                entry.0 += 1
                            } else {
                                entry.1 += 1
                            }
                            is_first = false;
                        }
                    }
                    let mut tally = Tally::new();
                    assert!(tally.sum(&period, granules[from], &members, n));
                    let mut found: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
                    for reads in tally.reads() {
                        let entry = found.entry((reads.state, reads.site)).or_default();
                        *entry = (entry.0 + reads.raw, entry.1 + reads.rar);
                    }
                    assert_eq!(found, expected, "{length} {from} {n}");
                }
            }
        }
    }

    #[test]
    fn too_many_states_are_none() {
        let accesses = accesses(4096, 4, &[(0, 1), (1, 1), (2, 1)]);
        let period = Period::of(Turns::of(&accesses, 40).unwrap());
        let reuse = |state| Member { state, read: MemberRead::Reuse, ..Member::NONE };
        let mut tally = Tally::new();
        let mut some = |n: u32| tally.sum(&period, 4096, &(1..=n).map(reuse).collect::<Vec<_>>(), n as usize);
        assert!(some(21) && !some(22) && some(21));
        assert_eq!(tally.reads().len(), 63);
    }
}
