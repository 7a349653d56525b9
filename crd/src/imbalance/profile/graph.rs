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
    counted_by: CountedBy,
}

/// Which edges of the graph count what. A section takes few of a program's edges, and each of its instances is looked
/// at by itself: all edges for each of 1 090 instances were two fifths of the time of a report.
struct CountedBy {
    /// For each edge of the control flow graphs.
    flow: Vec<Option<u32>>,
    /// For each block.
    block: Vec<Vec<u32>>,
    /// For each function.
    unknown: Vec<u32>,
}

impl CountedBy {
    fn new(observed: &Observed, arcs: &[Arc]) -> CountedBy {
        let mut by = CountedBy {
            flow: vec![None; observed.edges.len()],
            block: vec![Vec::new(); observed.blocks.len()],
            unknown: vec![0; observed.functions.len()],
        };
        for (index, arc) in (0u32..).zip(arcs) {
            match arc.source {
                Source::Flow(edge) => by.flow[edge as usize] = Some(index),
                Source::Block(block) => by.block[block as usize].push(index),
                Source::Unknown(function) => by.unknown[function as usize] = index,
            }
        }
        by
    }
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
        let counted_by = CountedBy::new(observed, &edges);
        CallFlow { nodes, edges, entries, known_calls, counted_by }
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
        let by = &self.counted_by;
        let entered = flow.keys().map(|&edge| &observed.edges[edge as usize]).filter(|edge| edge.from.is_none());
        let entered = entered.filter_map(|edge| Some(observed.blocks[edge.to? as usize].function));
        let mut arcs: Vec<u32> = flow.keys().filter_map(|&edge| by.flow[edge as usize]).collect();
        arcs.extend(executed.keys().flat_map(|&block| &by.block[block as usize]));
        arcs.extend(entered.map(|function| by.unknown[function as usize]));
        arcs.sort_unstable();
        arcs.dedup();
        let of = |arc: &Arc| Some(Counted { from: arc.from, to: arc.to, back: arc.back, counts: counts(arc.source)? });
        arcs.iter().filter_map(|&index| of(&self.edges[index as usize])).collect()
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

#[cfg(test)]
mod tests {
    use super::super::super::pbv::Contents;
    use super::super::observed::{Block, Call, FlowEdge, Function};
    use super::*;

    /// Functions that enter, turn in a loop of one block, and leave; who calls whom is chosen at random.
    fn program(rng: &mut fastrand::Rng, functions: u32) -> Observed {
        let mut observed = Observed::default();
        for function in 0..functions {
            let first = 3 * function;
            observed.functions.push(Function { name: format!("f{function}"), entry: first });
            let block = Block { function, region: 0, file: None, line: 1, end_line: 1, contents: Contents::default() };
            observed.blocks.extend([block.clone(), block.clone(), block]);
            let ends = [(None, 0), (Some(0), 1), (Some(1), 1), (Some(0), 2), (Some(1), 2)];
            let edge = |from: Option<u32>, to: Option<u32>| FlowEdge { from, to, line: 1, back: from == to };
            observed.edges.extend(ends.map(|(from, to)| edge(from.map(|at| first + at), Some(first + to))));
            observed.edges.push(edge(Some(first + 2), None));
            let callee = |rng: &mut fastrand::Rng| match rng.u32(0..4) {
                0 => Callee::Unknown,
                _ => Callee::Function(rng.u32(0..functions)),
            };
            observed.calls.extend((0..2).map(|at| Call { block: first + at, line: 1, callee: callee(rng) }));
        }
        observed
    }

    /// What each edge of the graph counts, one by one and by definition.
    fn of_each_edge(graph: &CallFlow, observed: &Observed, taken: &[&Sparse]) -> Vec<Counted> {
        let of_flow =
            |t: &Sparse, edge: u32| t.iter().filter(|(of, _)| *of == edge).map(|(_, count)| *count as f64).sum::<f64>();
        let of_block = |t: &Sparse, block: u32| {
            let into = t.iter().filter(|(edge, _)| observed.edges[*edge as usize].to == Some(block));
            into.map(|(_, count)| *count as f64).sum::<f64>()
        };
        let count = |t: &Sparse, source: Source| match source {
            Source::Flow(edge) => of_flow(t, edge),
            Source::Block(block) => of_block(t, block),
            Source::Unknown(function) => {
                let entry = observed.functions[function as usize].entry;
                let enters = |(edge, _): &&(u32, u64)| {
                    let edge = &observed.edges[*edge as usize];
                    edge.from.is_none() && edge.to == Some(entry)
                };
                let entered: f64 = t.iter().filter(enters).map(|(_, count)| *count as f64).sum();
                let calls = observed.calls.iter().filter(|call| call.callee == Callee::Function(function));
                (entered - calls.map(|call| of_block(t, call.block)).sum::<f64>()).max(0.0)
            }
        };
        let of = |arc: &Arc| {
            let counts: Vec<f64> = taken.iter().map(|t| count(t, arc.source)).collect();
            Counted { from: arc.from, to: arc.to, back: arc.back, counts }
        };
        graph.edges.iter().map(of).filter(|edge| edge.counts.iter().any(|&count| count > 0.0)).collect()
    }

    #[test]
    fn edges_that_somebody_took_are_those_of_all_that_count_something() {
        let mut rng = fastrand::Rng::with_seed(3);
        let (mut unknown, mut edges) = (0, 0);
        for _ in 0..300 {
            let functions = rng.u32(1..12);
            let observed = program(&mut rng, functions);
            let graph = CallFlow::new(&observed);
            let taken: Vec<Sparse> = (0..3)
                .map(|_| {
                    let ran: Vec<u32> = (0..observed.edges.len() as u32).filter(|_| rng.u32(0..3) == 0).collect();
                    ran.into_iter().map(|edge| (edge, rng.u64(1..50))).collect()
                })
                .collect();
            let taken: Vec<&Sparse> = taken.iter().collect();
            let counted = graph.counted(&observed, &taken);
            assert_eq!(counted, of_each_edge(&graph, &observed, &taken));
            unknown += counted.iter().filter(|c| matches!(graph.node(c.from), NodeOf::Callers(_))).count();
            edges += counted.len();
        }
        assert!(unknown > 100 && edges > 10 * unknown, "{unknown} of {edges}");
    }
}
