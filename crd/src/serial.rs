//! What one thread wrote while it was alone, and how many others read it.

use std::collections::BTreeMap;
use threadtalk_profile::{Profile, WrittenSite};

use crate::false_sharing::written;

/// Data written serially, by the writing site.
pub struct SerialData {
    of_site: BTreeMap<u32, Written>,
}

struct Written {
    /// What is left of it in memory.
    left: WrittenSite,
    /// All true communication of it, by reader: each element that is read counts once for each.
    received: BTreeMap<u32, u64>,
}

impl Written {
    fn received(&self) -> u64 {
        self.received.values().fold(0, |sum, received| sum.saturating_add(*received))
    }

    /// Whether what is left in memory is at least the part `kept` of what was received: what was written again
    /// meanwhile may have been read by others.
    fn is_kept(&self, kept: f64) -> bool {
        self.left.read > 0 && self.left.readers as f64 >= kept * self.received() as f64
    }
}

impl SerialData {
    /// That of a profile.
    pub fn of(profile: &Profile) -> Self {
        let sites = written(profile.serial_sites()).into_iter();
        let mut of_site: BTreeMap<u32, Written> =
            sites.map(|(site, left)| (site, Written { left, received: BTreeMap::new() })).collect();
        if !of_site.is_empty() {
            for event in profile.events().filter(|e| e.is_serial()) {
                if let Some(written) = of_site.get_mut(&event.writer_site) {
                    let received = written.received.entry(event.reader).or_default();
                    *received = received.saturating_add(event.raw);
                }
            }
        }
        Self { of_site }
    }

    /// How many threads read an element of a site, in the mean of those that any has read; none if less than the part
    /// `kept` of what was received is left to tell.
    pub fn readers_per_element(&self, site: u32, kept: f64) -> Option<f64> {
        let written = self.of_site.get(&site).filter(|written| written.is_kept(kept))?;
        Some(written.left.readers as f64 / written.left.read as f64)
    }

    /// How often threads read the same elements of a site, as a part of how often they would if each read its number of
    /// elements anywhere: near 0 where they divide them among themselves, near 1 where what they look for decides. None
    /// if too little is left to tell.
    pub fn overlap(&self, site: u32, kept: f64) -> Option<f64> {
        let written = self.of_site.get(&site).filter(|written| written.is_kept(kept))?;
        let WrittenSite { elements, read, readers, .. } = written.left;
        let left = readers as f64 / written.received() as f64;
        let unread = |received: &u64| (1.0 - left * *received as f64 / elements as f64).max(0.0);
        let read_by_any = elements as f64 * (1.0 - written.received.values().map(unread).product::<f64>());
        let expected = readers as f64 - read_by_any;
        (expected >= FEWEST).then(|| readers.saturating_sub(read) as f64 / expected)
    }
}

/// Of fewer elements that several threads would read by chance nothing can be told: the number varies by its root.
const FEWEST: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_profile::Event;
    use threadtalk_profile::layout::event_flags::SERIAL;
    use threadtalk_profile::write::Contents;

    /// Of 100 elements that site 3 wrote serially, `left` are still there, each read by `readers` threads; all 100
    /// were.
    fn data(left: u64, readers: u64) -> SerialData {
        let event = |reader, flags, raw| Event { writer_site: 3, reader, flags, raw, ..Event::default() };
        let contents = Contents {
            events: (1..=readers as u32).map(|r| event(r, SERIAL, 100)).chain([event(9, 0, 5000)]).collect(),
            serial_sites: vec![WrittenSite { site: 3, lines: 7, elements: 120, read: left, readers: left * readers }],
            ..Contents::default()
        };
        SerialData::of(&Profile::from_bytes(&contents.encode()).unwrap())
    }

    #[test]
    fn what_is_left_says_how_many_threads_read_an_element() {
        assert_eq!(data(100, 1).readers_per_element(3, 0.5), Some(1.0));
        assert_eq!(data(60, 7).readers_per_element(3, 0.5), Some(7.0));
    }

    #[test]
    fn what_was_written_again_says_nothing() {
        assert_eq!(data(40, 7).readers_per_element(3, 0.5), None);
        assert_eq!(data(40, 7).readers_per_element(3, 0.4), Some(7.0));
        assert_eq!(data(0, 7).readers_per_element(3, 0.0), None);
        assert_eq!(data(100, 1).readers_per_element(4, 0.5), None);
    }
    /// Of 1000 elements that site 3 wrote serially two threads read 400 each, and these many both of them.
    fn shared(both: u64) -> SerialData {
        let event = |reader| Event { writer_site: 3, reader, flags: SERIAL, raw: 400, ..Event::default() };
        let left = WrittenSite { site: 3, lines: 70, elements: 1000, read: 800 - both, readers: 800 };
        let contents = Contents { events: vec![event(1), event(2)], serial_sites: vec![left], ..Contents::default() };
        SerialData::of(&Profile::from_bytes(&contents.encode()).unwrap())
    }

    #[test]
    fn threads_that_read_anywhere_meet_as_often_as_chance_says() {
        let overlap = |both: u64| shared(both).overlap(3, 0.5).map(|overlap| (overlap * 100.0).round());
        assert_eq!([0, 16, 160].map(overlap), [Some(0.0), Some(10.0), Some(100.0)]);
        // All 120 are read by one, or too few by several.
        assert_eq!((data(100, 1).overlap(3, 0.5), data(60, 1).overlap(4, 0.5)), (None, None));
    }
}
