//! Innermost loops that end by what they find: nobody knows before they run how often they do.
//!
//! Most go through rows all the same, and each iteration does all of their accesses, but for the last one, which leaves
//! somewhere on its way. So after some iterations with hooks such a loop goes on in a copy without, and where it
//! leaves that the runtime is told how far it got: [`threadtalk_abi::hooks::SEARCHED`]. It counts then what the hooks
//! would have counted. Nothing can have changed meanwhile that another thread did: nothing in the loop synchronises, or
//! is volatile.
//!
//! Loops with strays are left as they are: their events would come before those of the others. So are those that read
//! structures or downwards: to look at a member of each takes two to ten times as long as its sequence.

use super::whole_loops::{self, OfferedAccess};
use crate::access::Event;
use crate::llvm::analysis::Analysis;
use crate::llvm::ffi::{self, RawAffine, RawSearchExit};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{InstructionValue, IntValue};
use std::ptr;
use threadtalk_abi::loops::{MOST_SEARCHED, SEARCHED_AFTER};

/// Ways out of a loop. Each gets a call.
const MOST_EXITS: usize = 8;

/// A loop that ends by what it finds, with its copy.
pub struct Search<'ctx> {
    /// The first instruction on the way to the copy.
    pub ask: InstructionValue<'ctx>,
    /// The accesses, as they are from there on.
    pub accesses: Vec<OfferedAccess<'ctx>>,
    /// The ways out of the copy.
    pub exits: Vec<Exit<'ctx>>,
}

/// A way out of the copy.
pub struct Exit<'ctx> {
    /// An instruction on that way alone.
    pub at: InstructionValue<'ctx>,
    /// Iterations that the copy has done as a whole.
    pub iterations: IntValue<'ctx>,
    /// Accesses that the last one has done.
    pub executed: usize,
}

/// Makes the copy of a loop, if it is such a search.
pub fn copy<'ctx>(analysis: &mut Analysis, header: BasicBlock<'ctx>, events: &[&Event<'ctx>]) -> Option<Search<'ctx>> {
    let is_short = analysis.most_iterations(header).is_some_and(|most| most < 4 * SEARCHED_AFTER);
    if is_short || events.len() > MOST_SEARCHED {
        return None;
    }
    let accesses = whole_loops::plain_ones(events);
    let raw = whole_loops::raw(events, &accesses);
    let mut affine = [RawAffine::NONE; MOST_SEARCHED];
    let none = ptr::null_mut();
    let mut exits = [RawSearchExit { at: none, iterations: none, executed: 0 }; MOST_EXITS];
    let mut ask = none;
    // SAFETY: a live header of the function that was opened; the arrays have the lengths that are passed.
    let count = unsafe {
        let (header, all, affine, exits) = (header.as_mut_ptr(), raw.as_ptr(), affine.as_mut_ptr(), exits.as_mut_ptr());
        let analysis = analysis.raw();
        ffi::threadtalk_shim_copy_search(
            analysis,
            header,
            SEARCHED_AFTER,
            all,
            raw.len(),
            affine,
            &mut ask,
            exits,
            MOST_EXITS,
        )
    };
    if count == 0 {
        return None;
    }
    // Each by itself: an iteration may leave between two that could be joined.
    let strands = whole_loops::joined(whole_loops::strands(accesses.iter().zip(&affine)), |_| 0);
    // SAFETY: the shim filled them in, and the instruction.
    let (accesses, ask) = unsafe { (whole_loops::described(strands, &affine), InstructionValue::new(ask)) };
    let exits = exits.iter().take(count).map(|exit| Exit {
        // SAFETY: the shim gave each exit an instruction and an i64.
        at: unsafe { InstructionValue::new(exit.at) },
        // SAFETY: as above.
        iterations: unsafe { IntValue::new(exit.iterations) },
        executed: exit.executed,
    });
    Some(Search { ask, accesses, exits: exits.collect() })
}
