//! Loop reordering: in the inner loop each read lands on another cache line, in the outer one it would go along them.

use threadtalk_profile::Stride;

use super::{Case, Rule, Threshold, evidence, place, start};
use crate::model::{Lowers, Means, Suggestion, SuggestionKind};

pub(super) const RULE: Rule = Rule {
    name: "loop-reordering",
    thresholds: &[
        Threshold {
            name: "stride",
            default: 64.0,
            meaning: "bytes from one inner iteration to the next: a cache line",
        },
        Threshold { name: "outer", default: 32.0, meaning: "most bytes from one outer iteration to the next" },
        Threshold { name: "share", default: 0.3, meaning: "part of the region's events that go across" },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    // The strides of a loop with another inside say little: the inner one does the work.
    if !case.is_significant() || case.holds_a_loop() {
        return None;
    }
    let (far, near) = (case.threshold(&RULE, "stride"), case.threshold(&RULE, "outer"));
    let goes_across = |site: u32| {
        let (inner, outer) = case.strides(site);
        let is_far = match inner {
            Stride::Bytes(bytes) => f64::from(bytes).abs() >= far,
            // Known only when the program runs: the length of a row.
            Stride::Variable => true,
            Stride::None => false,
        };
        is_far && matches!(outer, Stride::Bytes(bytes) if bytes != 0 && f64::from(bytes).abs() <= near)
    };
    let (across, example) = case.heaviest(|e| goes_across(e.reader_site))?;
    let share = across as f64 / case.total as f64;
    if share < case.threshold(&RULE, "share") {
        return None;
    }
    let (inner, outer) = case.strides(example.reader_site);
    let position = case.position(example.reader_site);
    let object = case.object(&example);
    let step = match inner {
        Stride::Bytes(bytes) => format!("{bytes} bytes"),
        _ => "a whole row".to_owned(),
    };
    let bytes = |stride| if let Stride::Bytes(bytes) = stride { f64::from(bytes) } else { -1.0 };
    let nest = match case.outer_loop().map(start) {
        Some(outer) => format!("the loops at {} and {}", place(&outer), place(&start(case.region))),
        None => format!("the loop at {} and the one around it", place(&start(case.region))),
    };
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Loop reordering: exchange {nest}. The inner one reads {object} at {} with a step of {step}, the outer one \
             with {} bytes: exchanged, neighbours in memory are read one after the other.",
            place(&position),
            bytes(outer)
        ),
        evidence: evidence([
            ("share", share),
            ("events", across as f64),
            ("stride_bytes", bytes(inner)),
            ("outer_stride_bytes", bytes(outer)),
        ]),
        promise: case.promise(Lowers::CrdMedian),
        lines: vec![start(case.region), position],
    })
}
