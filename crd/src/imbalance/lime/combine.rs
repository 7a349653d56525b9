//! Causes over all instances of a section (LIME, section 3.6): the mean of the scores, weighted by the imbalance.

use serde::Serialize;
use std::collections::BTreeMap;

use super::super::craypat::imbalance;
use super::cause::{Cause, IMPORTANT, Kind};

/// One instance with its causes.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// Time of each thread from entry to arrival; also where work was explained.
    pub times: &'a [f64],
    /// What was found; empty for a balanced instance, which counts too.
    pub causes: &'a [Cause],
}

/// A cause over all instances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combined {
    /// What it is.
    pub kind: Kind,
    /// Node of the leader, or identity of the hardware event.
    pub location: u32,
    /// Weighted mean of its scores; where an instance has it several times the highest, where not at all 0.
    pub score: f64,
    /// Least p of the instances that have it.
    pub p: f64,
    /// Counts by thread, summed over the instances that have it.
    pub counts: Vec<f64>,
}

impl Combined {
    /// Whether the score is above [`IMPORTANT`].
    pub fn important(&self) -> bool {
        self.score > IMPORTANT
    }
}

/// Causes of all instances by falling score, then kind and location; none if no instance lost time.
pub fn combine(instances: &[Instance]) -> Vec<Combined> {
    let weights: Vec<f64> = instances.iter().map(|i| imbalance(i.times).imbalance_time).collect();
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let mut sums: BTreeMap<(Kind, u32), Combined> = BTreeMap::new();
    for (instance, weight) in instances.iter().zip(weights) {
        let mut best: BTreeMap<(Kind, u32), &Cause> = BTreeMap::new();
        for cause in instance.causes {
            let kept = best.entry((cause.kind, cause.location)).or_insert(cause);
            if cause.score > kept.score {
                *kept = cause;
            }
        }
        for ((kind, location), cause) in best {
            let empty = Combined { kind, location, score: 0.0, p: 1.0, counts: Vec::new() };
            let sum = sums.entry((kind, location)).or_insert(empty);
            sum.score += weight / total * cause.score;
            sum.p = sum.p.min(cause.p);
            sum.counts.resize(sum.counts.len().max(cause.counts.len()), 0.0);
            sum.counts.iter_mut().zip(&cause.counts).for_each(|(s, c)| *s += c);
        }
    }
    let mut causes: Vec<Combined> = sums.into_values().collect();
    causes.sort_by(|a, b| b.score.total_cmp(&a.score));
    causes
}
