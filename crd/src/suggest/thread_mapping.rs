//! Thread mapping: threads talk to few partners, or reuse very unevenly, so that it matters who runs beside whom.

use std::collections::BTreeMap;

use super::{Case, Rule, Threshold, evidence, place, span, start};
use crate::model::{Means, Measures, Suggestion, SuggestionKind};

pub(super) const RULE: Rule = Rule {
    name: "thread-mapping",
    thresholds: &[
        Threshold { name: "threads", default: 4.0, meaning: "least number of threads: fewer have no choice" },
        Threshold {
            name: "partners",
            default: 0.6,
            meaning: "part of a thread's communication that is with its two closest partners",
        },
        Threshold {
            name: "uneven",
            default: 1.5,
            meaning: "how many times that part must exceed the one of even communication",
        },
        Threshold {
            name: "heterogeneity",
            default: 1.0,
            meaning: "standard deviation of the pairs' reuse ratios, as a multiple of their mean",
        },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() {
        return None;
    }
    // What one thread wrote before the others existed says nothing of who belongs together.
    let mut volumes: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for event in case.events.iter().filter(|e| !e.is_serial()) {
        let pair = (event.writer.min(event.reader), event.writer.max(event.reader));
        let volume = volumes.entry(pair).or_default();
        *volume = volume.saturating_add(event.raw).saturating_add(event.rar);
    }
    let mut threads: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for ((a, b), volume) in &volumes {
        threads.entry(*a).or_default().push(*volume);
        threads.entry(*b).or_default().push(*volume);
    }
    let count = threads.len();
    if (count as f64) < case.threshold(&RULE, "threads") {
        return None;
    }
    let all: u64 = threads.values().flatten().sum();
    let closest: u64 = threads
        .values_mut()
        .map(|volumes| {
            volumes.sort_unstable_by_key(|v| std::cmp::Reverse(*v));
            volumes.iter().take(2).sum::<u64>()
        })
        .sum();
    let partners = closest as f64 / all.max(1) as f64;
    let even = 2.0 / (count as f64 - 1.0);
    let measures = &case.counts()?.own;
    let heterogeneity = variation(measures, case.region.threads.len());
    let few = partners >= case.threshold(&RULE, "partners") && partners >= even * case.threshold(&RULE, "uneven");
    let uneven = heterogeneity >= case.threshold(&RULE, "heterogeneity");
    if !few && !uneven {
        return None;
    }
    let why = if few {
        format!("{:.0} % of each thread's communication is with two others of {count}", 100.0 * partners)
    } else {
        format!(
            "reuse differs much between the pairs of {count} threads (the ratios' standard deviation is {heterogeneity:.1} times their mean)"
        )
    };
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Thread,
        means: Means::RunTime,
        text: format!(
            "Thread mapping: at {} ({}) {why}. Place threads that talk to each other on processors that share a cache: \
             `threadtalk map` computes a placement.",
            place(&start(case.region)),
            span(case.region)
        ),
        evidence: evidence([
            ("threads", count as f64),
            ("partners", partners),
            ("even", even),
            ("heterogeneity", heterogeneity),
            ("homogeneity", measures.homogeneity),
            ("balance", measures.balance),
        ]),
        lines: vec![start(case.region)],
    })
}

/// Coefficient of variation of the reuse ratios of all pairs. The homogeneity of equation 1 has the diagonal in it, which is
/// 0 by definition: of ratios that are all equal it leaves a variance that depends on the number of threads.
fn variation(measures: &Measures, threads: usize) -> f64 {
    let pairs = (threads * threads.saturating_sub(1)) as f64;
    let ratios = measures.crr.entries().iter().filter(|e| e.writer != e.reader).map(|e| e.value);
    let (sum, squares) = ratios.fold((0.0, 0.0), |(sum, squares), r| (sum + r, squares + r * r));
    if pairs == 0.0 || sum == 0.0 {
        return 0.0;
    }
    let mean = sum / pairs;
    (squares / pairs - mean * mean).max(0.0).sqrt() / mean
}
