//! Where a cause is in the source.
//!
//! A compiler makes several branches of one line (a loop and its remainder, copies of an inlined function). To a reader
//! they are one cause, so causes are numbered by place.

use super::super::lime::Kind;
use super::observed::{Callee, Observed, Spot};

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

impl Observed {
    /// The line of the branch that decides how often a block's successors run. Of a loop's first block, which optimised
    /// code leaves without a condition of its own, that is the branch at the loop's end.
    pub fn branch_of(&self, block: u32) -> Spot {
        let leaving = || self.edges.iter().filter(move |e| e.from == Some(block) && e.to.is_some());
        let decides = leaving().filter(|e| !e.back).count() > 1;
        let loops = self.edges.iter().find(|e| e.back && e.to == Some(block) && e.line > 0);
        let own = leaving().map(|e| e.line).find(|&line| line > 0);
        let (of, line) = match (loops, own) {
            (Some(latch), _) if !decides => (latch.from.unwrap_or(block), latch.line),
            (_, Some(line)) => (block, line),
            _ => {
                let b = &self.blocks[block as usize];
                (block, if b.end_line > 0 { b.end_line } else { b.line })
            }
        };
        self.spot(of, line)
    }

    /// Where a function is called through pointers or as a thread: the call, if it is the only one, else the function.
    pub fn callers_of(&self, function: u32) -> Spot {
        let mut forks = self.calls.iter().filter(|c| c.callee == Callee::Fork(function));
        if let (Some(fork), None) = (forks.next(), forks.next()) {
            return self.spot(fork.block, fork.line);
        }
        let entry = self.functions[function as usize].entry;
        self.spot(entry, self.blocks[entry as usize].line)
    }

    fn spot(&self, block: u32, line: u32) -> Spot {
        let b = &self.blocks[block as usize];
        let function = self.functions[b.function as usize].name.as_str().into();
        Spot { file: b.file.clone(), line, function }
    }
}
