//! Causes of imbalance that are planted in programs of `programs/imbalance`, and those that are reported.

use crate::distribution::programs;
use serde_json::Value;
use std::collections::BTreeSet;

/// Lines of a program with this word in a comment at their end.
pub fn marked(program: &str, word: &str) -> BTreeSet<u64> {
    let source = std::fs::read_to_string(programs().join("imbalance").join(program)).expect("the program is there");
    let is_it = |line: &&str| {
        let words = line.split("// ").nth(1).map(|comment| comment.trim_start_matches("planted: "));
        words.is_some_and(|words| words.split(", ").any(|w| w == word))
    };
    (1u64..).zip(source.lines()).filter(|(_, line)| is_it(line)).map(|(number, _)| number).collect()
}

/// Causes of a section above 0.1: line and score.
pub fn important(section: &Value) -> Vec<(u64, f64)> {
    let causes = section["causes"].as_array().into_iter().flatten();
    let of = |c: &Value| (c["line"].as_u64().unwrap_or(0), c["score"].as_f64().unwrap_or(0.0));
    causes.map(of).filter(|(_, score)| *score > 0.1).collect()
}
