//! Barrier to join: what threads do after their last barrier.
//!
//! A thread's phase ends with the thread, or where it first joins one that it created for this phase. What it does
//! alone from there on is serial code and of no section. A join of any other thread, of a helper say, ends nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::observed::{Part, SiteEvent, Sparse};

/// A part as the runtime recorded it.
pub struct Recorded {
    /// The part.
    pub part: Part,
    /// No barrier ended it: the thread ended, or came to a join.
    pub last: bool,
    /// What the thread did after it had joined another; what came before is another record.
    pub resumed: bool,
}

/// The parts of threads, without what they did alone after joining the others. `creators`: who created a thread.
pub fn parts(recorded: Vec<Recorded>, creators: &BTreeMap<u32, u32>) -> Vec<Part> {
    let (phases, others): (Vec<Recorded>, Vec<Recorded>) = recorded.into_iter().partition(|r| r.part.kind == "barrier");
    let mut parts: Vec<Part> = others.into_iter().map(|r| r.part).collect();
    let mut instances: BTreeMap<(u64, u64), BTreeMap<u32, Vec<Recorded>>> = BTreeMap::new();
    for recorded in phases {
        instances.entry(recorded.part.instance).or_default().entry(recorded.part.thread).or_default().push(recorded);
    }
    for threads in instances.into_values() {
        let ended = threads.iter().filter(|(_, records)| records.iter().any(|r| r.last)).map(|(thread, _)| thread);
        let creators: BTreeSet<u32> = ended.filter_map(|thread| creators.get(thread).copied()).collect();
        let mut phases: Vec<Part> = Vec::new();
        for (thread, mut records) in threads {
            records.sort_by_key(|r| r.part.begin_ns);
            phases.extend(of_thread(records, creators.contains(&thread)));
        }
        // The join is what ends the section for all.
        let end = phases.iter().find(|p| p.last && p.creator).map(|p| p.end.clone()).unwrap_or_default();
        phases.iter_mut().filter(|p| p.last).for_each(|p| p.end = end.clone());
        parts.extend(phases);
    }
    parts
}

/// One thread's parts of one phase, from records in their order. `joins`: it created others that ended in the phase.
fn of_thread(records: Vec<Recorded>, joins: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for Recorded { part, last, resumed } in records {
        match parts.last_mut().filter(|before| before.last) {
            Some(_) if joins && resumed => continue,
            Some(before) if !joins => prolong(before, part),
            _ => parts.push(part),
        }
        if let Some(part) = parts.last_mut() {
            part.last = last;
        }
    }
    for part in parts.iter_mut().filter(|part| part.last) {
        (part.kind, part.creator) = ("join", joins);
    }
    parts
}

