//! New numbers for threads, and their records.

use std::collections::{BTreeMap, BTreeSet};

use super::numbers::Source;
use super::{How, MergeError, Part};
use crate::layout::NO_THREAD;
use crate::tables::Thread;

/// What the threads of a part become, and the part's number.
pub struct Ids {
    rank: usize,
    new: BTreeMap<u32, u32>,
}

impl Ids {
    /// New number of a thread that a record of the part names.
    pub fn of(&self, id: u32) -> u32 {
        self.new.get(&id).copied().unwrap_or(id)
    }
}

/// Gives out the numbers.
pub fn number(parts: &[Part], how: How) -> Result<Vec<Ids>, MergeError> {
    let mut next = 0u32;
    let mut number = |(rank, part): (usize, &Part)| {
        let mut new = BTreeMap::new();
        for id in seen(part) {
            let own = if how == How::Sum { id } else { next };
            new.insert(id, own);
            next = next.checked_add(1).filter(|n| *n < NO_THREAD).ok_or(MergeError::TooMany { what: "threads" })?;
        }
        Ok(Ids { rank, new })
    };
    parts.iter().enumerate().map(&mut number).collect()
}

/// All threads that any record of a part names.
fn seen(part: &Part) -> BTreeSet<u32> {
    let c = &part.contents;
    let mut ids: BTreeSet<u32> = c.threads.iter().map(|t| t.id).collect();
    ids.extend(c.events.iter().flat_map(|e| [e.writer, e.reader]));
    ids.extend(c.visits.iter().map(|v| v.thread));
    ids.extend(c.traces.iter().flat_map(|t| [t.writer, t.reader]));
    ids.extend(c.private_bytes.iter().map(|p| p.writer));
    ids.extend(c.phases.iter().flat_map(|p| [p.writer, p.reader]));
    ids.extend(c.counts.iter().map(|c| c.thread));
    ids.extend(c.nodes.iter().map(|n| n.thread));
    ids.extend(c.instances.iter().map(|i| i.thread));
    ids.extend(c.blocked.iter().map(|b| b.thread));
    ids
}

/// The records of all threads, times on the clock of the earliest part.
pub fn merge(sources: &[Source<'_>], how: How) -> Vec<Thread> {
    let mut all: BTreeMap<u32, Thread> = BTreeMap::new();
    for source in sources {
        for thread in &source.contents.threads {
            let moved = moved(thread, source, how);
            match all.get_mut(&moved.id) {
                None => drop(all.insert(moved.id, moved)),
                Some(known) => join(known, moved),
            }
        }
    }
    all.into_values().collect()
}

fn moved(t: &Thread, source: &Source<'_>, how: How) -> Thread {
    let (ids, delay) = (source.threads, source.delay);
    let name = match how {
        How::Sum => t.name.clone(),
        How::Ranks if t.name.is_empty() && t.id == 0 => format!("r{} main", ids.rank),
        How::Ranks => format!("r{} {}", ids.rank, t.name).trim_end().to_owned(),
    };
    Thread {
        id: ids.of(t.id),
        creator: t.creator.and_then(|c| ids.new.get(&c).copied()),
        creation_site: source.site(t.creation_site),
        start_ns: t.start_ns.saturating_add(delay),
        end_ns: t.end_ns.map(|end| end.saturating_add(delay)),
        name,
        ..t.clone()
    }
}

/// Two runs of the same thread. What they differ in is unknown, or the smaller one, whichever came first.
fn join(known: &mut Thread, other: Thread) {
    let both = |a: Option<u64>, b: Option<u64>, join: fn(u64, u64) -> u64| a.zip(b).map(|(a, b)| join(a, b));
    let same = |a: u32, b: u32| if a == b { a } else { 0 };
    known.creator = known.creator.filter(|c| Some(*c) == other.creator);
    known.creation_site = same(known.creation_site, other.creation_site);
    known.ended &= other.ended;
    known.openmp |= other.openmp;
    known.overflow |= other.overflow;
    known.start_ns = known.start_ns.min(other.start_ns);
    known.end_ns = both(known.end_ns, other.end_ns, u64::max);
    known.cpu_ns = both(known.cpu_ns, other.cpu_ns, u64::saturating_add);
    known.tid = known.tid.min(other.tid);
    if known.name.is_empty() || !other.name.is_empty() && other.name < known.name {
        known.name = other.name;
    }
}
