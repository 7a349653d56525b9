//! Places for threads, so that no processor has two threads while a core has none.

use std::collections::BTreeMap;

use crate::machine::Topology;

/// Places for a number of threads: processors, each as often as it has threads, in the order of the tree.
///
/// Places come in rounds: first one on each core, then one on the second hardware thread of each core that has it, and
/// so on; when all processors have one, it begins again. All rounds but the last are full, so threads are balanced over
/// cores and over the hardware threads of a core; the places of the last round are more than are needed, and which are
/// used is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    processors: Vec<usize>,
    optional: Vec<bool>,
    threads: usize,
}

impl Slots {
    /// Places for `threads` threads.
    pub fn new(topology: &Topology, threads: usize) -> Self {
        let mut cores: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (processor, core) in topology.cores().into_iter().enumerate() {
            cores.entry(core).or_default().push(processor);
        }
        let width = cores.values().map(Vec::len).max().unwrap_or(1);
        let mut places: Vec<(usize, bool)> = Vec::new();
        for round in 0.. {
            if places.len() >= threads {
                break;
            }
            let begin = places.len();
            places.extend(cores.values().filter_map(|core| core.get(round % width)).map(|p| (*p, false)));
            if places.len() > threads {
                places[begin..].iter_mut().for_each(|place| place.1 = true);
            }
        }
        places.sort_unstable();
        let (processors, optional) = places.into_iter().unzip();
        Self { processors, optional, threads }
    }

    /// Number of places, at least that of threads.
    pub fn len(&self) -> usize {
        self.processors.len()
    }

    /// True without threads.
    pub fn is_empty(&self) -> bool {
        self.processors.is_empty()
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The processor of a place: an index into [`Topology::cpus`].
    pub fn processor(&self, place: usize) -> usize {
        self.processors[place]
    }

    /// Whether the place may stay empty.
    pub fn is_optional(&self, place: usize) -> bool {
        self.optional[place]
    }

    /// Number of places that must be taken.
    pub fn mandatory(&self) -> usize {
        self.optional.iter().filter(|optional| !**optional).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_topology;

    fn places(topology: &str, threads: usize) -> Vec<(usize, bool)> {
        let slots = Slots::new(&parse_topology(topology).unwrap(), threads);
        (0..slots.len()).map(|place| (slots.processor(place), slots.is_optional(place))).collect()
    }

    #[test]
    fn cores_come_first_and_only_the_last_round_has_a_choice() {
        let smt = "core 2\nthread 2\n";
        assert_eq!(places(smt, 0), []);
        assert_eq!(places(smt, 1), [(0, true), (2, true)]);
        assert_eq!(places(smt, 2), [(0, false), (2, false)]);
        assert_eq!(places(smt, 3), [(0, false), (1, true), (2, false), (3, true)]);
        assert_eq!(places(smt, 5), [(0, false), (0, true), (1, false), (2, false), (2, true), (3, false)]);
        assert_eq!(places("core 1", 3), [(0, false); 3]);
    }
}
