//! Data-affinity scheduling: a loop reads what another thread wrote although both loops walk the array in the same way.
//! The iterations are divided among the threads differently: a dynamic schedule, another chunk, a shifted bound.

use std::collections::{BTreeMap, BTreeSet};

use super::{Case, Rule, Threshold, evidence, place, start};
use crate::model::{Lowers, Means, Suggestion, SuggestionKind};
use threadtalk_profile::{Event, Stride};

pub(super) const RULE: Rule = Rule {
    name: "data-affinity-scheduling",
    thresholds: &[
        Threshold {
            name: "read",
            default: 0.5,
            meaning: "part of the written elements that other threads read: a halo is a small one",
        },
        Threshold {
            name: "readers",
            default: 1.25,
            meaning: "most threads that read such an element: what several need, no schedule helps",
        },
        Threshold {
            name: "threads",
            default: 2.0,
            meaning: "threads that write, and that read: where one thread does all, there is no schedule",
        },
        Threshold {
            name: "reuse",
            default: 8.0,
            meaning: "most reuses for each true communication: what is used that often was worth fetching",
        },
        Threshold {
            name: "share",
            default: 0.3,
            meaning: "part of the region's true communication that is of this kind",
        },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() || case.region.threads.len() < 2 {
        return None;
    }
    let walks_alike = |e: &Event| {
        let walks = case.strides(e.writer_site).0;
        !e.is_serial()
            && !e.is_sync()
            && e.raw > 0
            && !matches!(walks, Stride::None | Stride::Bytes(0))
            && walks == case.strides(e.reader_site).0
    };
    let mut known: BTreeMap<u32, bool> = BTreeMap::new();
    for event in case.events.iter().filter(|e| walks_alike(e)) {
        known.entry(event.writer_site).or_insert_with(|| is_read_elsewhere(case, event));
    }
    let matches = |e: &Event| walks_alike(e) && known.get(&e.writer_site) == Some(&true);
    let (_, example) = case.heaviest(matches)?;
    let all: Vec<&Event> = case.events.iter().filter(|e| matches(e)).collect();
    let (moved, reused) = all.iter().fold((0u64, 0u64), |(raw, rar), e| (raw + e.raw, rar + e.rar));
    let raw: u64 = case.events.iter().map(|e| e.raw).sum();
    let share = moved as f64 / raw.max(1) as f64;
    let reuse = reused as f64 / moved.max(1) as f64;
    let count = |thread: fn(&Event) -> u32| all.iter().map(|e| thread(e)).collect::<BTreeSet<_>>().len() as f64;
    let threads = count(|e| e.writer).min(count(|e| e.reader));
    if share < case.threshold(&RULE, "share")
        || threads < case.threshold(&RULE, "threads")
        || reuse > case.threshold(&RULE, "reuse")
    {
        return None;
    }
    let written = case.facts.written.get(&example.writer_site)?;
    let (from, to) = (case.position(example.writer_site), case.position(example.reader_site));
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::RunTime,
        text: format!(
            "Data-affinity scheduling: of {} written at {}, {:.0} % of the elements are read at {} by another thread than the one that \
             wrote them, mostly a single one. Divide both loops alike (schedule(static) with the same chunk and bounds), \
             or in blocks of whole rows or cache lines, so that threads read what they wrote.",
            case.object(&example),
            place(&from),
            100.0 * written.read as f64 / written.elements.max(1) as f64,
            place(&to),
        ),
        evidence: evidence([
            ("share", share),
            ("communicated", moved as f64),
            ("elements_read_elsewhere", written.read as f64 / written.elements.max(1) as f64),
            ("reuse", reuse),
            ("readers_per_element", written.readers as f64 / written.read.max(1) as f64),
        ]),
        promise: case.promise(Lowers::Raw),
        lines: vec![start(case.region), from, to],
    })
}

/// Whether most of what a site wrote was read by one other thread each, besides what a single thread has read in
/// another region at the end (a sum over the result, most often): that says nothing of how loops are divided.
fn is_read_elsewhere(case: &Case<'_>, event: &Event) -> bool {
    let Some(written) = case.facts.written.get(&event.writer_site) else { return false };
    let of_site = || case.facts.profile.events().filter(|e| e.writer_site == event.writer_site && e.raw > 0);
    let region = |e: &Event| case.facts.tree.of_site(case.facts.profile, e.reader_site);
    let mut readers: BTreeMap<_, (BTreeSet<u32>, u64)> = BTreeMap::new();
    for e in of_site() {
        let entry = readers.entry(region(&e)).or_default();
        entry.0.insert(e.reader);
        entry.1 = entry.1.saturating_add(e.raw);
    }
    let own = region(event);
    let alone = readers.iter().filter(|(region, (threads, _))| **region != own && threads.len() == 1);
    let alone = alone.fold(0u64, |n, (_, (_, raw))| n.saturating_add(*raw));
    let part = written.read.saturating_sub(alone) as f64 / written.elements.max(1) as f64;
    let readers = written.readers as f64 / written.read.max(1) as f64;
    part >= case.threshold(&RULE, "read") && readers <= case.threshold(&RULE, "readers")
}
