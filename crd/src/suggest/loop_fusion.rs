//! Loop fusion: a loop uses again what another loop has received shortly before, in the same function or in one that
//! runs as often. What was inlined into a loop belongs to it.

use std::collections::BTreeMap;
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::{Event, Stride};

use super::{Case, Rule, Threshold, evidence, place, span, start, sum};
use crate::model::{Counts, Cutoff, Lowers, Means, Promise, Region, Suggestion, SuggestionKind};

pub(super) const RULE: Rule = Rule {
    name: "loop-fusion",
    thresholds: &[
        Threshold { name: "gap", default: 20.0, meaning: "most lines between two loops of one function" },
        Threshold {
            name: "reuse",
            default: 0.8,
            meaning: "part of the second loop's events on the array that are reuse",
        },
        Threshold { name: "share", default: 0.3, meaning: "part of the second loop's events that are on the array" },
        Threshold {
            name: "received",
            default: 0.8,
            meaning: "part of the array's true communication in both loops that the first has",
        },
        Threshold {
            name: "misses",
            default: 0.1,
            meaning: "part of the second loop's reuses that may miss the nearest cache: else what it uses is at hand already",
        },
        Threshold {
            name: "fill",
            default: 0.5,
            meaning: "part of the nearest cache from which on what the first loop receives each time is not all at hand when the \
                      second begins",
        },
    ],
    find,
};

/// What both loops read.
struct Shared {
    /// The event of the first loop with the largest count on it.
    earlier: Event,
    /// The same of the second.
    again: Event,
    /// Part of the second loop's events.
    share: f64,
    /// Part of those that are reuse.
    reuse: f64,
    /// Events of the first loop.
    first_events: u64,
    /// The first loop has received so little that the second one finds it in the nearest cache.
    is_brought: bool,
}

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_loop() {
        return None;
    }
    let (region, events) = (case.region, executed(case, case.region));
    if !case.is_enough(sum(&events)) {
        return None;
    }
    let first = before(case).or_else(|| alternating(case, &events))?;
    let shared = shared(case, &events, first)?;
    // What passes from the first to the second between threads would arrive too late in one loop.
    if events.iter().any(|e| e.raw > 0 && !e.is_serial() && case.executes(first.id, e.writer_site)) {
        return None;
    }
    let (again, earlier) = (shared.again, shared.earlier);
    let name = case.object(&again);
    let (at, before) = (case.position(again.reader_site), case.position(earlier.reader_site));
    let reader = case.facts.tree.of_site(case.facts.profile, again.reader_site)?;
    let (lowers, what) = if at == before {
        // The same code on the same data: done once, its reads are made once.
        (Lowers::Rar, format!("both run {} over it: one loop can do that once for both", place(&at)))
    } else if gathers(case, &earlier, &again)
        || shared.is_brought
        || is_at_hand(&case.facts.regions[reader as usize], case.threshold(&RULE, "misses"))
    {
        return None;
    } else {
        (Lowers::CrdMedian, "in one loop each element is used while it is still at hand".to_owned())
    };
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Loop fusion: the loop at {} uses {name} again, which the loop at {} has received just before; {what}.",
            span(region),
            span(first)
        ),
        evidence: evidence([
            ("share", shared.share),
            ("reuse", shared.reuse),
            ("events", sum(&events) as f64),
            ("first_loop_events", shared.first_events as f64),
        ]),
        promise: Promise::of(case.facts.regions, lowers, case.function(reader)),
        lines: vec![start(first), start(region), at],
    })
}

/// Whether the second loop picks elements in no order from what the first one goes through: it needs all of it from its
/// first iteration on, so that nothing is at hand longer in one loop. Where both pick, they may do so alike.
fn gathers(case: &Case<'_>, earlier: &Event, again: &Event) -> bool {
    let step = |event: &Event| case.strides(event.reader_site).0;
    step(again) == Stride::None && matches!(step(earlier), Stride::Bytes(bytes) if bytes != 0)
}

/// Whether a loop finds most of what it uses again in the nearest cache, as another one has just received it. Distances
/// do not tell: they are followed in each region by itself, and reach back to the loop's own use before.
pub(super) fn is_brought(case: &Case<'_>) -> bool {
    let events = executed(case, case.region);
    let first = before(case).or_else(|| alternating(case, &events));
    let shared = first.filter(|_| case.is_loop()).and_then(|first| shared(case, &events, first));
    shared.is_some_and(|shared| shared.is_brought && shared.share > 0.5)
}

/// Whether what a loop with these events receives each time stays in the nearest cache until another one uses it, which
/// runs each time as well.
fn stays(case: &Case<'_>, first: &Region, events: u64) -> bool {
    let cutoffs = |counts: &Counts| Some(counts.own.crd.as_ref()?.cutoffs.first()?.max_bytes);
    let Some(nearest) = case.counts().and_then(cutoffs).filter(|_| first.visits > 0) else { return false };
    let bytes = events as f64 / first.visits as f64 * f64::from(case.facts.profile.header().granule.max(1));
    case.region.visits >= first.visits && bytes <= case.threshold(&RULE, "fill") * nearest as f64
}

/// Whether a region finds what it uses again in the nearest cache, so that no distance has to be shorter. Without
/// distances that is not known.
fn is_at_hand(region: &Region, least_misses: f64) -> bool {
    let crd = region.counts.as_ref().and_then(|counts| counts.own.crd.as_ref());
    crd.is_some_and(|crd| nearest_holds(&crd.cutoffs, least_misses))
}

