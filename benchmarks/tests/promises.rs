//! Suggestions keep their promises: for each program of the paper's evaluation threadtalk suggests, before the
//! optimisation, what the paper did, and the figure that the suggestion promises to lower is lower afterwards. Counts
//! only; no time is looked at.
//!
//! `cargo test -p threadtalk-benchmarks --test promises -- --ignored`; needs threadtalk as laid out by
//! `scripts/build.sh`.

use std::ffi::OsString;

use threadtalk_benchmarks::build::Compilers;
use threadtalk_benchmarks::evaluation::{ALL, Outcome, measure, parse};

fn outcomes() -> Vec<Outcome> {
    let arguments = ["--threads", "4", "--timed-threads", "1", "--runs", "1"];
    let options = parse(arguments.map(OsString::from)).unwrap().unwrap();
    measure(&options, &Compilers::find(), |_| {}).unwrap()
}

/// Programs whose variant after is not what any rule suggests: the paper found it no better, and so do we.
const NO_REMEDY: &[&str] = &["ocean"];

#[test]
#[ignore = "profiles fifteen programs at full size, some minutes"]
fn what_is_suggested_is_what_was_done_and_lowers_what_it_promises() {
    let outcomes = outcomes();
    let mut wrong = Vec::new();
    for (outcome, pair) in outcomes.iter().zip(ALL) {
        assert_eq!((outcome.pair.as_str(), pair.rules.is_empty()), (pair.name, NO_REMEDY.contains(&pair.name)));
        for rule in pair.rules {
            if !outcome.suggests(rule) {
                wrong.push(format!("{}: no {rule} among {:?}", pair.name, outcome.suggestions));
            }
            let of_rule: Vec<_> = outcome.promises.iter().filter(|p| p.rule == *rule).collect();
            if of_rule.is_empty() {
                wrong.push(format!("{}: {rule} promises nothing that both profiles tell", pair.name));
            }
            let broken = of_rule.iter().filter(|p| !p.kept || p.new >= p.base);
            wrong.extend(broken.map(|p| format!("{}: {rule}: {} {} to {}", pair.name, p.lowers, p.base, p.new)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // The version of ocean that the paper found no better: more communication, and nothing that suggests it.
    let ocean = outcomes.iter().find(|o| o.pair == "ocean").unwrap();
    let after = ocean.after.as_ref().unwrap();
    assert!(after.raw > ocean.before.raw, "{} to {}", ocean.before.raw, after.raw);
    assert!(
        !ocean.suggests("array-blocking") && !ocean.suggests("data-affinity-scheduling"),
        "{:?}",
        ocean.suggestions
    );
}
