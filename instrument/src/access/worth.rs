//! How much code each event is worth. Inlining everything everywhere takes too long to compile.
//!
//! What repeats inside a function is known, and sometimes that loops call it ([`super::called`]). So loops are worth
//! code, unless they are large; a function in which nothing repeats for long may be one that loops elsewhere call, and
//! is worth code as well; what stands around the loops of a function is set-up, and is not, unless it is little or the
//! function runs often.

use super::called::Runs;
use super::{Event, Inlined, Worth};
use crate::llvm::analysis::Analysis;
use crate::llvm::loops::Loops;
use crate::optimise::remainders;
use inkwell::llvm_sys::prelude::LLVMBasicBlockRef;
use inkwell::values::FunctionValue;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Loops that run so many iterations at most, together with the loops inside them, repeat nothing for long: they are
/// taken for the straight code that they would be if they were unrolled.
const BRIEF: u64 = 32;

/// Functions in which nothing repeats for long, and which do not run once, are inlined if they have no more accesses.
/// Solvers have such functions for blocks of 5 x 5.
const STRAIGHT_FUNCTION: usize = 400;

/// Loops around others with no more accesses of their own are worth code all the same: the factor of a row. So is what
/// stands around the loops of a function that runs once, if it is no more.
const FEW_AROUND: usize = 4;

/// The same of what stands around the loops of functions of which nobody knows how often they run: they may be short
/// loops that other modules call.
const FEW_UNKNOWN: usize = 24;

/// The same of functions that are known to be called in loops.
const FEW_OFTEN: usize = 120;

/// Loops with more accesses of their own take long to compile.
const LARGE_LOOP: usize = 400;

/// In functions with more accesses, loops around others get no more than calls, unless other loops call the function:
/// most of such a function is set-up, input and output.
const LARGE_FUNCTION: usize = 120;

/// How often a loop is expected to run for each time that one around it does. What a loop around others accesses by
/// itself is no set-up if it is more than they do in all: of a loop with `continue` LLVM makes two, one inside the
/// other.
const ITERATIONS: usize = 16;

/// Loops of which is known, when compiling, that they run no more than [`BRIEF`] iterations; by their headers.
#[derive(Default)]
pub struct Brief(HashSet<LLVMBasicBlockRef>);

impl Brief {
    /// Finds those of a function. `analysis`: needed if it has loops.
    pub fn find(loops: &Loops<'_>, analysis: Option<&Analysis>) -> Self {
        let Some(analysis) = analysis else { return Brief::default() };
        // Of each loop, the most iterations that one of the loops inside runs in one of its own.
        let mut inside = vec![Some(1u64); loops.all.len()];
        let mut brief = HashSet::new();
        // Inner loops come after outer ones.
        for (number, one) in loops.all.iter().enumerate().rev() {
            let own = analysis.most_iterations(one.header);
            let all = inside[number].zip(own).map(|(inside, own)| inside.saturating_mul(own)).filter(|n| *n <= BRIEF);
            if all.is_some() {
                brief.insert(one.header.as_mut_ptr());
            }
            if let Some(parent) = one.parent {
                inside[parent] = inside[parent].zip(all).map(|(a, b)| a.max(b));
            }
        }
        Brief(brief)
    }

    /// Whether it is known that a loop runs few iterations.
    pub fn holds(&self, loops: &Loops<'_>, number: usize) -> bool {
        self.0.contains(&loops.all[number].header.as_mut_ptr())
    }

    /// The innermost of a loop and those around it that may run long.
    fn lasting(&self, loops: &Loops<'_>, innermost: Option<usize>) -> Option<usize> {
        loops.chain(innermost).find(|&number| !self.holds(loops, number))
    }
}

/// Decides how much code the events of a function are worth, given the number of its accesses and how often it runs.
pub fn weigh(events: &mut [Event<'_>], loops: &Loops<'_>, brief: &Brief, (accesses, runs): (usize, Runs)) {
    let lasting = |event: &Event<'_>| {
        let innermost = event.inst.get_parent().and_then(|block| loops.innermost(block));
        brief.lasting(loops, innermost)
    };
    let mut in_loop = vec![0usize; loops.all.len()];
    let mut outside = 0;
    for event in events.iter() {
        match lasting(event) {
            Some(number) => in_loop[number] += 1,
            None => outside += 1,
        }
    }
    let mut lasts = false;
    // Accesses of the loops inside, in one iteration.
    let mut inside = vec![0usize; loops.all.len()];
    let mut encloses = vec![false; loops.all.len()];
    // Inner loops come after outer ones.
    for number in (0..loops.all.len()).rev().filter(|&number| !brief.holds(loops, number)) {
        lasts = true;
        encloses[number] = inside[number] >= in_loop[number];
        if let Some(parent) = brief.lasting(loops, loops.all[number].parent) {
            let once = inside[number].saturating_add(in_loop[number]);
            inside[parent] = inside[parent].saturating_add(once.saturating_mul(ITERATIONS));
        }
    }
    let remainders = remainders::find(events, loops);
    let few_outside = match runs {
        Runs::Once => FEW_AROUND,
        Runs::Unknown => FEW_UNKNOWN,
        Runs::Often => FEW_OFTEN,
    };
    let straight = !lasts && accesses <= STRAIGHT_FUNCTION && runs > Runs::Once;
    let large = accesses > LARGE_FUNCTION && runs < Runs::Often;
    for event in events {
        event.worth = match lasting(event) {
            None if straight || outside <= few_outside => Worth::Events,
            None => Worth::Call,
            Some(number) if remainders.contains(number) => Worth::Rest,
            Some(number) if in_loop[number] <= FEW_AROUND => Worth::Events,
            Some(number) if in_loop[number] > LARGE_LOOP => Worth::Call,
            Some(number) if encloses[number] && large => Worth::Call,
            Some(_) => Worth::Events,
        };
    }
}

/// Of a function with more than `most` accesses, leaves the accesses of as many loops what they are worth as have that
/// many, those that are nested deepest first, and makes calls of all others. Says in which blocks they are.
pub fn keep_most_nested<'ctx>(
    function: FunctionValue<'ctx>,
    events: &mut [Event<'ctx>],
    (loops, brief): (&Loops<'ctx>, &Brief),
    most: usize,
) -> Inlined<'ctx> {
    let lasting = |block| brief.lasting(loops, loops.innermost(block));
    let mut accesses = vec![0usize; loops.all.len()];
    let mut leftover = vec![false; loops.all.len()];
    for event in events.iter().filter(|event| event.worth > Worth::Call) {
        if let Some(number) = event.inst.get_parent().and_then(lasting) {
            accesses[number] += 1;
            leftover[number] |= event.worth == Worth::Rest;
        }
    }
    let mut candidates: Vec<usize> = (0..loops.all.len()).filter(|&number| accesses[number] > 0).collect();
    // Small ones first: more loops are as fast as they can be.
    candidates.sort_by_cached_key(|&number| {
        (leftover[number], Reverse(loops.chain(Some(number)).count()), accesses[number], number)
    });
    let mut kept = vec![false; loops.all.len()];
    let mut rest = most;
    for number in candidates {
        let Some(left) = rest.checked_sub(accesses[number]) else { continue };
        rest = left;
        kept[number] = true;
    }
    let inside = |block: &_| lasting(*block).is_some_and(|number| kept[number]);
    let blocks: HashSet<_> = function.get_basic_block_iter().filter(inside).collect();
    for event in events.iter_mut().filter(|event| event.inst.get_parent().is_none_or(|b| !blocks.contains(&b))) {
        event.worth = Worth::Call;
    }
    Inlined::Only(blocks)
}
