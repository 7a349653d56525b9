//! Loop nests in which nobody else's write can become visible to the thread: what was seen there stays true, and what
//! belongs to one nest at a time is not asked for by another.

use super::segment::synchronises;
use crate::llvm;
use crate::llvm::loops::Loops;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};
use threadtalk_abi::hooks;

/// Which loops of a function contain no call that could contain another nest, and nothing that synchronises.
pub struct Nests {
    closed: Vec<bool>,
}

impl Nests {
    /// Looks at all loops of a function.
    pub fn find(function: FunctionValue<'_>, loops: &Loops<'_>) -> Self {
        let mut closed = vec![true; loops.all.len()];
        for block in function.get_basic_block_iter() {
            let inside = loops.innermost(block);
            if inside.is_some() && block.get_instructions().any(is_opaque) {
                loops.chain(inside).for_each(|l| closed[l] = false);
            }
        }
        Nests { closed }
    }

    /// Whether a loop contains no such call, and nothing that synchronises.
    pub fn is_closed(&self, number: usize) -> bool {
        self.closed[number]
    }

    /// The nest that a loop is in: the outermost closed loop that has one entry.
    pub fn around(&self, loops: &Loops<'_>, innermost: Option<usize>) -> Option<usize> {
        let closed = loops.chain(innermost).take_while(|&l| self.closed[l]);
        closed.filter(|&l| loops.all[l].preheader.is_some()).last()
    }
}

/// Whether an instruction may run code that is a nest of its own, or leave the function otherwise than by a branch.
fn is_opaque(inst: InstructionValue<'_>) -> bool {
    if matches!(inst.get_opcode(), InstructionOpcode::Invoke | InstructionOpcode::CallBr) {
        return true;
    }
    if !llvm::is_call(inst) {
        return synchronises(inst);
    }
    match llvm::callee(inst).map(|c| c.get_name().to_string_lossy().into_owned()) {
        // The pass's own question before a loop, and regions that are timed.
        Some(name) if [hooks::LOOP, hooks::NEST, hooks::ENTER, hooks::EXIT].iter().any(|hook| name == hook.name) => {
            false
        }
        // These call other functions.
        Some(name) if name.starts_with("llvm.experimental.") || name.starts_with("llvm.coro.") => {
            !name.starts_with("llvm.experimental.noalias.")
        }
        _ => synchronises(inst),
    }
}
