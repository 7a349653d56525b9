//! True communication by reading thread and region.

use threadtalk_profile::Profile;

use crate::regions::Tree;

/// Sums of threads and regions that are added to at a time, direct-mapped: events of a region mostly follow each other,
/// those of its threads by turns.
const SUMS: usize = 1024;

/// Thread, region and events, with few pairs more than once: a profile may have a million events, and each takes five
/// times as long where all are added up.
pub fn sums(profile: &Profile, tree: &Tree) -> Vec<(u32, u32, u64)> {
    let (mut sums, mut latest) = (Vec::new(), vec![(0, 0, 0u64); SUMS]);
    for event in profile.events() {
        let region = tree.node(event.region);
        // Fibonacci hashing: regions next to each other get places far apart.
        let place = event.reader.wrapping_add(region.wrapping_mul(0x9e37_79b1)) as usize % SUMS;
        let sum = &mut latest[place];
        if (sum.0, sum.1) != (event.reader, region) {
            sums.push(std::mem::replace(sum, (event.reader, region, 0)));
        }
        sum.2 = sum.2.saturating_add(event.raw);
    }
    sums.append(&mut latest);
    sums.retain(|(_, _, events)| *events > 0);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regions;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use threadtalk_profile::write::Contents;
    use threadtalk_profile::{Event, UserRegion};

    /// The number of one of three regions that are not in each other.
    fn region(number: u32) -> u32 {
        u32::MAX - 8 + number
    }

    /// Events of these readers and regions, in this order.
    fn summed(events: &[(u32, u32, u64)]) -> Vec<(u32, u32, u64)> {
        let user = |n| UserRegion { id: region(n), parent: None, name: n.to_string() };
        let event = |&(reader, n, raw)| Event { writer: 5000, reader, region: region(n), raw, ..Event::default() };
        let contents = Contents {
            user_regions: (0..3).rev().map(user).collect(),
            events: events.iter().map(event).collect(),
            ..Contents::default()
        };
        let profile = Profile::from_bytes(&contents.encode()).unwrap();
        sums(&profile, &regions::merge(&profile))
    }

    #[test]
    fn threads_that_read_by_turns_are_summed() {
        let events: Vec<_> = (0..600).map(|i| (i % 3, i / 300, 2)).collect();
        let mut found = summed(&events);
        found.sort_unstable();
        // The region with the largest number is the first one.
        assert_eq!(found, [(0, 2, 200), (0, 3, 200), (1, 2, 200), (1, 3, 200), (2, 2, 200), (2, 3, 200)]);
    }

    proptest! {
        // More pairs than sums, some of them in one place.
        #[test]
        fn nothing_is_lost(events in prop::collection::vec((0..3 * SUMS as u32, 0..3u32, 0..9u64), 0..200)) {
            let add = |list: &[(u32, u32, u64)], node: fn(u32) -> u32| {
                let mut all: BTreeMap<(u32, u32), u64> = BTreeMap::new();
                list.iter().filter(|e| e.2 > 0).for_each(|e| *all.entry((e.0, node(e.1))).or_default() += e.2);
                all
            };
            let twice = [&events[..], &events[..]].concat();
            prop_assert_eq!(add(&summed(&twice), |node| node), add(&twice, |number| 3 - number));
        }
    }
}
