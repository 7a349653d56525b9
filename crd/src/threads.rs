//! Logical threads as indices without gaps.

use threadtalk_profile::{Profile, Thread as Record};

use crate::lines::Positions;
use crate::model::Thread;

/// Ids up to here are found in a table; a profile may hold any others, too.
const TABLE: u32 = 1 << 20;

/// All threads of a profile, by id.
pub struct Threads {
    ids: Vec<u32>,
    /// Index of each id below its length.
    table: Vec<u32>,
}

impl Threads {
    /// The threads that any record of the profile names.
    pub fn new(profile: &Profile) -> Self {
        let mut seen = Seen { small: vec![false; 1024], large: Vec::new() };
        profile.threads().iter().for_each(|t| seen.add(t.id));
        profile.events().for_each(|e| {
            seen.add(e.writer);
            seen.add(e.reader);
        });
        profile.visits().for_each(|v| seen.add(v.thread));
        profile.private_bytes().for_each(|p| seen.add(p.writer));
        Self::from_ids(seen.into_sorted())
    }

    fn from_ids(ids: Vec<u32>) -> Self {
        let small = ids.partition_point(|id| *id < TABLE);
        let mut table = vec![u32::MAX; small.checked_sub(1).map_or(0, |last| ids[last] as usize + 1)];
        for (index, id) in (0..).zip(&ids[..small]) {
            table[*id as usize] = index;
        }
        Self { ids, table }
    }

    /// Index of a thread that a record names.
    pub fn index(&self, id: u32) -> u32 {
        match self.table.get(id as usize) {
            Some(index) => *index,
            None => self.ids.partition_point(|known| *known < id) as u32,
        }
    }

    /// Logical id of an index.
    pub fn id(&self, index: u32) -> u32 {
        self.ids[index as usize]
    }

    /// Number of threads.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The threads as the report lists them.
    pub fn describe(&self, profile: &Profile, positions: &Positions) -> Vec<Thread> {
        self.ids.iter().map(|id| describe(profile, positions, *id)).collect()
    }
}

/// Whether two threads existed at the same time, as far as is known: one may have ended before the other began.
pub fn lived_together(profile: &Profile, a: u32, b: u32) -> bool {
    let [Some(a), Some(b)] = [a, b].map(|id| record(profile, id).filter(|t| !t.overflow)) else { return true };
    let ends_before = |first: &Record, second: &Record| first.end_ns.is_some_and(|end| end <= second.start_ns);
    !ends_before(a, b) && !ends_before(b, a)
}

/// How many of some threads each one of them lived together with, as far as is known.
pub fn companions(profile: &Profile, ids: &[u32]) -> Vec<usize> {
    let life = |id: &u32| {
        let known = record(profile, *id).filter(|t| !t.overflow);
        known.map_or((0, u64::MAX), |t| (t.start_ns, t.end_ns.unwrap_or(u64::MAX)))
    };
    let lives: Vec<(u64, u64)> = ids.iter().map(life).collect();
    let (mut starts, mut ends): (Vec<u64>, Vec<u64>) = lives.iter().copied().unzip();
    starts.sort_unstable();
    ends.sort_unstable();
    let together = |(start, end): &(u64, u64)| {
        let (ended, begun) = (ends.partition_point(|e| e <= start), starts.partition_point(|s| s < end));
        begun.saturating_sub(ended).saturating_sub(1)
    };
    lives.iter().map(together).collect()
}

/// The record of a thread, unless it had no room in the file.
fn record(profile: &Profile, id: u32) -> Option<&Record> {
    let known = profile.threads().binary_search_by_key(&id, |t| t.id).ok()?;
    profile.threads().get(known)
}

fn describe(profile: &Profile, positions: &Positions, id: u32) -> Thread {
    let default = Record { id, ..Default::default() };
    let t = record(profile, id).unwrap_or(&default);
    let seconds = |ns: u64| ns as f64 / 1e9;
    Thread {
        id,
        // The first thread of a process is the one that runs main, whatever it is called.
        name: if id == 0 && t.name.is_empty() { "main".into() } else { t.name.clone() },
        created_by: t.creator,
        created_at: profile.site(t.creation_site).map(|_| positions.at(t.creation_site)),
        start_s: seconds(t.start_ns),
        end_s: t.end_ns.map(seconds),
        cpu_s: t.cpu_ns.map(seconds),
        tid: t.tid,
        openmp: t.openmp,
        overflow: t.overflow,
    }
}

/// A set of ids, most of them small.
struct Seen {
    small: Vec<bool>,
    large: Vec<u32>,
}

impl Seen {
    fn add(&mut self, id: u32) {
        match self.small.get_mut(id as usize) {
            Some(seen) => *seen = true,
            None if id < TABLE => {
                self.small.resize((id as usize + 1).next_power_of_two(), false);
                self.small[id as usize] = true;
            }
            None => self.large.push(id),
        }
    }

    fn into_sorted(mut self) -> Vec<u32> {
        self.large.sort_unstable();
        self.large.dedup();
        let small = self.small.iter().zip(0..).filter(|(seen, _)| **seen).map(|(_, id)| id);
        small.chain(self.large).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_profile::write::Contents;

    #[test]
    fn threads_live_together_unless_one_ended_before_the_other_began() {
        let thread = |id, start_ns, end_ns: Option<u64>| {
            let ended = end_ns.is_some();
            Record { id, start_ns, end_ns, ended, ..Record::default() }
        };
        let threads = vec![thread(0, 1, None), thread(1, 10, Some(20)), thread(2, 20, Some(30)), thread(3, 25, None)];
        let profile = Profile::from_bytes(&Contents { threads, ..Contents::default() }.encode()).unwrap();
        let pairs = [(0, 1), (1, 2), (2, 1), (1, 3), (2, 3), (1, 9)];
        let together = pairs.map(|(a, b)| lived_together(&profile, a, b));
        assert_eq!(together, [true, false, false, false, true, true]);
        assert_eq!(companions(&profile, &[0, 1, 2, 3, 9]), [4, 2, 3, 3, 4]);
    }

    #[test]
    fn ids_of_any_size_have_indices() {
        let mut seen = Seen { small: vec![false; 4], large: Vec::new() };
        [9, 2, u32::MAX - 1, 2, TABLE, TABLE - 1, u32::MAX - 1].into_iter().for_each(|id| seen.add(id));
        let threads = Threads::from_ids(seen.into_sorted());
        assert_eq!(threads.ids, [2, 9, TABLE - 1, TABLE, u32::MAX - 1]);
        for index in 0..5 {
            assert_eq!(threads.index(threads.id(index)), index);
        }
    }
}