/// The part goes on with `next`.
fn prolong(part: &mut Part, next: Part) {
    part.wall_ns = (next.begin_ns + next.wall_ns).saturating_sub(part.begin_ns);
    part.cpu_ns += next.cpu_ns;
    part.counted &= next.counted;
    part.handed_out = part.handed_out.max(next.handed_out);
    (part.end, part.waited_ns) = (next.end, next.waited_ns);
    let mut edges: BTreeMap<u32, u64> = part.edges.iter().copied().collect();
    next.edges.iter().for_each(|(edge, count)| *edges.entry(*edge).or_default() += count);
    part.edges = Sparse::from_iter(edges);
    for (event, count) in next.counters {
        match part.counters.iter_mut().find(|(of, _)| *of == event) {
            Some((_, sum)) => *sum += count,
            None => part.counters.push((event, count)),
        }
    }
    for SiteEvent { kind, site, count } in next.events {
        match part.events.iter_mut().find(|e| (e.kind, e.site) == (kind, site)) {
            Some(event) => event.count += count,
            None => part.events.push(SiteEvent { kind, site, count }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::observed::{EventKind, Spot};
    use super::*;

    const JOIN: u32 = 70;

    /// 10 ns of work from `begin_ns`, ended by a barrier in line 50, or (`last`) in another line, or by its end (0).
    fn record(thread: u32, begin_ns: u64, (last, resumed): (bool, bool), line: u32) -> Recorded {
        let events = vec![SiteEvent { kind: EventKind::FirstLevelMiss, site: begin_ns as u32, count: 2 }];
        let end = Spot { line, ..Spot::default() };
        let part = Part { thread, begin_ns, wall_ns: 10, cpu_ns: 10, kind: "barrier", end, events, ..Part::default() };
        Recorded { part: Part { instance: (1, 4), edges: vec![(0, 1), (begin_ns as u32, 5)], ..part }, last, resumed }
    }

    const BARRIER: (bool, bool) = (false, false);
    const ENDS: (bool, bool) = (true, false);
    const RESUMED: (bool, bool) = (false, true);
    const RESUMED_ENDS: (bool, bool) = (true, true);

    /// Thread 0 has created 1 and 2, and 1 has created 3.
    fn settled(recorded: Vec<Recorded>) -> Vec<(u32, &'static str, bool, u32, u64)> {
        let creators = BTreeMap::from([(1, 0), (2, 0), (3, 1)]);
        let of = |p: &Part| (p.thread, p.kind, p.creator, p.end.line, p.wall_ns);
        parts(recorded, &creators).iter().map(of).collect()
    }

    #[test]
    fn the_join_of_its_threads_ends_the_section_for_their_creator_and_is_its_end_for_all() {
        let recorded = vec![
            record(0, 100, ENDS, JOIN),
            record(0, 120, RESUMED_ENDS, 0),
            record(1, 100, ENDS, 0),
            record(2, 100, ENDS, 0),
        ];
        let wanted = [(0, "join", true, JOIN, 10), (1, "join", false, JOIN, 10), (2, "join", false, JOIN, 10)];
        assert_eq!(settled(recorded), wanted);
    }

    #[test]
    fn threads_that_nobody_of_them_joins_end_where_they_end() {
        let recorded = vec![record(1, 100, ENDS, 0), record(2, 100, ENDS, 0)];
        assert_eq!(settled(recorded), [(1, "join", false, 0, 10), (2, "join", false, 0, 10)]);
    }

    #[test]
    fn the_join_of_a_helper_ends_nothing() {
        // 1 and 2 join helpers: 1 meets at the barrier afterwards, 2 has another first phase before it does.
        let recorded = vec![
            record(0, 100, BARRIER, 50),
            record(1, 100, ENDS, JOIN),
            record(1, 120, RESUMED, 50),
            record(2, 100, ENDS, JOIN),
            record(2, 120, RESUMED_ENDS, 60),
            record(2, 140, BARRIER, 50),
        ];
        let wanted = [(0, "barrier", false, 50, 10), (1, "barrier", false, 50, 30), (2, "barrier", false, 50, 50)];
        assert_eq!(settled(recorded), wanted);
        // 2 ends without another barrier, as 1 does, whom it has not created.
        let recorded = vec![record(1, 100, ENDS, 0), record(2, 100, ENDS, JOIN), record(2, 120, RESUMED_ENDS, 0)];
        assert_eq!(settled(recorded), [(1, "join", false, 0, 10), (2, "join", false, 0, 30)]);
    }

    #[test]
    fn a_second_team_at_the_barrier_is_not_of_the_section_that_the_first_ended() {
        let recorded = vec![
            record(0, 100, ENDS, JOIN),
            record(0, 120, RESUMED_ENDS, 67),
            record(0, 140, BARRIER, 50),
            record(1, 100, ENDS, 0),
            record(2, 140, BARRIER, 50),
        ];
        let mut found = settled(recorded);
        found.sort_by_key(|part| part.1);
        let wanted = [
            (0, "barrier", false, 50, 10),
            (2, "barrier", false, 50, 10),
            (0, "join", true, JOIN, 10),
            (1, "join", false, JOIN, 10),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_part_that_goes_on_has_the_counts_of_all_its_records() {
        let recorded = vec![record(2, 3, ENDS, JOIN), record(2, 20, RESUMED, 50), record(2, 3, RESUMED, 50)];
        let whole = parts(recorded, &BTreeMap::new());
        assert_eq!(whole.len(), 2, "a record that follows one that a barrier ended is another part");
        let both: Vec<_> = whole.iter().map(|p| (p.cpu_ns, p.edges.clone(), p.events.len())).collect();
        assert!(both.contains(&(20, vec![(0, 2), (3, 10)], 1)), "{both:?}");
    }
}
