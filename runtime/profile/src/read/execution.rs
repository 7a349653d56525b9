//! Counts, call trees, instances of parallel sections, waiting.

use std::collections::HashMap;

use super::record::{field, text};
use crate::layout::{
    BlockedKind, BlockedRecord, CODE_SITE, CodeRecord, CountKind, CountRecord, CounterEvent, InstanceKind,
    InstanceRecord, LevelKind, LevelRecord, NO_THREAD, NodeRecord, block,
};
use crate::tables::{Blocked, Code, Count, Instance, Level, Node};

/// The call trees' nodes seen so far: the thread of each number.
pub type NodeCheck = HashMap<u32, u32>;

/// Checks a record of a block of `kind`; the error says what is wrong with it.
pub fn check(kind: u16, r: &[u8], nodes: &mut NodeCheck) -> Result<(), String> {
    match kind {
        block::COUNTS => {
            let kind = field!(r, CountRecord, kind);
            let count = count(r).ok_or_else(|| format!("a count of unknown kind {kind}"))?;
            if count.kind == CountKind::Counter && CounterEvent::from_number(count.id).is_none() {
                return Err(format!("a count of unknown event {}", count.id));
            }
        }
        block::NODES => check_node(&node(r), nodes)?,
        block::INSTANCES => {
            let kind = field!(r, InstanceRecord, kind);
            check_instance(&instance(r).ok_or_else(|| format!("an instance of unknown kind {kind}"))?)?;
        }
        block::BLOCKED => {
            let kind = field!(r, BlockedRecord, kind);
            blocked(r).ok_or_else(|| format!("waiting of unknown kind {kind}"))?;
        }
        block::LEVELS => {
            let kind = field!(r, LevelRecord, kind);
            level(r).ok_or_else(|| format!("a level of unknown kind {kind}"))?;
        }
        block::CODE => {
            let id = field!(r, CodeRecord, id);
            if id & CODE_SITE != 0 {
                return Err(format!("a place in code with the impossible number {id}"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Nodes form trees: each is there once, after its parent, in its parent's thread.
fn check_node(node: &Node, nodes: &mut NodeCheck) -> Result<(), String> {
    let Node { id, thread, .. } = *node;
    if id == 0 || thread == NO_THREAD {
        return Err(format!("node {id} of thread {thread}, which cannot be"));
    }
    if node.parent.is_some_and(|parent| nodes.get(&parent) != Some(&thread)) {
        return Err(format!("node {id} under one that its thread has not"));
    }
    if nodes.insert(id, thread).is_some() {
        return Err(format!("two nodes with the number {id}"));
    }
    Ok(())
}

fn check_instance(i: &Instance) -> Result<(), String> {
    if i.number == 0 || i.weight == 0 {
        return Err(format!("instance {} with weight {}", i.number, i.weight));
    }
    if i.begin_ns > i.arrive_ns || i.arrive_ns > i.release_ns {
        return Err(format!("instance {}, whose times are out of order", i.number));
    }
    Ok(())
}

/// Reads a count; none if its kind is unknown.
#[inline]
pub fn count(r: &[u8]) -> Option<Count> {
    Some(Count {
        part: field!(r, CountRecord, part),
        thread: field!(r, CountRecord, thread),
        id: field!(r, CountRecord, id),
        kind: CountKind::from_number(field!(r, CountRecord, kind))?,
        level: field!(r, CountRecord, level),
        count: field!(r, CountRecord, count),
    })
}

/// Reads a node.
pub fn node(r: &[u8]) -> Node {
    let parent = field!(r, NodeRecord, parent);
    Node {
        thread: field!(r, NodeRecord, thread),
        id: field!(r, NodeRecord, id),
        parent: (parent != 0).then_some(parent),
        region: field!(r, NodeRecord, region),
        visits: field!(r, NodeRecord, visits),
        wall_ns: field!(r, NodeRecord, wall_ns),
        cpu_ns: field!(r, NodeRecord, cpu_ns),
    }
}

/// Reads an instance; none if its kind is unknown.
pub fn instance(r: &[u8]) -> Option<Instance> {
    Some(Instance {
        number: field!(r, InstanceRecord, number),
        thread: field!(r, InstanceRecord, thread),
        kind: InstanceKind::from_number(field!(r, InstanceRecord, kind))?,
        flags: field!(r, InstanceRecord, flags),
        team: field!(r, InstanceRecord, team),
        begin_site: field!(r, InstanceRecord, begin_site),
        end_site: field!(r, InstanceRecord, end_site),
        key: field!(r, InstanceRecord, key),
        ordinal: field!(r, InstanceRecord, ordinal),
        begin_ns: field!(r, InstanceRecord, begin_ns),
        arrive_ns: field!(r, InstanceRecord, arrive_ns),
        release_ns: field!(r, InstanceRecord, release_ns),
        cpu_ns: field!(r, InstanceRecord, cpu_ns),
        weight: field!(r, InstanceRecord, weight),
    })
}

/// Reads waiting; none if its kind is unknown.
pub fn blocked(r: &[u8]) -> Option<Blocked> {
    Some(Blocked {
        thread: field!(r, BlockedRecord, thread),
        site: field!(r, BlockedRecord, site),
        kind: BlockedKind::from_number(field!(r, BlockedRecord, kind))?,
        count: field!(r, BlockedRecord, count),
        wall_ns: field!(r, BlockedRecord, wall_ns),
    })
}

/// Reads a level; none if its kind is unknown.
pub fn level(r: &[u8]) -> Option<Level> {
    Some(Level {
        level: field!(r, LevelRecord, level),
        kind: LevelKind::from_number(field!(r, LevelRecord, kind))?,
        ns: field!(r, LevelRecord, ns),
    })
}

/// Reads a place in code.
pub fn code(r: &[u8]) -> Code {
    Code {
        id: field!(r, CodeRecord, id),
        address: field!(r, CodeRecord, address),
        function: text(&field!(r, CodeRecord, function)),
        file: text(&field!(r, CodeRecord, file)),
    }
}