fn nearest_holds(cutoffs: &[Cutoff], least_misses: f64) -> bool {
    cutoffs.first().is_some_and(|nearest| nearest.no_miss > 1.0 - least_misses)
}

/// Own events and those of what was inlined.
fn executed(case: &Case<'_>, region: &Region) -> Vec<Event> {
    let id = region.id as usize;
    case.facts.events[id].iter().chain(&case.inlined[id]).copied().collect()
}

/// What both loops read, if it is worth it.
fn shared(case: &Case<'_>, events: &[Event], first: &Region) -> Option<Shared> {
    let first_events = executed(case, first);
    let (here, there) = (by_source(events), by_source(&first_events));
    let total = sum(events);
    let found = here.iter().filter_map(|(written, (raw, rar))| {
        let (first_raw, first_rar) = there.get(written)?;
        let all = raw.saturating_add(*rar);
        let reuse = *rar as f64 / all.max(1) as f64;
        let share = all as f64 / total.max(1) as f64;
        // Received there: else the two loops have nothing of each other.
        let received = *first_raw as f64 / first_raw.saturating_add(*raw).max(1) as f64;
        let fits = received >= case.threshold(&RULE, "received")
            && reuse >= case.threshold(&RULE, "reuse")
            && share >= case.threshold(&RULE, "share");
        let (earlier, again) = (heaviest(&first_events, *written)?, heaviest(events, *written)?);
        let is_one = case.facts.objects.may_be_same(earlier.reader_site, again.reader_site);
        let first_events = first_raw.saturating_add(*first_rar);
        let is_brought = stays(case, first, first_events);
        (fits && is_one).then_some(Shared { earlier, again, share, reuse, first_events, is_brought })
    });
    found.max_by(|a, b| a.share.total_cmp(&b.share))
}

/// The loop that ends last before this one begins, in the same function and not far away.
fn before<'a>(case: &Case<'a>) -> Option<&'a Region> {
    let (region, gap) = (case.region, case.threshold(&RULE, "gap"));
    let line = region.line?;
    let ends = |r: &Region| r.end_line.or(r.line);
    let candidates = case.facts.regions.iter().filter(|r| {
        r.kind == region.kind
            && r.name == region.name
            && r.file == region.file
            && is_active(case, r)
            && ends(r).is_some_and(|end| end < line && f64::from(line - end) <= gap)
            && depth(case, r) == depth(case, region)
            && !are_parted(case, r)
    });
    candidates.max_by_key(|r| (ends(r), r.id))
}

/// Whether a call of the function around both may run one of the two loops without the other: a thread has run one of
/// them more often. They may be on the two sides of a condition.
fn are_parted(case: &Case<'_>, other: &Region) -> bool {
    let region = case.region;
    let around = region.parent.and_then(|parent| case.facts.regions.get(parent as usize));
    let visits = |of: &Region| of.threads.iter().copied().zip(of.visits_by_thread.iter().copied()).collect::<Vec<_>>();
    other.parent == region.parent
        && around.is_some_and(|around| around.kind == RegionKind::Function)
        && visits(region) != visits(other)
}

/// A loop of another function that each thread runs as often as this one, and whose data this one uses again every
/// time: it runs before. Of several the one with the most events.
fn alternating<'a>(case: &Case<'a>, here: &[Event]) -> Option<&'a Region> {
    let region = case.region;
    let candidates = case.facts.regions.iter().filter(|r| {
        r.kind == region.kind
            && r.visits > 0
            && case.function(r.id) != case.function(region.id)
            && r.threads == region.threads
            && r.visits_by_thread == region.visits_by_thread
            && depth(case, r) == depth(case, region)
            && is_active(case, r)
            && shared(case, here, r).is_some()
    });
    candidates.max_by_key(|r| (sum(&executed(case, r)), r.id))
}

fn is_active(case: &Case<'_>, region: &Region) -> bool {
    let id = region.id as usize;
    !(case.facts.events[id].is_empty() && case.inlined[id].is_empty())
}

/// Loops around a region.
fn depth(case: &Case<'_>, region: &Region) -> usize {
    let parent = |r: &&Region| case.facts.regions.get(r.parent? as usize);
    std::iter::successors(Some(region), |r| parent(r)).filter(|r| r.kind == case.region.kind).count()
}

fn by_source(events: &[Event]) -> BTreeMap<u32, (u64, u64)> {
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for event in events {
        let sum = sums.entry(event.writer_site).or_default();
        *sum = (sum.0.saturating_add(event.raw), sum.1.saturating_add(event.rar));
    }
    sums
}

/// The event with the largest count on what a site wrote.
fn heaviest(events: &[Event], writer_site: u32) -> Option<Event> {
    let on_it = events.iter().filter(|e| e.writer_site == writer_site);
    on_it.max_by_key(|e| e.raw.saturating_add(e.rar)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_cache_holds_what_neither_misses_nor_may_miss() {
        let cutoff = |level, no_miss| Cutoff {
            level,
            min_bytes: 32,
            max_bytes: 64,
            no_miss,
            probable_miss: (1.0 - no_miss) / 2.0,
            definite_miss: (1.0 - no_miss) / 2.0,
        };
        let holds = |no_miss| nearest_holds(&[cutoff(1, no_miss), cutoff(2, 1.0)], 0.1);
        assert_eq!([1.0, 0.92, 0.5].map(holds), [true, true, false]);
        // Where there are no distances, all shares are 0.
        assert!(!nearest_holds(&[Cutoff { probable_miss: 0.0, definite_miss: 0.0, ..cutoff(1, 0.0) }], 0.1));
        assert!(!nearest_holds(&[], 0.1));
    }
}
