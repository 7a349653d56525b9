//! Gives members of an object one site.
//!
//! Members of one object that follow each other at one line (`p->x`, `p->y`, `p->z`: the operators of vector classes)
//! differ in nothing but their names. All of them get one site, which names them all: `p->{x,y,z}`. Also those that
//! stay accesses of their own: what is written at one site is in one state when it is read.
//!
//! Before loops are described: a question must name the sites at which the loop's own sequences count, for what a
//! thread knows of reuse it knows by site.

use super::segment::{Segments, plain};
use crate::access::{Direction, Event, Plan};
use crate::llvm::analysis::Analysis;
use crate::tables::{Line, SiteId, Tables};
use std::collections::HashSet;

/// An access at a known distance from others of its line.
struct Member {
    /// Segment, leader, line, whether it writes.
    place: (usize, usize, Line, bool),
    first: i64,
    end: i64,
    site: SiteId,
    /// Number of the event.
    number: usize,
}

/// Renames the sites of the plan's accesses.
pub fn run<'ctx>(plan: &mut Plan<'ctx>, analysis: &mut Analysis, tables: &mut Tables) {
    let lines = lines_with_siblings(plan, tables);
    if lines.is_empty() {
        return;
    }
    let segments = Segments::find(&plan.events);
    let mut pointers = Vec::new();
    let mut members = Vec::new();
    for (number, event) in plan.events.iter().enumerate() {
        let (Some((direction, access)), Some(segment)) = (plain(event), segments.of(event)) else { continue };
        let (line, writes) = (tables.line(event.site), direction == Direction::Write);
        if lines.contains(&(line, writes)) {
            pointers.push((access.pointer, segment as u32));
            let place = (segment, 0, line, writes);
            members.push(Member { place, first: 0, end: access.bytes as i64, site: event.site, number });
        }
    }
    for (member, (leader, distance)) in members.iter_mut().zip(analysis.distances(&pointers)) {
        member.place.1 = leader;
        member.first += distance;
        member.end += distance;
    }
    members.sort_unstable_by_key(|member| (member.place, member.first, member.number));
    let follows =
        |a: &Member, b: &Member| a.place == b.place && b.first <= a.end && tables.are_siblings(a.site, b.site);
    let runs: Vec<&[Member]> = members.chunk_by(follows).filter(|run| run.len() > 1).collect();
    for run in runs {
        let sites: Vec<SiteId> = run.iter().map(|member| member.site).collect();
        if let Some(site) = tables.joined_site(&sites) {
            run.iter().for_each(|member| plan.events[member.number].site = site);
        }
    }
}

/// Lines that read or write several members of an object, as far as their names show it: only of those is the distance
/// of accesses worth finding out.
fn lines_with_siblings(plan: &Plan<'_>, tables: &Tables) -> HashSet<(Line, bool)> {
    // Only accesses have sites: there may be none at all where a variable dies.
    let place = |event: &Event<'_>| {
        let (direction, _) = plain(event)?;
        Some((tables.line(event.site), direction == Direction::Write, event.site))
    };
    let mut sites: Vec<(Line, bool, SiteId)> = plan.events.iter().filter_map(place).collect();
    sites.sort_unstable_by_key(|&(line, writes, site)| (line, writes, tables.beside_siblings(site), site));
    sites.dedup();
    let of_one = |pair: &&[(Line, bool, SiteId)]| {
        let [(line, writes, site), (other_line, other_writes, other)] = pair else { return false };
        (line, writes) == (other_line, other_writes) && tables.are_siblings(*site, *other)
    };
    sites.windows(2).filter(of_one).map(|pair| (pair[0].0, pair[0].1)).collect()
}
