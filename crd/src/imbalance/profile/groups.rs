//! Causes that counts cannot tell apart, as one with the others beside it.
//!
//! Leaders of one cluster of LIME go along with the same predictor, so each has about its score: the branch that one
//! thread takes, and a loop in the function that is called there. A reader wants the branch.

use std::collections::BTreeSet;

use super::super::lime::{self, Kind};

/// Of causes that are alike those with a score of at least this share of the best may lead.
const ABOUT_AS_GOOD: f64 = 0.9;

/// A cause in one analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    kind: Kind,
    location: u32,
    cluster: usize,
    score: f64,
    lead: f64,
}

impl Told {
    /// `lead`: how much of what takes the time it leads.
    pub fn new(cause: &lime::Cause, lead: f64) -> Told {
        Told { kind: cause.kind, location: cause.location, cluster: cause.cluster, score: cause.score, lead }
    }
}

/// A cause and those like it, by their places in the list; the others by falling score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub lead: usize,
    pub others: Vec<usize>,
}

/// Groups of `causes`, which are in order of falling score, by the scores of their leads. Two branches are alike if
/// wherever both are causes they are of one cluster, and that is the case somewhere.
pub fn groups(causes: &[lime::Combined], told: &[Vec<Told>]) -> Vec<Group> {
    let clusters_of = |cause: usize, analysis: &[Told]| -> BTreeSet<usize> {
        let place = (causes[cause].kind, causes[cause].location);
        let mut best: Vec<&Told> = analysis.iter().filter(|t| (t.kind, t.location) == place).collect();
        // What counts of a line that is a cause several times is the best, as in the mean over instances.
        best.sort_by(|a, b| b.score.total_cmp(&a.score));
        best.first().map(|t| t.cluster).into_iter().collect()
    };
    let clusters: Vec<Vec<BTreeSet<usize>>> =
        (0..causes.len()).map(|cause| told.iter().map(|analysis| clusters_of(cause, analysis)).collect()).collect();
    let alike = |a: usize, b: usize| {
        let both = || clusters[a].iter().zip(&clusters[b]).filter(|(a, b)| !a.is_empty() && !b.is_empty());
        let branches = causes[a].kind == Kind::ControlFlow && causes[b].kind == Kind::ControlFlow;
        branches && both().next().is_some() && both().all(|(a, b)| a == b)
    };
    let lead = |cause: usize| -> f64 {
        let place = (causes[cause].kind, causes[cause].location);
        told.iter().flatten().filter(|t| (t.kind, t.location) == place).map(|t| t.lead).sum()
    };
    let mut open: Vec<usize> = (0..causes.len()).collect();
    let mut groups = Vec::new();
    while let Some(&best) = open.first() {
        let (mut members, rest): (Vec<usize>, Vec<usize>) = open.iter().partition(|&&c| c == best || alike(best, c));
        open = rest;
        let good = members.iter().filter(|&&c| causes[c].score >= ABOUT_AS_GOOD * causes[best].score);
        let first = good.copied().reduce(|a, b| if lead(b) > lead(a) { b } else { a }).unwrap_or(best);
        members.retain(|&c| c != first);
        groups.push(Group { lead: first, others: members });
    }
    groups.sort_by(|a, b| causes[b.lead].score.total_cmp(&causes[a.lead].score));
    groups
}
