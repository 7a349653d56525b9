//! What threads run, from their call trees.
//!
//! A program that makes all its threads in one function of its own, around `pthread_create`, makes readers, workers and
//! writers at one line. What tells them apart is the function that a thread starts with. Where that is the same, too,
//! as it only calls the one that it is given, it is this other one.

use std::collections::{BTreeMap, BTreeSet};

use threadtalk_abi::module::RegionKind;

use super::observed::{Callee, Node, Observed};

/// The region of the function that each thread runs. Nothing of threads that the call trees do not tell of.
pub fn roles(observed: &Observed) -> BTreeMap<u32, u32> {
    let functions = Functions::new(observed);
    let mut by_thread: BTreeMap<u32, Vec<&Node>> = BTreeMap::new();
    observed.nodes.iter().for_each(|node| by_thread.entry(node.thread).or_default().push(node));
    let role = |(thread, nodes): (u32, Vec<&Node>)| Some((thread, role(&functions, &nodes)?));
    by_thread.into_iter().filter_map(role).collect()
}

/// What a thread with this call tree runs.
fn role(functions: &Functions, nodes: &[&Node]) -> Option<u32> {
    let is_function = |node: &&&Node| functions.observed.regions[node.region as usize].kind == RegionKind::Function;
    // A start function is timed in any case: only what is entered hundreds of times may be too short for that.
    let mut node = nodes.iter().filter(|node| node.parent == 0).min_by_key(|node| node.id).filter(is_function)?;
    while let Some(next) = functions.forwards(node, nodes) {
        node = next;
    }
    Some(node.region)
}

/// What the control flow graphs say of functions, which regions know by name only.
struct Functions<'a> {
    observed: &'a Observed,
    /// Functions without a loop that call through a pointer.
    forwarding: BTreeSet<&'a str>,
    /// Caller and callee, by name.
    called: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Functions<'a> {
    fn new(observed: &'a Observed) -> Functions<'a> {
        let name = |function: u32| observed.functions[function as usize].name.as_str();
        let of_block = |block: u32| name(observed.blocks[block as usize].function);
        let back = observed.edges.iter().filter(|edge| edge.back);
        let loops: BTreeSet<&str> = back.filter_map(|edge| Some(of_block(edge.from?))).collect();
        let unknown = observed.calls.iter().filter(|call| call.callee == Callee::Unknown);
        let forwarding = unknown.map(|call| of_block(call.block)).filter(|caller| !loops.contains(caller)).collect();
        let called = observed.calls.iter().filter_map(|call| match call.callee {
            Callee::Function(function) => Some((of_block(call.block), name(function))),
            Callee::Fork(_) | Callee::Unknown => None,
        });
        Functions { observed, forwarding, called: called.collect() }
    }

    /// The function that the one of `node` is only there to call: once, through a pointer, and nothing that it calls by
    /// name takes longer. One that calls from a loop is what its thread runs: it takes tasks, and what they are says
    /// nothing about the thread.
    fn forwards<'n>(&self, node: &Node, nodes: &'n [&'n Node]) -> Option<&'n &'n Node> {
        let name = |node: &Node| self.observed.regions[node.region as usize].name.as_str();
        let caller = name(node);
        if node.visits != 1 || !self.forwarding.contains(caller) {
            return None;
        }
        let inside = nodes.iter().filter(|inside| inside.parent == node.id && inside.id != node.id);
        let (by_name, through_pointer): (Vec<&&Node>, Vec<&&Node>) =
            inside.partition(|callee| self.called.contains(&(caller, name(callee))));
        let [callee] = through_pointer[..] else { return None };
        let is_most = by_name.iter().all(|other| other.wall_ns <= callee.wall_ns);
        (callee.visits == 1 && callee.id > node.id && is_most).then_some(callee)
    }
}
