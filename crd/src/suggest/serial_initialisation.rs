//! Serial initialisation: one thread wrote the data before there were others, and all of it passes from there. On a
//! machine with several memories its pages lie beside that thread, too.

use std::collections::BTreeSet;

use super::{Case, Rule, Threshold, evidence, place, start};
use crate::model::{Lowers, Means, Suggestion, SuggestionKind};

pub(super) const RULE: Rule = Rule {
    name: "serial-initialisation",
    thresholds: &[
        Threshold {
            name: "share",
            default: 0.5,
            meaning: "part of the region's true communication that was written serially",
        },
        Threshold {
            name: "bytes",
            default: 65536.0,
            meaning: "bytes received that way: first touch is a matter of pages",
        },
        Threshold { name: "readers", default: 2.0, meaning: "threads that read it" },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() {
        return None;
    }
    let (_, example) = case.heaviest(|e| e.is_serial() && e.raw > 0)?;
    let serial: u64 = case.events.iter().filter(|e| e.is_serial()).map(|e| e.raw).sum();
    let raw: u64 = case.events.iter().map(|e| e.raw).sum();
    let readers = case.events.iter().filter(|e| e.is_serial()).map(|e| e.reader).collect::<BTreeSet<_>>().len();
    let share = serial as f64 / raw.max(1) as f64;
    let bytes = serial as f64 * f64::from(case.facts.profile.header().granule);
    if share < case.threshold(&RULE, "share")
        || bytes < case.threshold(&RULE, "bytes")
        || (readers as f64) < case.threshold(&RULE, "readers")
    {
        return None;
    }
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
        evidence: evidence([("share", share), ("bytes", bytes), ("readers", readers as f64)]),
        promise: case.promise(Lowers::SerialRaw),
        lines: vec![from, to, start(case.region)],
    })
}
