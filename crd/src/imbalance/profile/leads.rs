//! How much of what takes the time a branch leads, to choose among leaders of one cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::super::lime::{self, Edge};
use super::super::vector::centred;
use super::graph::{CallFlow, NodeOf};
use super::observed::Observed;

/// For each cause of `analysis` the covariance with the dependent variable of the instructions that it leads, over all
/// threads of `sections`, which have the same events; 0 where its cluster has no other cause to compare it with.
pub fn leads(observed: &Observed, graph: &CallFlow, analysis: &lime::Analysis, sections: &[lime::Section]) -> Vec<f64> {
    let block = |node: u32| match graph.node(node) {
        NodeOf::Block(block) | NodeOf::Latch(block) => Some(block),
        NodeOf::Callers(_) => None,
    };
    let function = |node: u32| block(node).map(|b| observed.blocks[b as usize].function);
    let instructions = |node: u32| block(node).map_or(0.0, |b| observed.instructions(b) as f64);
    let lead = |cause: &lime::Cause| {
        let of_cluster = analysis.causes.iter().filter(|c| c.cluster == cause.cluster).count();
        if of_cluster < 2 || cause.kind == lime::Kind::Hardware {
            return 0.0;
        }
        let edges = &sections[0].edges;
        let cluster = analysis.clusters[cause.cluster].iter().copied().filter(|&e| e < edges.len()).collect();
        let led = led(edges, &cluster, cause.location, &function);
        let of_edge = |section: &lime::Section, more: &[f64], edge: usize| {
            let edge = &section.edges[edge];
            instructions(edge.to) * edge.counts.iter().zip(more).map(|(c, m)| c * m).sum::<f64>()
        };
        let of = |section: &lime::Section| -> f64 {
            let more = centred(&section.dependent);
            led.iter().map(|&edge| of_edge(section, &more, edge)).sum()
        };
        sections.iter().map(of).sum()
    };
    analysis.causes.iter().map(lead).collect()
}

/// Edges of the cluster that are reached from `node` through edges of the cluster, and through all edges of functions
/// that are called on the way: a function that others call, too, may be entered as often in all threads.
fn led(edges: &[Edge], cluster: &BTreeSet<usize>, node: u32, function: &dyn Fn(u32) -> Option<u32>) -> Vec<usize> {
    let mut leaving: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, edge) in edges.iter().enumerate().filter(|(_, e)| !e.back) {
        leaving.entry(edge.from).or_default().push(index);
    }
    let (mut found, mut seen, mut next) = (BTreeSet::new(), BTreeSet::new(), vec![(node, false)]);
    while let Some((at, called)) = next.pop() {
        if !seen.insert((at, called)) {
            continue;
        }
        for &index in leaving.get(&at).into_iter().flatten() {
            let edge = &edges[index];
            let inside = cluster.contains(&index);
            if inside {
                found.insert(index);
            }
            if inside || called {
                next.push((edge.to, called || function(edge.from) != function(edge.to)));
            }
        }
    }
    found.into_iter().collect()
}
