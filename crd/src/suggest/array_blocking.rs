//! Array blocking (tiling): what was received is used again, but only after more data than a cache level holds.

use std::collections::BTreeMap;
use threadtalk_profile::Stride;

use super::{Case, Rule, Threshold, evidence, loop_fusion, span, start};
use crate::model::{Cutoff, Lowers, Means, Suggestion, SuggestionKind};

pub(super) const RULE: Rule = Rule {
    name: "array-blocking",
    thresholds: &[
        Threshold { name: "misses", default: 0.25, meaning: "part of the reuses that miss a level" },
        Threshold { name: "reuse", default: 1.0, meaning: "reuses for each true communication" },
        Threshold {
            name: "distance",
            default: 0.25,
            meaning: "median of the distances as a part of the level, from which on possible misses count: shorter ones no tile makes \
                      shorter",
        },
        Threshold {
            name: "within",
            default: 2.0,
            meaning: "events of a pair of threads in one entry of the loops, for each element of the distance: with fewer, what is used \
                      again was used in the entry before, which no order of the loops brings nearer",
        },
        Threshold { name: "fill", default: 0.5, meaning: "part of the level that a tile may take" },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() || !(case.is_loop() || case.is_in_callers_loop()) {
        return None;
    }
    let counts = case.counts()?;
    let (raw, rar) = case.all_uses();
    let reuse = rar / raw.max(1.0);
    let crd = counts.own.crd.as_ref()?;
    let median = crd.distinct.median_bytes.unwrap_or(0.0);
    // That the threads' own data fill a cache makes misses possible, whatever the distance.
    let is_far = |c: &Cutoff| median >= case.threshold(&RULE, "distance") * c.max_bytes as f64;
    let misses = |c: &Cutoff| c.definite_miss + if is_far(c) { c.probable_miss } else { 0.0 };
    // The nearest level that does not hold the distances: smaller ones hold less.
    let level = crd.cutoffs.iter().find(|c| misses(c) >= case.threshold(&RULE, "misses"))?;
    // A loop that goes through an array once uses elements again only when it is entered anew, or at random: no order
    // of its iterations changes that.
    let is_nest = case.outer_loop().is_some();
    let has_tiles = is_nest || case.is_in_callers_loop();
    if reuse < case.threshold(&RULE, "reuse") || level.max_bytes == 0 || !has_tiles {
        return None;
    }
    if loop_fusion::is_brought(case) || is_picked(case, is_nest) {
        return None;
    }
    let (_, example) = case.heaviest(|_| true)?;
    let is_certain = level.definite_miss >= case.threshold(&RULE, "misses");
    let (verb, share) = if is_certain { ("miss", level.definite_miss) } else { ("can miss", misses(level)) };
    let (part, distance) =
        if is_far(level) { ("half", median) } else { ("a tenth", crd.distinct.p90_bytes.unwrap_or(median)) };
    let granule = f64::from(case.facts.profile.header().granule.max(1));
    if is_nest && events_per_entry(case) * granule < case.threshold(&RULE, "within") * distance {
        return None;
    }
    let step = step(case);
    let element = step.unwrap_or(granule);
    let elements = level.max_bytes as f64 * case.threshold(&RULE, "fill") / element;
    let (tile, shape) = if is_nest {
        let side = power_of_two(elements.sqrt());
        (side * side, format!("{side} x {side}"))
    } else {
        let length = power_of_two(elements);
        (length, length.to_string())
    };
    let bytes = tile as f64 * element;
    // Where most is read in steps that are not known, nothing tells how large an element is.
    let tiles = match step {
        Some(element) => format!("{shape} elements of {element} bytes ({bytes:.0} bytes)"),
        None => format!("{bytes:.0} bytes"),
    };
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Array blocking: at {} {part} of the reuses come after {distance:.0} or more bytes of other elements, and {:.0} % of all \
             {verb} L{}. Work in tiles of {tiles}: they stay in L{} until they are used again.",
            span(case.region),
            100.0 * share,
            level.level,
            level.level
        ),
        evidence: evidence([
            ("level", f64::from(level.level)),
            ("level_bytes", level.max_bytes as f64),
            ("misses", misses(level)),
            ("definite_misses", level.definite_miss),
            ("reuse", reuse),
            ("median_bytes", median),
            ("tile_elements", tile as f64),
            ("tile_bytes", bytes),
            ("element_bytes", element),
        ]),
        promise: case.promise(Lowers::Misses(level.level)),
        lines: vec![start(case.region), case.position(example.reader_site)],
    })
}

/// The largest power of two that is not above a number; at least 1.
fn power_of_two(number: f64) -> u64 {
    1 << (number.max(1.0) as u64).ilog2()
}

/// The step, in bytes, in which most of what is read is read; `None`: it is none that is known, or too long for an
/// element.
fn step(case: &Case<'_>) -> Option<f64> {
    let mut by_step: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    for event in case.events {
        let (inner, outer) = case.strides(event.reader_site);
        let known = [inner, outer].into_iter().filter_map(|s| match s {
            Stride::Bytes(bytes) => Some(u64::from(bytes.unsigned_abs())).filter(|bytes| (1..=64).contains(bytes)),
            _ => None,
        });
        *by_step.entry(known.min()).or_default() += event.raw + event.rar;
    }
    by_step.into_iter().max_by_key(|(_, events)| *events).and_then(|(step, _)| step).map(|step| step as f64)
}

/// Whether most of what is used again was picked, by keys or along links, so that no order of loops brings it nearer:
/// rows of which each iteration of the nest's only outer loop takes one somewhere else (in deeper nests a loop further
/// out may use each row again), and items of a list or a tree.
fn is_picked(case: &Case<'_>, is_nest: bool) -> bool {
    let outermost = case.outermost_loop();
    // A loop that threads divide has a construct of the same line around it.
    let is_deep = case.outer_loop().is_some_and(|outer| outer.line != outermost.line);
    let (mut picked, mut all) = (0u64, 0u64);
    for event in case.events {
        let (inner, outer) = case.strides(event.reader_site);
        let is_row = is_nest && !is_deep && !matches!(inner, Stride::None | Stride::Bytes(0)) && outer == Stride::None;
        if is_row || case.is_linked(event.reader_site) {
            picked = picked.saturating_add(event.rar);
        }
        all = all.saturating_add(event.rar);
    }
    picked > all / 2
}

/// How many uses a thread makes, in one entry of the nest's outermost loop, of what one other thread wrote.
fn events_per_entry(case: &Case<'_>) -> f64 {
    let mut by_writer: BTreeMap<u32, f64> = BTreeMap::new();
    for event in case.events {
        *by_writer.entry(event.writer).or_default() += event.raw as f64 + event.rar as f64;
    }
    let (sum, squares) = by_writer.values().fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    // Of several writers from whom very different amounts come, those with the most count.
    let writers = if squares > 0.0 { sum * sum / squares } else { 1.0 };
    sum / writers / case.outermost_loop().visits.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::power_of_two;

    #[test]
    fn tiles_have_powers_of_two() {
        assert_eq!([0.0, 1.0, 1.9, 2.0, 63.0, 64.0, 1e6].map(power_of_two), [1, 1, 1, 2, 32, 64, 524_288]);
    }
}
