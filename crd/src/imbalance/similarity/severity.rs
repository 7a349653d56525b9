//! How dissimilar the threads are (Liu et al., section 3, equations 1 and 2).

use super::super::vector::norm;
use super::optics::distance;

/// Severity S: the largest distance of two threads' vectors over the length of the shortest vector. 0 if all are equal;
/// infinite if they differ and one of them is zero.
///
/// The paper's program has 0.78 before and 0.03 after its mending.
pub fn severity(threads: &[Vec<f64>]) -> f64 {
    let farthest = threads
        .iter()
        .enumerate()
        .flat_map(|(i, a)| threads[..i].iter().map(move |b| distance(a, b)))
        .fold(0.0, f64::max);
    let shortest = threads.iter().map(|v| norm(v)).fold(f64::INFINITY, f64::min);
    if farthest == 0.0 { 0.0 } else { farthest / shortest }
}
