//! What a profile holds, as lines without times that a program can announce:
//!
//! ```text
//! counted THREAD level N id COUNTER: TIMES          counts of the run
//! KIND THREAD id SITE: TIMES                        (firstlevelmiss ... for the modelled caches)
//! part KIND thread T id COUNTER: TIMES              counts of instances, all of a thread together
//! waited KIND by THREAD: TIMES
//! instance KIND of KEY number ORDINAL thread T [primary] [team N] [weight N]
//!                                                   keys of barriers and code are numbered from 0 as they come
//! level KIND N                                      time was spent there
//! node THREAD PATH: VISITS                          regions from the outermost on
//! code FUNCTION
//! ```

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use threadtalk_profile::layout::{CountKind, InstanceKind};
use threadtalk_profile::{Instance, Node, Profile};

/// The lines of a file.
pub fn lines(path: &Path) -> Vec<String> {
    let profile = Profile::open(path).unwrap_or_else(|e| panic!("{e}"));
    let mut lines = counts(&profile);
    let mut waits = BTreeMap::new();
    for blocked in profile.blocked() {
        *waits.entry((name(blocked.kind), blocked.thread)).or_insert(0) += blocked.count;
    }
    lines.extend(waits.into_iter().map(|((kind, thread), count)| format!("waited {kind} by {thread}: {count}")));
    lines.extend(instances(&profile));
    let levels = profile.levels().filter(|level| level.ns > 0);
    lines.extend(levels.map(|level| format!("level {} {}", name(level.kind), level.level)));
    lines.extend(nodes(&profile.nodes().collect::<Vec<_>>()));
    lines.extend(profile.code().map(|code| format!("code {}", code.function)));
    lines
}

fn name(kind: impl Debug) -> String {
    format!("{kind:?}").to_lowercase()
}

fn counts(profile: &Profile) -> Vec<String> {
    let parts: BTreeMap<u32, Instance> = profile.instances().map(|i| (i.number, i)).collect();
    let mut sums = BTreeMap::new();
    for count in profile.counts() {
        let line = match parts.get(&count.part) {
            None if count.part > 0 => panic!("counts of instance {}, which is not there", count.part),
            Some(part) => format!("part {} thread {} id {}", name(part.kind), count.thread, count.id),
            None if count.kind == CountKind::Edge => {
                format!("counted {} level {} id {}", count.thread, count.level, count.id)
            }
            None => format!("{} {} id {}", name(count.kind), count.thread, count.id),
        };
        *sums.entry(line).or_insert(0) += count.count;
    }
    sums.into_iter().map(|(line, count)| format!("{line}: {count}")).collect()
}

fn instances(profile: &Profile) -> Vec<String> {
    let mut keys: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut line = |i: Instance| {
        let known = keys.entry(name(i.kind)).or_default();
        let key = if i.kind == InstanceKind::Join {
            i.key as usize
        } else {
            known.iter().position(|key| *key == i.key).unwrap_or_else(|| {
                known.push(i.key);
                known.len() - 1
            })
        };
        let mut line = format!("instance {} of {key} number {} thread {}", name(i.kind), i.ordinal, i.thread);
        if i.is_primary() {
            line += " primary";
        }
        if i.team > 0 {
            line += &format!(" team {}", i.team);
        }
        if i.weight > 1 {
            line += &format!(" weight {}", i.weight);
        }
        line
    };
    profile.instances().map(&mut line).collect()
}

fn nodes(nodes: &[Node]) -> Vec<String> {
    let path = |node: &Node| {
        let mut regions = vec![node.region.to_string()];
        let mut at = node.parent;
        while let Some(parent) = at.and_then(|id| nodes.iter().find(|n| n.id == id)) {
            regions.push(parent.region.to_string());
            at = parent.parent;
        }
        regions.reverse();
        regions.join("/")
    };
    nodes.iter().map(|node| format!("node {} {}: {}", node.thread, path(node), node.visits)).collect()
}
