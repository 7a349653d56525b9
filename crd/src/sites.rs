//! Events by the two lines that made them.
//!
//! Most that is said about lines and objects needs only the sums of each pair of sites. A region of a thousand events
//! has a few pairs, so the events are looked at once, and what is left fits anywhere.

use std::collections::HashMap;
use threadtalk_profile::Event;

/// Events between two sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteCount {
    /// Reading site.
    pub reader: u32,
    /// Writing site.
    pub writer: u32,
    /// True communication.
    pub raw: u64,
    /// Reuse.
    pub rar: u64,
}

/// Pairs that are compared one by one before there is a search. Events of a reading line follow each other, and a line
/// reads what a few others wrote.
const LATEST: usize = 4;

/// The sums of some events, each pair of sites once, by (reader, writer).
pub fn sums(events: impl IntoIterator<Item = Event>) -> Vec<SiteCount> {
    let mut latest: [SiteCount; LATEST] = Default::default();
    let mut rest: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    let mut settle = |sum: SiteCount| {
        let (raw, rar) = rest.entry((sum.reader, sum.writer)).or_default();
        // Counters of a damaged file may be anything.
        (*raw, *rar) = (raw.saturating_add(sum.raw), rar.saturating_add(sum.rar));
    };
    let (mut used, mut oldest) = (0, 0);
    for event in events {
        let sites = (event.reader_site, event.writer_site);
        match latest[..used].iter_mut().find(|sum| (sum.reader, sum.writer) == sites) {
            Some(sum) => {
                sum.raw = sum.raw.saturating_add(event.raw);
                sum.rar = sum.rar.saturating_add(event.rar);
            }
            None => {
                let sum = SiteCount { reader: sites.0, writer: sites.1, raw: event.raw, rar: event.rar };
                if used < LATEST {
                    latest[used] = sum;
                    used += 1;
                } else {
                    settle(std::mem::replace(&mut latest[oldest], sum));
                    oldest = (oldest + 1) % LATEST;
                }
            }
        }
    }
    latest[..used].iter().for_each(|sum| settle(*sum));
    let sum = |((reader, writer), (raw, rar))| SiteCount { reader, writer, raw, rar };
    let mut sums: Vec<SiteCount> = rest.into_iter().map(sum).collect();
    sums.sort_unstable_by_key(|sum| (sum.reader, sum.writer));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn every_event_is_in_the_sum_of_its_sites(
            events in prop::collection::vec((0..4u32, 0..4u32, 0..100u64, prop_oneof![0..100u64, Just(u64::MAX)]), 0..60)
        ) {
            let event = |(reader_site, writer_site, raw, rar): (u32, u32, u64, u64)| {
                Event { reader_site, writer_site, raw, rar, ..Event::default() }
            };
            let mut expected: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
            for (reader, writer, raw, rar) in &events {
                let sum = expected.entry((*reader, *writer)).or_default();
                *sum = (sum.0.saturating_add(*raw), sum.1.saturating_add(*rar));
            }
            let found = sums(events.into_iter().map(event));
            let found: Vec<_> = found.iter().map(|s| ((s.reader, s.writer), (s.raw, s.rar))).collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
