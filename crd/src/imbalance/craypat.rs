//! CrayPat's metrics of load imbalance (DeRose et al., section 3, equations 1 and 2) of any quantity counted per
//! thread: time, calls, work, misses, accesses.
//!
//! A vector has one element for each thread of the team; a thread that was never there counts with 0.

use serde::Serialize;

/// How far the slowest thread is above the average one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Imbalance {
    /// Maximum less average, in the unit of the quantity (equation 2): what perfect balance could save at most.
    pub imbalance_time: f64,
    /// The part of the other threads' share that is wasted while the slowest works (equation 1), 0 to 100.
    /// 0 for one thread and where nothing was counted.
    pub imbalance_percent: f64,
}

/// Equations 1 and 2 from an average and a maximum over `threads` threads.
pub fn imbalance_of(average: f64, maximum: f64, threads: usize) -> Imbalance {
    // A sum of equal numbers divided by their count may miss them by a rounding.
    let excess = if (maximum - average).abs() <= 1e-15 * maximum { 0.0 } else { maximum - average };
    let percent = if threads < 2 || maximum == 0.0 {
        0.0
    } else {
        100.0 * excess / maximum * threads as f64 / (threads - 1) as f64
    };
    Imbalance { imbalance_time: excess, imbalance_percent: percent }
}

/// Equations 1 and 2 of one value per thread; both 0 for no thread.
pub fn imbalance(values: &[f64]) -> Imbalance {
    if values.is_empty() {
        return Imbalance { imbalance_time: 0.0, imbalance_percent: 0.0 };
    }
    imbalance_of(mean(values), values.iter().copied().fold(f64::NEG_INFINITY, f64::max), values.len())
}

/// A quantity over the threads: extremes with the thread that has them (paper's Figure 2), mean and deviation (its
/// Figure 5).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Mean over the threads.
    pub avg: f64,
    /// Smallest value.
    pub min: f64,
    /// Median; of an even number of values the lower middle one, so that a thread has it.
    pub median: f64,
    /// Largest value.
    pub max: f64,
    /// Index of the thread with the smallest value; of several the lowest. The other two likewise.
    pub min_thread: usize,
    /// Index of the thread with the median.
    pub median_thread: usize,
    /// Index of the thread with the largest value.
    pub max_thread: usize,
    /// Standard deviation of the threads (of all of them, not of a sample): the one-sigma marks are `avg` plus and
    /// minus this.
    pub sigma: f64,
    /// How far the maximum is above the mean.
    #[serde(flatten)]
    pub imbalance: Imbalance,
}

/// The spread of one value per thread; none for no thread.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (&least, &most) = (order.first()?, order.last()?);
    // Of several with the same value the lowest thread is named; the sort is stable, so the first of its run.
    let lowest = |i: usize| order[order.partition_point(|&t| values[t].total_cmp(&values[i]).is_lt())];
    let middle = order[(values.len() - 1) / 2];
    let avg = mean(values);
    Some(Spread {
        avg,
        min: values[least],
        median: values[middle],
        max: values[most],
        min_thread: least,
        median_thread: lowest(middle),
        max_thread: lowest(most),
        sigma: mean(&values.iter().map(|v| (v - avg).powi(2)).collect::<Vec<_>>()).sqrt(),
        imbalance: imbalance(values),
    })
}

/// A node of the region tree with its own value per thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Index of the enclosing node; none for a root.
    pub parent: Option<usize>,
    /// Value of each thread in the node itself, without the nodes inside.
    pub own: Vec<f64>,
}

/// A node's spread with and without the nodes inside. Two unequal halves of a balanced whole (paper, section 3, `F1`,
/// `G1` and `G2`) are unbalanced exclusively, and their parent is balanced inclusively.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Both {
    /// Of the node itself.
    pub exclusive: Spread,
    /// With all nodes inside.
    pub inclusive: Spread,
}

/// Values of each node with all nodes inside, in the order of `nodes`. Nodes may come in any order; a shorter vector
/// counts as if filled with zeros. A node whose parents form a ring belongs to itself only.
pub fn inclusive(nodes: &[Node]) -> Vec<Vec<f64>> {
    let threads = nodes.iter().map(|n| n.own.len()).max().unwrap_or(0);
    let mut sums = vec![vec![0.0; threads]; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let above = std::iter::successors(Some(index), |&at| nodes[at].parent);
        // No path is longer than there are nodes, and none comes back to its beginning, unless the parents form a ring.
        let path: Vec<usize> = above.take(nodes.len() + 1).collect();
        let ring = path.len() > nodes.len();
        for &target in if ring { &path[..1] } else { &path[..] } {
            node.own.iter().zip(&mut sums[target]).for_each(|(v, sum)| *sum += v);
        }
    }
    sums
}

/// Exclusive and inclusive spread of every node, in the order of `nodes`; empty if there is no thread.
pub fn tree(nodes: &[Node]) -> Vec<Both> {
    let sums = inclusive(nodes);
    let own = |node: &Node| {
        let mut values = node.own.clone();
        values.resize(sums[0].len(), 0.0);
        spread(&values)
    };
    nodes
        .iter()
        .zip(&sums)
        .filter_map(|(node, sum)| Some(Both { exclusive: own(node)?, inclusive: spread(sum)? }))
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
