//! Where a cause is in the source.
//!
//! A compiler makes several branches of one line (a loop and its remainder, copies of an inlined function). To a reader
//! they are one cause, so causes are numbered by place.

use super::super::lime::Kind;
use super::observed::{Call, Callee, Observed, Spot};

/// Places by number.
#[derive(Default)]
pub struct Places {
    all: Vec<(Kind, Spot, &'static str)>,
}

impl Places {
    /// Number of a place.
    pub fn number(&mut self, kind: Kind, spot: Spot, event: &'static str) -> u32 {
        let place = (kind, spot, event);
        let found = self.all.iter().position(|p| *p == place).unwrap_or_else(|| {
            self.all.push(place);
            self.all.len() - 1
        });
        found as u32
    }

    /// The place of a number.
    pub fn get(&self, number: u32) -> &(Kind, Spot, &'static str) {
        &self.all[number as usize]
    }
}

/// Where what happens in a block or a function was decided. Made once, as each cause of each section is asked for.
pub struct Branches<'a> {
    observed: &'a Observed,
    of_block: Vec<Branch>,
    forks: Vec<Forks<'a>>,
}

/// How a block ends.
#[derive(Clone, Copy, Default)]
struct Branch {
    /// Ways on that close no loop.
    ways: u32,
    /// Line of the first edge that has one; 0 = none has.
    line: u32,
    /// Block and line of the branch that closes the loop which begins here, if one has a line.
    latch: Option<(u32, u32)>,
}

/// Calls that start a function as a thread.
#[derive(Clone, Copy, Default)]
enum Forks<'a> {
    #[default]
    None,
    One(&'a Call),
    Several,
}

impl<'a> Branches<'a> {
    /// Those of a program.
    pub fn new(observed: &'a Observed) -> Branches<'a> {
        let mut of_block = vec![Branch::default(); observed.blocks.len()];
        for edge in &observed.edges {
            if let (Some(from), Some(_)) = (edge.from, edge.to) {
                let branch = &mut of_block[from as usize];
                branch.ways += u32::from(!edge.back);
                branch.line = if branch.line > 0 { branch.line } else { edge.line };
            }
            if let Some(to) = edge.to.filter(|_| edge.back && edge.line > 0) {
                of_block[to as usize].latch.get_or_insert((edge.from.unwrap_or(to), edge.line));
            }
        }
        let mut forks = vec![Forks::None; observed.functions.len()];
        for call in &observed.calls {
            if let Callee::Fork(function) = call.callee {
                let of = &mut forks[function as usize];
                *of = if let Forks::None = of { Forks::One(call) } else { Forks::Several };
            }
        }
        Branches { observed, of_block, forks }
    }

    /// The line of the branch that decides how often a block's successors run. Of a loop's first block, which optimised
    /// code leaves without a condition of its own, that is the branch at the loop's end.
    pub fn of(&self, block: u32) -> Spot {
        let branch = self.of_block[block as usize];
        let (of, line) = match branch {
            Branch { latch: Some(latch), ways: ..=1, .. } => latch,
            Branch { line: 1.., .. } => (block, branch.line),
            _ => {
                let b = &self.observed.blocks[block as usize];
                (block, if b.end_line > 0 { b.end_line } else { b.line })
            }
        };
        self.spot(of, line)
    }

    /// Where a function is called through pointers or as a thread: the call, if it is the only one, else the function.
    pub fn callers_of(&self, function: u32) -> Spot {
        if let Forks::One(fork) = self.forks[function as usize] {
            return self.spot(fork.block, fork.line);
        }
        let entry = self.observed.functions[function as usize].entry;
        self.spot(entry, self.observed.blocks[entry as usize].line)
    }

    fn spot(&self, block: u32, line: u32) -> Spot {
        let b = &self.observed.blocks[block as usize];
        let function = self.observed.functions[b.function as usize].name.as_str().into();
        Spot { file: b.file.clone(), line, function }
    }
}
