//! Who calls functions of libraries, held against a search from each of them for all that reaches it.

mod profiles;

use profiles::{event, module, named, report};
use proptest::prelude::*;
use std::collections::BTreeSet;
use threadtalk_abi::control::{call_flags, function_flags};
use threadtalk_crd::Options;
use threadtalk_crd::model::Position;
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Block, Call, Function};

/// Functions of each kind: the first ones are the program's, the others the library's.
const EACH: usize = 4;
/// Lines beyond which callers are not listed.
const MOST: usize = 3;

fn name(function: usize) -> String {
    format!("f{function}")
}

/// A call in `caller` at a line; 0 = unknown.
#[derive(Clone, Copy, Debug)]
struct Edge {
    caller: usize,
    callee: usize,
    line: u32,
    forks: bool,
}

fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let edge = (0..2 * EACH, EACH..2 * EACH, prop_oneof![9 => 1..6u32, 1 => Just(0)], prop::bool::weighted(0.03));
    let edge = edge.prop_map(|(caller, callee, line, forks)| Edge { caller, callee, line, forks });
    prop::collection::vec(edge, 0..12)
}

/// The functions with their calls; each has an own event, so that all are reported.
fn contents(edges: &[Edge], taken: &[bool]) -> Contents {
    let names: Vec<String> = (0..2 * EACH).map(name).collect();
    let mut module = module(&names.iter().map(|name| (name.as_str(), None)).collect::<Vec<_>>());
    module.functions = (0..2 * EACH)
        .map(|number| {
            let of_library = if number < EACH { 0 } else { function_flags::OF_LIBRARY };
            let call = |edge: &Edge| Call {
                block: 0,
                callee: name(edge.callee).into(),
                flags: if edge.forks { call_flags::FORK } else { 0 },
                line: edge.line,
            };
            Function {
                region: number as u32,
                flags: of_library | if taken[number] { function_flags::ADDRESS_TAKEN } else { 0 },
                blocks: vec![Block { file: format!("{number}.c").into(), ..Block::default() }],
                calls: edges.iter().filter(|edge| edge.caller == number).map(call).collect(),
                ..Function::default()
            }
        })
        .collect();
    let events = (1..=2 * EACH as u32).map(|region| event(region, 0, 1, 5, 7)).collect();
    Contents { modules: vec![module], events, ..Contents::default() }
}

/// Lines of the program that reach a function of the library; `None`: somebody unknown does.
fn reach(function: usize, edges: &[Edge], taken: &[bool], passed: &mut BTreeSet<usize>) -> Option<BTreeSet<Position>> {
    let mut found = BTreeSet::new();
    if !passed.insert(function) {
        return Some(found);
    }
    if taken[function] {
        return None;
    }
    for edge in edges.iter().filter(|edge| edge.callee == function) {
        if edge.forks {
            return None;
        } else if edge.caller >= EACH {
            found.extend(reach(edge.caller, edges, taken, passed)?);
        } else if edge.line == 0 {
            return None;
        } else {
            found.insert(Position { file: Some(format!("{}.c", edge.caller).into()), line: Some(edge.line) });
        }
    }
    Some(found)
}

proptest! {
    #[test]
    fn functions_of_libraries_have_the_lines_that_reach_them(
        edges in edges(),
        taken in prop::collection::vec(prop::bool::weighted(0.1), 2 * EACH),
    ) {
        let report = report(&contents(&edges, &taken), &Options::default());
        for function in 0..2 * EACH {
            let reached = (function >= EACH).then(|| reach(function, &edges, &taken, &mut BTreeSet::new())).flatten();
            let expected: Vec<Position> = reached.filter(|r| r.len() <= MOST).into_iter().flatten().collect();
            let region = named(&report, &name(function));
            prop_assert_eq!(&region.called_at, &expected, "{}", name(function));
            // What has one such line is told there.
            let own = Position { file: Some("a.c".into()), line: Some(10 * (function as u32 + 1) + 1) };
            let at = if let [only] = &*expected { only.clone() } else { own };
            let line = &profiles::counts(region).lines[0];
            prop_assert_eq!((&line.writer, &line.reader), (&at, &at));
        }
    }
}
