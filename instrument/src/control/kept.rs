//! Counters that wait in registers while an innermost loop runs.
//!
//! A counter in a loop costs a load of the row and an addition in memory. In a loop without calls, in which the
//! thread neither synchronises nor leaves but by the loop's exits, the program cannot tell when the row changes: the
//! counts go there at the exits. So they belong to the number of threads at that moment, as those of loops whose number
//! of iterations is known belong to the moment before the loop (or at its exits, if other counters wait for these):
//! totals are exact, and a row is off by the loops that were under way when the number changed. If a signal's handler
//! jumps out of the loop, or the process or the thread is ended meanwhile, the counts of that run of the loop are lost.

use super::bumps::{self, Bumps, Place, Trips};
use super::graph::{Graph, Way};
use crate::emit::Emitted;
use crate::llvm::analysis::Analysis;
use crate::llvm::loops::exits;
use crate::regions::nesting::Nesting;
use inkwell::values::{FunctionValue, InstructionValue, PointerValue};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A counter is kept if it is expected to count so often for each time that the loop is entered. To set it to 0 and to
/// add it costs as much as two or three additions in memory, but LLVM expects less than three iterations of a loop that
/// ends at a number it does not know.
const LEAST: f64 = 1.0;

/// Most counters of a loop that are kept: there are 15 registers, and the program needs some.
const MOST: usize = 6;

/// Most loops of a function whose counters wait, those that are nested deepest: to make registers of places in the
/// frame takes LLVM a walk through much of the function for each.
const MOST_LOOPS: usize = 512;

/// A loop with counters that wait.
pub struct Kept<'ctx> {
    counters: Vec<u32>,
    /// Before the loop.
    before: InstructionValue<'ctx>,
    /// Where it has been left.
    exits: Vec<InstructionValue<'ctx>>,
    /// Counters whose numbers are known before the loop.
    trips: Vec<Trips<'ctx>>,
}

/// Chooses loops and counters. Takes those of `trips` that belong to them. `single`: the edges that are counted one by
/// one, whose counters have their places.
pub fn find<'ctx>(
    function: FunctionValue<'ctx>,
    (graph, nesting): (&Graph<'ctx>, &Nesting<'ctx>),
    single: &[usize],
    trips: &mut Vec<Trips<'ctx>>,
) -> Vec<Kept<'ctx>> {
    let loops = &nesting.loops;
    let mut wanted: HashMap<usize, Vec<(f64, u32)>> = HashMap::new();
    for edge in single.iter().map(|&e| &graph.edges[e]) {
        let (Way::Branch(from, Some(to)), Some(counter)) = (edge.way, edge.counter) else { continue };
        let Some(number) = loops.innermost(from).filter(|&l| loops.innermost(to) == Some(l)) else { continue };
        let entered = loops.all[number].preheader.and_then(|b| graph.frequency(b));
        if !loops.has_inner(number) && entered.is_some_and(|entered| edge.weight >= LEAST * entered) {
            wanted.entry(number).or_default().push((edge.weight, counter));
        }
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut numbers: Vec<usize> = wanted.keys().copied().collect();
    numbers.sort_unstable_by_key(|&number| (Reverse(loops.chain(Some(number)).count()), number));
    let analysis = Analysis::of(function);
    numbers.retain(|&number| analysis.runs_unseen(loops.all[number].header));
    // The analysis ends here: the next step changes the function.
    drop(analysis);
    numbers.truncate(MOST_LOOPS);
    numbers.sort_unstable();
    let headers: Vec<_> = numbers.iter().map(|&number| loops.all[number].header).collect();
    let kept = |(number, exits): (usize, Option<Vec<_>>)| {
        let exits = exits.filter(|exits| !exits.is_empty())?;
        let mut counters = wanted.remove(&number)?;
        counters.sort_by(|a, b| b.0.total_cmp(&a.0));
        counters.truncate(MOST);
        let before = loops.all[number].preheader?.get_terminator()?;
        let trips = trips.extract_if(.., |t| t.before == before).collect();
        Some(Kept { counters: counters.into_iter().map(|c| c.1).collect(), before, exits, trips })
    };
    numbers.into_iter().zip(exits(function, &headers)).filter_map(kept).collect()
}

impl<'ctx> Kept<'ctx> {
    /// Makes places for the counters in the function's frame, which become registers when all is done. Returns them.
    pub fn open(
        &self,
        bumps: &Bumps<'_, '_, 'ctx>,
        function: FunctionValue<'ctx>,
    ) -> Emitted<Vec<(u32, PointerValue<'ctx>)>> {
        let slot = |&counter| Ok((counter, bumps::slot(bumps.emitter, function, (self.before, "threadtalk.count"))?));
        self.counters.iter().map(slot).collect()
    }

    /// Adds what has been counted where the loop has been left.
    pub fn close(&self, bumps: &Bumps<'_, '_, 'ctx>, slots: &[(u32, PointerValue<'ctx>)]) -> Emitted<()> {
        let m = bumps.emitter;
        for &exit in &self.exits {
            for &(counter, slot) in slots {
                m.builder.position_before(&exit);
                bumps.add(Place::Before(exit), counter, bumps::kept(m, slot)?)?;
            }
            for trips in &self.trips {
                bumps.add(Place::Before(exit), trips.counter, trips.count)?;
            }
        }
        Ok(())
    }
}
