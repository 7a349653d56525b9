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
    /// All true communication of it: each element that is read counts once for each reader.
    received: u64,
}

impl SerialData {
    /// That of a profile.
    pub fn of(profile: &Profile) -> Self {
        let sites = written(profile.serial_sites()).into_iter();
        let mut of_site: BTreeMap<u32, Written> =
            sites.map(|(site, left)| (site, Written { left, received: 0 })).collect();
        if !of_site.is_empty() {
            for event in profile.events().filter(|e| e.is_serial()) {
                if let Some(written) = of_site.get_mut(&event.writer_site) {
                    written.received = written.received.saturating_add(event.raw);
                }
            }
        }
        Self { of_site }
    }

    /// How many threads read an element of a site, in the mean of those that any has read. Known from what is left in
    /// memory: none if less than the part `kept` of what was received is, since what was written again meanwhile may
    /// have been read by others.
    pub fn readers_per_element(&self, site: u32, kept: f64) -> Option<f64> {
        let Written { left, received } = self.of_site.get(&site)?;
        let is_kept = left.readers as f64 >= kept * *received as f64;
        (is_kept && left.read > 0).then(|| left.readers as f64 / left.read as f64)
    }
}

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
}
