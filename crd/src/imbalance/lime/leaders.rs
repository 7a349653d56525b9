//! Leaders of a control-flow cluster (LIME, section 3.4) and their scores (its equation 1).

use std::collections::{BTreeMap, BTreeSet};

use super::super::vector::pearson;
use super::section::Edge;

/// The graph of a section, with how each edge goes along with the dependent variable.
pub(super) struct Graph<'a> {
    edges: &'a [Edge],
    correlations: Vec<f64>,
    incoming: BTreeMap<u32, Vec<usize>>,
    outgoing: BTreeMap<u32, Vec<usize>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(edges: &'a [Edge], dependent: &[f64]) -> Graph<'a> {
        let mut graph = Graph {
            edges,
            correlations: edges.iter().map(|e| pearson(&e.counts, dependent)).collect(),
            incoming: BTreeMap::new(),
            outgoing: BTreeMap::new(),
        };
        for (index, edge) in edges.iter().enumerate() {
            graph.incoming.entry(edge.to).or_default().push(index);
            graph.outgoing.entry(edge.from).or_default().push(index);
        }
        graph
    }

    /// Nodes with an outgoing edge in the cluster and no incoming one but back edges, ascending.
    pub(super) fn leaders(&self, cluster: &BTreeSet<usize>) -> Vec<u32> {
        let nodes: BTreeSet<u32> = cluster.iter().map(|&e| self.edges[e].from).collect();
        let led = |node: &u32| self.entering(*node).any(|e| cluster.contains(&e));
        nodes.into_iter().filter(|node| !led(node)).collect()
    }

    /// Equation 1: how much better the node's best outgoing edge goes along with the time than its best incoming one;
    /// back edges are left out, and where none is left 0 stands for them.
    pub(super) fn score(&self, node: u32) -> f64 {
        let best = |edges: &mut dyn Iterator<Item = usize>| edges.map(|e| self.correlations[e]).reduce(f64::max);
        let out = best(&mut self.leaving(node)).unwrap_or(0.0);
        out - best(&mut self.entering(node)).unwrap_or(0.0)
    }

    /// The outgoing edge in the cluster that goes along best with the time; the first of equals.
    pub(super) fn telling_edge(&self, node: u32, cluster: &BTreeSet<usize>) -> Option<usize> {
        let candidates = self.outgoing.get(&node)?.iter().copied().filter(|e| cluster.contains(e));
        candidates.reduce(|a, b| if self.correlations[b] > self.correlations[a] { b } else { a })
    }

    fn entering(&self, node: u32) -> impl Iterator<Item = usize> {
        self.forward(self.incoming.get(&node))
    }

    fn leaving(&self, node: u32) -> impl Iterator<Item = usize> {
        self.forward(self.outgoing.get(&node))
    }

    fn forward<'s>(&'s self, edges: Option<&'s Vec<usize>>) -> impl Iterator<Item = usize> + 's {
        edges.into_iter().flatten().copied().filter(|&e| !self.edges[e].back)
    }
}

/// Leaders of the cluster with these of the edges, ascending, each with its score.
pub fn leaders(edges: &[Edge], cluster: &BTreeSet<usize>, dependent: &[f64]) -> Vec<(u32, f64)> {
    let graph = Graph::new(edges, dependent);
    graph.leaders(cluster).into_iter().map(|node| (node, graph.score(node))).collect()
}
