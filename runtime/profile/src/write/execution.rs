//! Counts, call trees, instances of parallel sections, waiting.

use super::arrays::encoded;
use super::bytes::{put, text};
use crate::layout::{BlockedRecord, CodeRecord, CountRecord, InstanceRecord, LevelRecord, NodeRecord};
use crate::tables::{Blocked, Code, Count, Instance, Level, Node};

encoded!(Count => CountRecord, Node => NodeRecord, Instance => InstanceRecord, Blocked => BlockedRecord,
    Level => LevelRecord, Code => CodeRecord);

pub fn count(r: &mut [u8], c: &Count) {
    put!(r, CountRecord, part, c.part);
    put!(r, CountRecord, thread, c.thread);
    put!(r, CountRecord, id, c.id);
    put!(r, CountRecord, kind, c.kind as u16);
    put!(r, CountRecord, level, c.level);
    put!(r, CountRecord, count, c.count);
}

pub fn node(r: &mut [u8], n: &Node) {
    put!(r, NodeRecord, thread, n.thread);
    put!(r, NodeRecord, id, n.id);
    put!(r, NodeRecord, parent, n.parent.unwrap_or(0));
    put!(r, NodeRecord, region, n.region);
    put!(r, NodeRecord, visits, n.visits);
    put!(r, NodeRecord, wall_ns, n.wall_ns);
    put!(r, NodeRecord, cpu_ns, n.cpu_ns);
}

pub fn instance(r: &mut [u8], i: &Instance) {
    put!(r, InstanceRecord, number, i.number);
    put!(r, InstanceRecord, thread, i.thread);
    put!(r, InstanceRecord, kind, i.kind as u16);
    put!(r, InstanceRecord, flags, i.flags);
    put!(r, InstanceRecord, team, i.team);
    put!(r, InstanceRecord, begin_site, i.begin_site);
    put!(r, InstanceRecord, end_site, i.end_site);
    put!(r, InstanceRecord, key, i.key);
    put!(r, InstanceRecord, ordinal, i.ordinal);
    put!(r, InstanceRecord, begin_ns, i.begin_ns);
    put!(r, InstanceRecord, arrive_ns, i.arrive_ns);
    put!(r, InstanceRecord, release_ns, i.release_ns);
    put!(r, InstanceRecord, cpu_ns, i.cpu_ns);
    put!(r, InstanceRecord, weight, i.weight);
}

pub fn blocked(r: &mut [u8], b: &Blocked) {
    put!(r, BlockedRecord, thread, b.thread);
    put!(r, BlockedRecord, site, b.site);
    put!(r, BlockedRecord, kind, b.kind as u16);
    put!(r, BlockedRecord, count, b.count);
    put!(r, BlockedRecord, wall_ns, b.wall_ns);
}

pub fn level(r: &mut [u8], l: &Level) {
    put!(r, LevelRecord, level, l.level);
    put!(r, LevelRecord, kind, l.kind as u32);
    put!(r, LevelRecord, ns, l.ns);
}

pub fn code(r: &mut [u8], c: &Code) {
    put!(r, CodeRecord, id, c.id);
    put!(r, CodeRecord, address, c.address);
    put!(r, CodeRecord, function, text(&c.function));
    put!(r, CodeRecord, file, text(&c.file));
}
