//! Records with new numbers; those that mean the same add up.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::How;
use super::numbers::Source;
use crate::tables::{Event, Histogram, Phase, PrivateBytes, Trace, Visit};

/// Adds up what has the same key, in the order of the keys.
pub fn sum<K: Ord, V>(values: impl Iterator<Item = (K, V)>, add: fn(&mut V, V)) -> Vec<V> {
    let mut sums = BTreeMap::new();
    for (key, value) in values {
        match sums.entry(key) {
            Entry::Vacant(place) => drop(place.insert(value)),
            Entry::Occupied(mut place) => add(place.get_mut(), value),
        }
    }
    sums.into_values().collect()
}

/// Counters of a damaged file may be anything: sums end at the largest number.
pub fn raise(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

pub fn events(sources: &[Source<'_>]) -> Vec<Event> {
    let moved = |s: &Source<'_>, e: &Event| Event {
        writer: s.threads.of(e.writer),
        reader: s.threads.of(e.reader),
        writer_site: s.site(e.writer_site),
        reader_site: s.site(e.reader_site),
        region: s.region(e.region),
        context: s.region(e.context),
        ..*e
    };
    let key = |e: &Event| (e.reader, e.writer, e.region, e.context, e.writer_site, e.reader_site, e.flags);
    let all = sources.iter().flat_map(|s| s.contents.events.iter().map(move |e| moved(s, e)));
    sum(all.map(|e| (key(&e), e)), |sum, e| {
        raise(&mut sum.raw, e.raw);
        raise(&mut sum.rar, e.rar);
    })
}

pub fn visits(sources: &[Source<'_>]) -> Vec<Visit> {
    let moved = |s: &Source<'_>, v: &Visit| Visit { thread: s.threads.of(v.thread), region: s.region(v.region), ..*v };
    let all = sources.iter().flat_map(|s| s.contents.visits.iter().map(move |v| moved(s, v)));
    sum(all.map(|v| ((v.thread, v.region), v)), |sum, v| raise(&mut sum.count, v.count))
}

pub fn private_bytes(sources: &[Source<'_>]) -> Vec<PrivateBytes> {
    let moved = |s: &Source<'_>, p: &PrivateBytes| PrivateBytes {
        writer: s.threads.of(p.writer),
        region: s.region(p.region),
        ..*p
    };
    let all = sources.iter().flat_map(|s| s.contents.private_bytes.iter().map(move |p| moved(s, p)));
    sum(all.map(|p| ((p.writer, p.region), p)), |sum, p| raise(&mut sum.bytes, p.bytes))
}

/// Communication over time of all ranks on one clock. That of several runs has no common time: none.
pub fn phases(sources: &[Source<'_>], how: How) -> Vec<Phase> {
    if how == How::Sum && sources.len() > 1 {
        return Vec::new();
    }
    let moved = |s: &Source<'_>, p: &Phase| Phase {
        writer: s.threads.of(p.writer),
        reader: s.threads.of(p.reader),
        from_ns: p.from_ns.saturating_add(s.delay),
        to_ns: p.to_ns.saturating_add(s.delay),
        ..*p
    };
    sources.iter().flat_map(|s| s.contents.phases.iter().map(move |p| moved(s, p))).collect()
}

pub fn traces(sources: &[Source<'_>]) -> Vec<Trace> {
    let moved = |s: &Source<'_>, t: &Trace| Trace {
        writer: s.threads.of(t.writer),
        reader: s.threads.of(t.reader),
        region: s.region(t.region),
        ..t.clone()
    };
    let all = sources.iter().enumerate().flat_map(|(run, s)| s.contents.traces.iter().map(move |t| (run, moved(s, t))));
    // The records of a pair and region are different times of a run: the first of one run belongs to that of the
    // others.
    let mut seen: BTreeMap<(usize, u32, u32, u32), u32> = BTreeMap::new();
    let numbered = all.map(|(run, t)| {
        let number = seen.entry((run, t.reader, t.writer, t.region)).or_default();
        *number += 1;
        ((t.reader, t.writer, t.region, *number), t)
    });
    sum(numbered, |sum, t| {
        sum.is_sampled |= t.is_sampled;
        // A record without samples has nothing to make up for.
        sum.makes_up |= t.makes_up;
        raise(&mut sum.exact_usages, t.exact_usages);
        raise(&mut sum.exact_elements, t.exact_elements);
        raise(&mut sum.samples, t.samples);
        raise(&mut sum.abandoned, t.abandoned);
        sum.distinct = both(&sum.distinct, &t.distinct);
        sum.index = both(&sum.index, &t.index);
        sum.sampled = both(&sum.sampled, &t.sampled);
        sum.begun = both(&sum.begun, &t.begun);
        sum.open = both(&sum.open, &t.open);
    })
}

fn both(a: &Histogram, b: &Histogram) -> Histogram {
    Histogram::of_buckets(a.buckets().iter().chain(b.buckets()).copied())
}
