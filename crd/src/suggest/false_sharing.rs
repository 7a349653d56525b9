//! False sharing: padding, or a copy for each thread.

use super::{Case, Rule, Threshold, evidence, place};
use crate::model::{FalseSharing, Lowers, Means, Suggestion, SuggestionKind};
use threadtalk_abi::module::TASK_DATA;

pub(super) const RULE: Rule = Rule {
    name: "false-sharing",
    thresholds: &[
        Threshold {
            name: "share",
            default: 0.25,
            meaning: "part of the line's cache lines that are shared: the border of large blocks is a small one",
        },
        Threshold {
            name: "writes",
            default: 1000.0,
            meaning: "writes of either line onto the lines that they share, and reads there if the other one reads: each may cost some \
                      100 ns; where control flow was not counted, entries of a region that is no loop",
        },
        Threshold {
            name: "run",
            default: 0.001,
            meaning: "part of the run's CPU time that moves of the lines can cost at most, at 100 ns each, where executions are known",
        },
        Threshold {
            name: "passed",
            default: 0.1,
            meaning: "most values of the two lines that pass between the threads for each write onto shared lines: these move the lines anyhow",
        },
    ],
    find,
};

/// What it takes to fetch a cache line that another processor has changed.
const MOVE_NS: f64 = 100.0;
/// Elements of a cache line.
const ELEMENTS: u64 = 16;

fn find(case: &Case<'_>) -> Option<Suggestion> {
    let cpu_ns = case.facts.profile.header().cpu_ns.map_or(0.0, |ns| ns as f64);
    let least_moves = (case.threshold(&RULE, "run") * cpu_ns / MOVE_NS).max(case.threshold(&RULE, "writes"));
    let is_frequent = |f: &FalseSharing| match f.moves {
        Some(moves) => moves as f64 >= least_moves,
        None => f.at_least as f64 >= least_moves,
    };
    let most_passed = case.threshold(&RULE, "passed");
    let most_values = |f: &FalseSharing| match f.writes_shared() {
        Some(writes) => most_passed * writes as f64,
        None if f.at_least < u64::MAX => (most_passed * f.at_least as f64).max(f.lines as f64),
        None if f.moves.is_some() => f.lines as f64,
        // Where nothing is known of how often the line was executed, each value may be read once: results in the end.
        None => (f.lines * ELEMENTS) as f64,
    };
    let passes = |f: &FalseSharing| f.passed as f64 > most_values(f);
    let share = |lines: u64, of: u64| lines as f64 / of.max(1) as f64;
    let least = case.threshold(&RULE, "share");
    // Tasks lie where OpenMP puts them: no padding of the program's would help.
    let is_programs = |f: &&FalseSharing| *f.object != *TASK_DATA;
    let mut candidates = case.region.false_sharing.iter().filter(is_programs);
    let is_one = |f: &&FalseSharing| share(f.lines, f.of_lines) >= least && is_frequent(f) && f.at_once && !passes(f);
    let found = candidates.find(is_one)?;
    let object = if found.object.is_empty() { "elements".to_owned() } else { format!("`{}`", found.object) };
    let [a, b] = found.threads;
    // Of what is read it is known where it was written.
    let what = match (found.other_reads, place(&found.other)) {
        (true, written) => format!("reads beside it what {written} wrote (first threads {a} and {b})"),
        (false, other) => format!("writes others of them ({other}; first threads {a} and {b})"),
    };
    let often = match found.writes {
        Some(writes) => format!("all threads together executed it at least {writes} times"),
        // Entries of what is inlined are not counted.
        None if case.region.visits == 0 => "how often is not known".to_owned(),
        None => format!("how often is not known: the region was entered {} times", case.region.visits),
    };
    let mut evidence = evidence([
        ("cache_lines", found.lines as f64),
        ("share", share(found.lines, found.of_lines)),
        ("threads", f64::from(found.threads_seen)),
        ("visits", case.region.visits as f64),
    ]);
    evidence.extend(found.writes.map(|writes| ("writes".to_owned(), writes as f64)));
    evidence.extend(found.writes_shared().map(|writes| ("writes_shared".to_owned(), writes as f64)));
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Padding: the line {} writes {object} in cache lines in which another thread {what}. No data passes \
             between them, yet each write takes the line away ({often}). Give each thread's part a cache \
             line of its own (alignas(64), or a local variable that is stored once at the end).",
            place(&found.writer)
        ),
        evidence,
        promise: case.promise(Lowers::SharedLines),
        lines: vec![found.writer.clone(), found.other.clone()],
    })
}
