//! A program in memory: functions as graphs with lines, and how often each thread took their edges.

use std::collections::BTreeMap;
use threadtalk_abi::module::RegionKind;
use threadtalk_crd::imbalance::pbv::{Category, Contents};
use threadtalk_crd::imbalance::profile::observed::*;
use threadtalk_crd::model::Position;

/// Region 0 is the program; each function added gets a region of its own.
pub fn empty() -> Observed {
    Observed { regions: vec![region(RegionKind::Program, "program", 0, None)], ..Observed::default() }
}

pub fn region(kind: RegionKind, name: &str, line: u32, parent: Option<u32>) -> RegionOf {
    let at = Position { file: Some("p.c".into()), line: (line > 0).then_some(line) };
    RegionOf { kind, name: name.into(), at, parent }
}

pub fn spot(line: u32) -> Spot {
    Spot { file: Some("p.c".into()), line, function: "worker".into() }
}

/// A block's line and instructions.
pub type BlockAt = (u32, u32);

/// An edge between a function's blocks (`OUT` = the caller) with the line of its branch; negative lines are back edges.
pub type EdgeAt = (i64, i64, i32);

pub const OUT: i64 = -1;

/// Adds a function; gives its number.
pub fn function(o: &mut Observed, name: &str, blocks: &[BlockAt], edges: &[EdgeAt]) -> u32 {
    let (number, first) = (o.functions.len() as u32, o.blocks.len() as u32);
    let region_of = o.regions.len() as u32;
    o.regions.push(region(RegionKind::Function, name, blocks[0].0, Some(0)));
    o.functions.push(Function { name: name.into(), entry: first });
    for &(line, work) in blocks {
        let instructions = BTreeMap::from([(Category::Integer, work)]);
        let contents = Contents { instructions, loads: 1, stores: 0 };
        let file = Some("p.c".into());
        o.blocks.push(Block { function: number, region: region_of, file, line, end_line: line, contents });
    }
    let block = |at: i64| (at != OUT).then(|| first + at as u32);
    for &(from, to, line) in edges {
        o.edges.push(FlowEdge { from: block(from), to: block(to), line: line.unsigned_abs(), back: line < 0 });
    }
    number
}

/// A part of a barrier section from line 1 to line 99 whose counts are of the edges in order.
pub fn part(thread: u32, ordinal: u64, counts: &[u64]) -> Part {
    let edges = (0..).zip(counts.iter().copied()).filter(|(_, c)| *c > 0).collect();
    Part {
        thread,
        kind: "barrier",
        begin: spot(1),
        end: spot(99),
        instance: (7, ordinal),
        weight: 1.0,
        counted: true,
        edges,
        ..Part::default()
    }
}

/// `if (...)` in line 5 with a body of 100 instructions in line 6; 10 instructions before, all in `worker`.
/// Edges: in, then, else, join, out.
pub fn branch(o: &mut Observed) {
    function(o, "worker", &[(4, 10), (6, 100), (8, 1)], &[(OUT, 0, 0), (0, 1, 5), (0, 2, 5), (1, 2, 7), (2, OUT, 0)]);
}

/// Counts of [`branch`] for a thread that takes it so many of `times`.
pub fn taken(times: u64, of: u64) -> Vec<u64> {
    vec![of, times, of - times, times, of]
}
