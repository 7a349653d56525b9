//! The graph that LIME looks for leaders in: the control flow graphs of all functions, joined by calls.
//!
//! Three things are not as the compiler has them, so that section 3.4 of the paper finds the branch that a reader would
//! name:
//! * A block that is a whole loop (its edge leads back to itself, as optimisers leave loops) gets a node for its entry
//!   and one for its end, with an edge between them that is taken once a round. The paper leaves back edges out of the
//!   scores, and such a loop would have no other edge that varies.
//! * Recursive calls are back edges (section 3.4), found by a search from the functions that nothing calls.
//! * Entries of a function that no known call accounts for (calls through pointers, starts of threads) come from a node
//!   of its own, which leads where the calls do that the profile cannot name.

use std::collections::BTreeMap;

use super::observed::{Callee, Observed, Sparse};

/// What a node of the graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOf {
    /// A block; of a block that is a loop its entry.
    Block(u32),
    /// The end of a block that is a loop.
    Latch(u32),
    /// Unknown callers of a function.
    Callers(u32),
}

/// Where an edge's count comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// An edge of a control flow graph.
    Flow(u32),
    /// Executions of a block.
    Block(u32),
    /// Entries of a function less its known calls.
    Unknown(u32),
}

/// The graph, without counts.
pub struct CallFlow {
    nodes: Vec<NodeOf>,
    edges: Vec<Arc>,
    entries: Vec<Vec<u32>>,
    known_calls: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Arc {
    from: u32,
    to: u32,
    back: bool,
    source: Source,
}

/// An edge with a count for each thread, all zero where it was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
    /// Closes a loop or is a recursive call.
    pub back: bool,
    /// Times that each thread took it.
    pub counts: Vec<f64>,
}

impl CallFlow {
    /// The graph of a program.
    pub fn new(observed: &Observed) -> CallFlow {
        let blocks = observed.blocks.len();
        let mut nodes: Vec<NodeOf> = (0..blocks as u32).map(NodeOf::Block).collect();
        let mut latch: BTreeMap<u32, u32> = BTreeMap::new();
        for edge in observed.edges.iter().filter(|e| e.from == e.to) {
            let Some(block) = edge.from else { continue };
            latch.entry(block).or_insert_with(|| {
                nodes.push(NodeOf::Latch(block));
                nodes.len() as u32 - 1
            });
        }
        let mut edges: Vec<Arc> =
            latch.iter().map(|(&b, &l)| Arc { from: b, to: l, back: false, source: Source::Block(b) }).collect();
        let mut entries = vec![Vec::new(); observed.functions.len()];
        for (index, edge) in (0u32..).zip(&observed.edges) {
            match (edge.from, edge.to) {
                (Some(from), Some(to)) => {
                    let from = latch.get(&from).copied().unwrap_or(from);
                    edges.push(Arc { from, to, back: edge.back, source: Source::Flow(index) });
                }
                (None, Some(to)) => entries[observed.blocks[to as usize].function as usize].push(index),
                (_, None) => {}
            }
        }
        let mut known_calls = vec![Vec::new(); observed.functions.len()];
        let recursive = recursive(observed);
        for (call, &back) in observed.calls.iter().zip(&recursive) {
            let Callee::Function(function) = call.callee else { continue };
            known_calls[function as usize].push(call.block);
            let to = observed.functions[function as usize].entry;
            edges.push(Arc { from: call.block, to, back, source: Source::Block(call.block) });
        }
        for (index, function) in (0u32..).zip(&observed.functions) {
            nodes.push(NodeOf::Callers(index));
            let from = nodes.len() as u32 - 1;
            edges.push(Arc { from, to: function.entry, back: false, source: Source::Unknown(index) });
        }
        CallFlow { nodes, edges, entries, known_calls }
    }

    /// What a node is.
    pub fn node(&self, node: u32) -> NodeOf {
        self.nodes[node as usize]
    }

    /// The edges that at least one of the threads took, with counts. `taken`: for each thread its counts of the
    /// program's edges.
    pub fn counted(&self, observed: &Observed, taken: &[&Sparse]) -> Vec<Counted> {
        let threads = taken.len();
        let mut flow: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let mut executed: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (thread, edges) in taken.iter().enumerate() {
            for &(edge, count) in edges.iter() {
                flow.entry(edge).or_insert_with(|| vec![0.0; threads])[thread] += count as f64;
                if let Some(block) = observed.edges[edge as usize].to {
                    executed.entry(block).or_insert_with(|| vec![0.0; threads])[thread] += count as f64;
                }
            }
        }
        let counts = |source: Source| -> Option<Vec<f64>> {
            match source {
                Source::Flow(edge) => flow.get(&edge).cloned(),
                Source::Block(block) => executed.get(&block).cloned(),
                Source::Unknown(function) => {
                    let mut rest = vec![0.0; threads];
                    let entries = &self.entries[function as usize];
                    let entered = entries.iter().filter_map(|e| flow.get(e));
                    entered.for_each(|counts| rest.iter_mut().zip(counts).for_each(|(r, c)| *r += c));
                    let known = self.known_calls[function as usize].iter().filter_map(|b| executed.get(b));
                    known.for_each(|counts| rest.iter_mut().zip(counts).for_each(|(r, c)| *r -= c));
                    // A section that begins inside the function has calls whose entries lie before it.
                    rest.iter_mut().for_each(|r| *r = r.max(0.0));
                    rest.iter().any(|&r| r > 0.0).then_some(rest)
                }
            }
        };
        let of = |arc: &Arc| Some(Counted { from: arc.from, to: arc.to, back: arc.back, counts: counts(arc.source)? });
        self.edges.iter().filter_map(of).collect()
    }
}

/// For each call whether it calls a function that has not yet returned: on a search from the functions that nothing
/// calls, and then from the others in order.
fn recursive(observed: &Observed) -> Vec<bool> {
    let functions = observed.functions.len();
    let mut calls: Vec<Vec<(usize, usize)>> = vec![Vec::new(); functions];
    let mut called = vec![false; functions];
    for (index, call) in observed.calls.iter().enumerate() {
        if let Callee::Function(callee) = call.callee {
            let caller = observed.blocks[call.block as usize].function as usize;
            calls[caller].push((index, callee as usize));
            called[callee as usize] |= caller != callee as usize;
        }
    }
    let mut back = vec![false; observed.calls.len()];
    // 0 = not seen, 1 = has not returned, 2 = has returned.
    let mut state = vec![0u8; functions];
    let roots = (0..functions).filter(|&f| !called[f]).chain((0..functions).filter(|&f| called[f]));
    for root in roots {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some((function, next)) = stack.last_mut() {
            match calls[*function].get(*next) {
                None => {
                    state[*function] = 2;
                    stack.pop();
                }
                Some(&(call, callee)) => {
                    *next += 1;
                    match state[callee] {
                        0 => {
                            state[callee] = 1;
                            stack.push((callee, 0));
                        }
                        1 => back[call] = true,
                        _ => {}
                    }
                }
            }
        }
    }
    back
}
