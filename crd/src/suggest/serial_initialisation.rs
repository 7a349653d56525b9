//! Serial initialisation: one thread wrote the data before there were others, and all of it passes from there. On a
//! machine with several memories its pages lie beside that thread, too.
//!
//! That is worth a change only where threads divide the data among themselves. What each of them reads in whole has no
//! thread that it could lie beside: whoever writes it first, all others fetch it. Nor has what they read anywhere, as
//! in a hash table.

use std::collections::{BTreeMap, BTreeSet};

use super::{Case, Rule, Threshold, evidence, place, start};
use crate::model::{Lowers, Means, Suggestion, SuggestionKind};
use threadtalk_profile::Event;

pub(super) const RULE: Rule = Rule {
    name: "serial-initialisation",
    thresholds: &[
        Threshold {
            name: "share",
            default: 0.5,
            meaning: "part of the region's true communication that was written serially and is divided among threads",
        },
        Threshold {
            name: "bytes",
            default: 65536.0,
            meaning: "bytes received that way: first touch is a matter of pages",
        },
        Threshold { name: "readers", default: 2.0, meaning: "threads that read it" },
        Threshold {
            name: "readers-per-element",
            default: 1.5,
            meaning: "most threads that read an element, in the mean of a line's: what several need lies well with nobody",
        },
        Threshold {
            name: "overlap",
            default: 0.5,
            meaning: "elements of a line's that several threads read, as a part of those they would if each read anywhere: from it on \
                      no thread has a part of its own",
        },
        Threshold {
            name: "kept",
            default: 0.5,
            meaning: "part of a line's elements, by their readers, that were not written again: else that is not known",
        },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() {
        return None;
    }
    let (most, kept) = (case.threshold(&RULE, "readers-per-element"), case.threshold(&RULE, "kept"));
    let anywhere = case.threshold(&RULE, "overlap");
    let mut of_site: BTreeMap<u32, (Option<f64>, bool)> = BTreeMap::new();
    for event in case.events.iter().filter(|e| e.is_serial() && e.raw > 0) {
        let (site, serial) = (event.writer_site, case.facts.serial);
        of_site.entry(site).or_insert_with(|| {
            let (each, overlap) = (serial.readers_per_element(site, kept), serial.overlap(site, kept));
            (each, each.is_none_or(|n| n <= most) && overlap.is_none_or(|overlap| overlap < anywhere))
        });
    }
    let is_divided = |e: &Event| of_site.get(&e.writer_site).is_some_and(|(_, is_divided)| *is_divided);
    let wanted = |e: &Event| e.is_serial() && e.raw > 0 && is_divided(e);
    let (_, example) = case.heaviest(wanted)?;
    let all = || case.events.iter().filter(|e| wanted(e));
    let serial: u64 = all().map(|e| e.raw).sum();
    let raw: u64 = case.events.iter().map(|e| e.raw).sum();
    let readers = all().map(|e| e.reader).collect::<BTreeSet<_>>().len();
    let share = serial as f64 / raw.max(1) as f64;
    let bytes = serial as f64 * f64::from(case.facts.profile.header().granule);
    if share < case.threshold(&RULE, "share")
        || bytes < case.threshold(&RULE, "bytes")
        || (readers as f64) < case.threshold(&RULE, "readers")
    {
        return None;
    }
    let mut figures = evidence([("share", share), ("bytes", bytes), ("readers", readers as f64)]);
    let each = of_site.get(&example.writer_site).and_then(|(each, _)| *each);
    figures.extend(each.map(|n| ("readers_per_element".to_owned(), n)));
    let (from, to) = (case.position(example.writer_site), case.position(example.reader_site));
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Parallel initialisation (first touch): {} was written at {} while one thread ran alone, and {readers} threads fetch \
             it from there ({:.0} % of the communication at {}). Let each thread initialise the part that it will use, in a \
             loop divided like the one that reads it.",
            case.object(&example),
            place(&from),
            100.0 * share,
            place(&to)
        ),
        evidence: figures,
        promise: case.promise(Lowers::SerialRaw),
        lines: vec![from, to, start(case.region)],
    })
}
