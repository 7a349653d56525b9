//! Finds the loops that run what a vectorised loop leaves over: less than one of its iterations, unless its arrays
//! overlap. They are half of the loops of numeric code and take next to none of its time, unless rows are shorter than
//! a vector: points of three numbers are read there alone.
//!
//! Whether arrays overlap is compared before the loop, or before the loops around it, of all that they reach there. A
//! row that is computed from the row above overlaps in this sense: then the vectorised loop never runs, and what looks
//! like its remainder runs all of it.

use super::segment::plain;
use crate::access::Event;
use crate::llvm::loops::Loops;
use crate::llvm::{self};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};
use std::collections::{HashMap, HashSet};

/// Blocks before a loop, and values of a condition, that are looked at.
const MOST_LOOKS: usize = 12;

/// The blocks that lead to a block.
type Origins<'ctx> = HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>;

/// What is left over by vectorised loops, by the numbers of the loops that run it.
#[derive(Default)]
pub struct Remainders {
    /// Less than an iteration of a vectorised loop.
    pub short: HashSet<usize>,
    /// All iterations where arrays overlap.
    pub whole: HashSet<usize>,
}

impl Remainders {
    /// Whether it is one of either kind.
    pub fn contains(&self, number: usize) -> bool {
        self.short.contains(&number) || self.whole.contains(&number)
    }
}

/// The remainders: pieces of a source loop of which another piece has wider accesses.
pub fn find<'ctx>(events: &[Event<'ctx>], loops: &Loops<'ctx>) -> Remainders {
    let mut widths: HashMap<usize, u64> = HashMap::new();
    for event in events {
        let innermost = event.inst.get_parent().and_then(|block| loops.innermost(block));
        let Some(piece) = innermost.filter(|&l| loops.all[l].derived && !loops.has_inner(l)) else { continue };
        let bytes = plain(event).map_or(0, |(_, access)| access.bytes);
        let width = widths.entry(piece).or_default();
        *width = bytes.max(*width);
    }
    let source = |piece: usize| (loops.all[piece].start.map(|l| l.raw), loops.all[piece].parent);
    let mut widest: HashMap<_, u64> = HashMap::new();
    for (&piece, &width) in &widths {
        let most = widest.entry(source(piece)).or_default();
        *most = width.max(*most);
    }
    let narrow = widths.into_iter().filter(|&(piece, width)| width < widest[&source(piece)]).map(|(piece, _)| piece);
    let mut remainders = Remainders { short: narrow.collect(), whole: HashSet::new() };
    let function = events.first().and_then(|event| event.inst.get_parent()?.get_parent());
    if let Some(function) = function.filter(|_| remainders.short.iter().any(|&piece| loops.all[piece].parent.is_some()))
    {
        let mut origins = Origins::new();
        for block in function.get_basic_block_iter() {
            llvm::successors(block).into_iter().for_each(|next| origins.entry(next).or_default().push(block));
        }
        remainders.whole =
            remainders.short.extract_if(|&piece| runs_if_arrays_overlap(loops, &origins, piece)).collect();
    }
    remainders
}

/// Whether the outcome of a comparison of addresses before the loops around a loop leads to it.
fn runs_if_arrays_overlap<'ctx>(loops: &Loops<'ctx>, origins: &Origins<'ctx>, piece: usize) -> bool {
    let Some(parent) = loops.all[piece].parent else { return false };
    let mut blocks = vec![loops.all[piece].header];
    let mut seen = 0;
    while let Some(&block) = blocks.get(seen).filter(|_| seen < MOST_LOOKS) {
        seen += 1;
        for &origin in origins.get(&block).into_iter().flatten() {
            if loops.innermost(origin) != Some(parent) || blocks.contains(&origin) {
                continue;
            }
            let compares = origin.get_terminator().and_then(llvm::condition);
            if compares.is_some_and(|condition| compares_addresses(loops, parent, condition)) {
                return true;
            }
            blocks.push(origin);
        }
    }
    false
}

/// Whether a condition depends on a comparison of addresses in one array outside of a loop. (Different arrays do not
/// overlap nearly always; in blocked products and factorisations, a copy of the loop for each was a tenth of the code.)
fn compares_addresses<'ctx>(loops: &Loops<'ctx>, outside: usize, condition: InstructionValue<'ctx>) -> bool {
    use InstructionOpcode::{And, Freeze, ICmp, Or, Select, Xor};
    let mut values = vec![condition];
    let mut seen = 0;
    while let Some(&value) = values.get(seen).filter(|_| seen < MOST_LOOKS) {
        seen += 1;
        match value.get_opcode() {
            ICmp => {
                let innermost = value.get_parent().and_then(|block| loops.innermost(block));
                let is_outside = !loops.chain(innermost).any(|around| around == outside);
                let [one, other] = [0, 1].map(|n| llvm::operand(value.as_value_ref(), n));
                let of_one_array =
                    || llvm::is_plain_pointer(one) && llvm::underlying_object(one) == llvm::underlying_object(other);
                if is_outside && of_one_array() {
                    return true;
                }
            }
            And | Freeze | Or | Select | Xor => {
                let operands = (0..value.get_num_operands()).map(|n| llvm::operand(value.as_value_ref(), n));
                values.extend(operands.filter_map(llvm::as_instruction));
            }
            _ => {}
        }
    }
    false
}
