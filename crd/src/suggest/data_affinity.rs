//! Data-affinity scheduling: a loop reads what another thread wrote although both loops walk the array in the same way. The
//! iterations are divided among the threads differently: a dynamic schedule, another chunk, a shifted bound.

use super::{Case, Rule, Threshold, evidence, place, start};
use crate::model::{Means, Suggestion, SuggestionKind};
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
            default: 2.5,
            meaning: "most threads that read such an element: what all need, no schedule helps",
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
    let matches = |e: &Event| {
        let Some(written) = case.facts.written.get(&e.writer_site) else { return false };
        let part = written.read as f64 / written.elements.max(1) as f64;
        let readers = written.readers as f64 / written.read.max(1) as f64;
        let walks = case.strides(e.writer_site).0;
        !e.is_serial()
            && !e.is_sync()
            && e.raw > 0
            && part >= case.threshold(&RULE, "read")
            && readers <= case.threshold(&RULE, "readers")
            && !matches!(walks, Stride::None | Stride::Bytes(0))
            && walks == case.strides(e.reader_site).0
    };
    let (_, example) = case.heaviest(matches)?;
    let moved: u64 = case.events.iter().filter(|e| matches(e)).map(|e| e.raw).sum();
    let raw: u64 = case.events.iter().map(|e| e.raw).sum();
    let share = moved as f64 / raw.max(1) as f64;
    if share < case.threshold(&RULE, "share") {
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
            case.object(example.writer_site),
            place(&from),
            100.0 * written.read as f64 / written.elements.max(1) as f64,
            place(&to),
        ),
        evidence: evidence([
            ("share", share),
            ("communicated", moved as f64),
            ("elements_read_elsewhere", written.read as f64 / written.elements.max(1) as f64),
            ("readers_per_element", written.readers as f64 / written.read.max(1) as f64),
        ]),
        lines: vec![start(case.region), from, to],
    })
}
