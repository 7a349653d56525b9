//! Where the memory of events lies that no site names, by the runtime's samples.
//!
//! A line that reads several arrays reads some of them again and again and others once, and these were mostly written
//! at different lines. So the samples of one pair of lines are what counts, true communication and reuse apart. Pairs
//! that no sample met are taken to be like the rest of what was written at the one line, else like the rest of what is
//! read at the other.

use std::collections::{BTreeMap, HashMap};
use threadtalk_profile::Profile;

/// Of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True communication.
    Communication = 0,
    /// Reuse.
    Reuse = 1,
}

/// Weights by site of the allocation; 0 = no allocation was found.
type Weights = BTreeMap<u32, u64>;

/// The samples of a profile, each of them by [`Kind`].
#[derive(Default)]
pub struct Samples {
    of_pair: HashMap<(u32, u32), [Weights; 2]>,
    of_writer: HashMap<u32, [Weights; 2]>,
    of_reader: HashMap<u32, [Weights; 2]>,
}

impl Samples {
    /// Those of all sites.
    pub fn new(profile: &Profile) -> Self {
        let mut samples = Self::default();
        for sample in profile.object_events() {
            let (reader, writer, found) = (sample.reader_site, sample.writer_site, sample.allocation_site);
            for (kind, weight) in [(Kind::Communication, sample.raw), (Kind::Reuse, sample.rar)] {
                if weight == 0 {
                    continue;
                }
                let add = |to: &mut [Weights; 2]| {
                    let sum = to[kind as usize].entry(found).or_default();
                    *sum = sum.saturating_add(weight);
                };
                add(samples.of_pair.entry((reader, writer)).or_default());
                // Where no allocation was found, another line may name the variable.
                if found != 0 {
                    add(samples.of_reader.entry(reader).or_default());
                    if writer != 0 {
                        add(samples.of_writer.entry(writer).or_default());
                    }
                }
            }
        }
        samples
    }

    /// Allocations and their weights for events of these sites; nothing if no sample tells anything of them.
    pub fn of(&self, reader: u32, writer: u32, kind: Kind) -> impl Iterator<Item = (u32, u64)> + '_ {
        let known = [self.of_pair.get(&(reader, writer)), self.of_writer.get(&writer), self.of_reader.get(&reader)];
        let [first, second] = [kind as usize, 1 - kind as usize];
        let weights = known.into_iter().flatten().flat_map(move |w| [&w[first], &w[second]]).find(|w| !w.is_empty());
        weights.into_iter().flatten().map(|(site, weight)| (*site, *weight))
    }
}
