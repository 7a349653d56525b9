//! Loop fusion: a loop uses again what the loop before it has received.

use std::collections::BTreeMap;
use threadtalk_profile::Event;

use super::{Case, Rule, Threshold, evidence, place, span, start};
use crate::model::{Means, Region, Suggestion, SuggestionKind};
use crate::objects::ObjectId;

pub(super) const RULE: Rule = Rule {
    name: "loop-fusion",
    thresholds: &[
        Threshold { name: "gap", default: 20.0, meaning: "most lines between the two loops" },
        Threshold {
            name: "reuse",
            default: 0.8,
            meaning: "part of the second loop's events on the array that are reuse",
        },
        Threshold { name: "share", default: 0.3, meaning: "part of the second loop's events that are on the array" },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() || !case.is_loop() {
        return None;
    }
    let first = before(case)?;
    let events = &case.facts.events[first.id as usize];
    let (here, there) = (by_object(case, case.events), by_object(case, events));
    let shared = here.iter().filter_map(|(object, (raw, rar))| {
        let (first_raw, first_rar) = there.get(object)?;
        let all = raw.saturating_add(*rar);
        let reuse = *rar as f64 / all.max(1) as f64;
        let share = all as f64 / case.total.max(1) as f64;
        // Received there: else the two loops have nothing of each other.
        let fits = *first_raw > 0 && reuse >= case.threshold(&RULE, "reuse") && share >= case.threshold(&RULE, "share");
        fits.then_some((share, reuse, *object, first_raw.saturating_add(*first_rar)))
    });
    let (share, reuse, object, first_events) = shared.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let name = case.facts.objects.name(object);
    let name = if name.is_empty() { "the same array".to_owned() } else { format!("`{name}`") };
    let gap = f64::from(case.region.line?.saturating_sub(first.end_line.or(first.line)?));
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Loop fusion: the loop at {} ({}) uses {name} again, which the loop at {} ({}) has received just before. In one \
             loop each element is used while it is still at hand.",
            place(&start(case.region)),
            span(case.region),
            place(&start(first)),
            span(first)
        ),
        evidence: evidence([
            ("share", share),
            ("reuse", reuse),
            ("lines_between", gap),
            ("first_loop_events", first_events as f64),
        ]),
        lines: vec![start(first), start(case.region)],
    })
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
            && !case.facts.events[r.id as usize].is_empty()
            && ends(r).is_some_and(|end| end < line && f64::from(line - end) <= gap)
            && depth(case, r) == depth(case, region)
    });
    candidates.max_by_key(|r| (ends(r), r.id))
}

/// Loops around a region.
fn depth(case: &Case<'_>, region: &Region) -> usize {
    let parent = |r: &&Region| case.facts.regions.get(r.parent? as usize);
    std::iter::successors(Some(region), |r| parent(r)).filter(|r| r.kind == case.region.kind).count()
}

fn by_object(case: &Case<'_>, events: &[Event]) -> BTreeMap<ObjectId, (u64, u64)> {
    let mut sums: BTreeMap<ObjectId, (u64, u64)> = BTreeMap::new();
    for event in events {
        let objects = case.facts.objects;
        for ((object, raw), (_, rar)) in objects.split(event, event.raw).zip(objects.split(event, event.rar)) {
            let sum = sums.entry(object).or_default();
            *sum = (sum.0.saturating_add(raw), sum.1.saturating_add(rar));
        }
    }
    sums
}
