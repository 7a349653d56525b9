//! Average-linkage clustering on Pearson's r (LIME, section 3.2), and a cluster's predictor (section 3.5).
//!
//! The mean r between the members of two clusters is the dot product of the means of their standardised vectors, so no
//! matrix is needed. Clusters are merged along chains of nearest neighbours (Murtagh 1983): average linkage never
//! brings a third cluster nearer than the nearer of two that merge, so two clusters that are each other's nearest stay
//! so until they merge, and the result is that of always merging the nearest two.
//!
//! Of equal proximities the pair with the lowest events goes first. That is an order of all pairs, which keeps the
//! argument valid for ties; proximities are compared in steps of 2^-32, so that rounding does not decide between
//! equals.

use std::collections::HashMap;

use super::super::vector::{centred, deviation, mean, norm};
use super::members::Members;

/// Steps of a standardised element: vectors that agree in all of them are one.
const ELEMENT: f64 = (1u64 << 40) as f64;

/// Clusters of `events` (each a vector with an element per thread, none constant) with a mean r of at least
/// `threshold`: ascending indices, clusters in order of their first.
pub fn clusters(events: &[Vec<f64>], threshold: f64) -> Vec<Vec<usize>> {
    // Events that are multiples of each other are the rule: the edges of a loop body. They have r = 1 and merge first.
    let mut alike: HashMap<Vec<i64>, usize> = HashMap::new();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut vectors: Vec<Vec<f64>> = Vec::new();
    for (event, values) in events.iter().enumerate() {
        let steps = standardised(values);
        let class = *alike.entry(steps).or_insert_with_key(|steps| {
            vectors.push(steps.iter().map(|&x| x as f64 / ELEMENT).collect());
            classes.push(Vec::new());
            classes.len() - 1
        });
        classes[class].push(event);
    }
    let weights: Vec<usize> = classes.iter().map(Vec::len).collect();
    let mut found: Vec<Vec<usize>> = Members::new(&vectors, &weights, threshold)
        .merge_all()
        .into_iter()
        .map(|merged| merged.into_iter().flat_map(|class| classes[class].iter().copied()).collect())
        .collect();
    found.iter_mut().for_each(|cluster| cluster.sort_unstable());
    found.sort_unstable();
    found
}

/// Mean 0 and length 1, in steps.
fn standardised(values: &[f64]) -> Vec<i64> {
    let centred = centred(values);
    let length = norm(&centred);
    centred.iter().map(|x| (x / length * ELEMENT).round() as i64).collect()
}

/// Mean of the z-scores of the events of a cluster, by thread.
pub fn predictor<'a>(events: impl IntoIterator<Item = &'a [f64]>) -> Vec<f64> {
    let scores: Vec<Vec<f64>> = events
        .into_iter()
        .map(|event| {
            let deviation = deviation(event);
            centred(event).iter().map(|x| x / deviation).collect()
        })
        .collect();
    let threads = scores.first().map_or(0, Vec::len);
    (0..threads).map(|t| mean(&scores.iter().map(|s| s[t]).collect::<Vec<_>>())).collect()
}
