//! Counts of control flow, call trees, instances of parallel sections and waiting, with new numbers.

use std::collections::{BTreeMap, HashMap};

use super::numbers::Source;
use super::sums::{raise, sum};
use crate::layout::CountKind;
use crate::tables::{Blocked, Code, Count, Instance, Level, Node};

/// Parts of instances of all profiles. Two profiles have no instance in common, whatever its key is.
pub fn instances(sources: &[Source<'_>]) -> Vec<Instance> {
    let mut keys = BTreeMap::new();
    let mut merged = Vec::new();
    for (index, (source, first)) in sources.iter().zip(first_parts(sources)).enumerate() {
        for (number, i) in (first..).zip(&source.contents.instances) {
            let next = keys.len() as u64;
            merged.push(Instance {
                number,
                thread: source.threads.of(i.thread),
                begin_site: source.site(i.begin_site),
                end_site: source.site(i.end_site),
                // Whatever the kind: pieces of work have the key of the region that they are in.
                key: *keys.entry((index, i.key)).or_insert(next),
                begin_ns: i.begin_ns.saturating_add(source.delay),
                arrive_ns: i.arrive_ns.saturating_add(source.delay),
                release_ns: i.release_ns.saturating_add(source.delay),
                ..*i
            });
        }
    }
    merged
}

/// The number of the first part of an instance of each profile.
fn first_parts(sources: &[Source<'_>]) -> Vec<u32> {
    let lengths = sources.iter().map(|s| s.contents.instances.len() as u32);
    let after = lengths.scan(1, |next, length| {
        *next += length;
        Some(*next)
    });
    std::iter::once(1).chain(after).collect()
}

/// Counts of what no module or no instance has are dropped: their number would be another's.
pub fn counts(sources: &[Source<'_>]) -> Vec<Count> {
    let mut all = Vec::new();
    for (source, first) in sources.iter().zip(first_parts(sources)) {
        let parts: HashMap<u32, u32> =
            source.contents.instances.iter().map(|i| i.number).zip(first..).chain([(0, 0)]).collect();
        all.extend(source.contents.counts.iter().filter_map(|c| {
            let id = match c.kind {
                CountKind::Edge => source.counter(c.id)?,
                CountKind::FirstLevelMiss | CountKind::LastLevelMiss | CountKind::CacheAccess => source.site(c.id),
                CountKind::Counter => c.id,
            };
            Some(Count { part: *parts.get(&c.part)?, thread: source.threads.of(c.thread), id, ..*c })
        }));
    }
    sum(all.into_iter().map(|c| ((c.part, c.thread, c.kind, c.id, c.level), c)), |sum, c| {
        raise(&mut sum.count, c.count);
    })
}

/// Call trees; nodes that are reached the same way in the same thread are one.
pub fn nodes(sources: &[Source<'_>]) -> Vec<Node> {
    let mut merged: Vec<Node> = Vec::new();
    let mut known = HashMap::new();
    for source in sources {
        let mut ids: HashMap<u32, u32> = HashMap::new();
        for node in &source.contents.nodes {
            let parent = node.parent.and_then(|p| ids.get(&p).copied());
            let (thread, region) = (source.threads.of(node.thread), source.region(node.region));
            let next = merged.len() as u32 + 1;
            let id = *known.entry((thread, parent, region)).or_insert(next);
            if id == next {
                merged.push(Node { id, parent, thread, region, ..*node });
            } else {
                let sum = &mut merged[id as usize - 1];
                raise(&mut sum.visits, node.visits);
                raise(&mut sum.wall_ns, node.wall_ns);
                raise(&mut sum.cpu_ns, node.cpu_ns);
            }
            ids.insert(node.id, id);
        }
    }
    merged
}

pub fn blocked(sources: &[Source<'_>]) -> Vec<Blocked> {
    let moved = |s: &Source<'_>, b: &Blocked| Blocked { thread: s.threads.of(b.thread), site: s.site(b.site), ..*b };
    let all = sources.iter().flat_map(|s| s.contents.blocked.iter().map(move |b| moved(s, b)));
    sum(all.map(|b| ((b.thread, b.site, b.kind), b)), |sum, b| {
        raise(&mut sum.count, b.count);
        raise(&mut sum.wall_ns, b.wall_ns);
    })
}

/// Times at each number of threads of a process, of all processes together.
pub fn levels(sources: &[Source<'_>]) -> Vec<Level> {
    let all = sources.iter().flat_map(|s| &s.contents.levels).copied();
    sum(all.map(|l| ((l.kind, l.level), l)), |sum, l| raise(&mut sum.ns, l.ns))
}

/// All foreign places, each once.
#[derive(Default)]
pub struct Places {
    pub code: Vec<Code>,
    known: HashMap<(u64, String, String), u32>,
}

impl Places {
    /// Takes in the places of a part and says which number each gets.
    pub fn add(&mut self, code: &[Code]) -> HashMap<u32, u32> {
        let mut place = |c: &Code| {
            let next = self.code.len() as u32;
            let id = *self.known.entry((c.address, c.function.clone(), c.file.clone())).or_insert(next);
            if id == next {
                self.code.push(Code { id, ..c.clone() });
            }
            (c.id, id)
        };
        code.iter().map(&mut place).collect()
    }
}
