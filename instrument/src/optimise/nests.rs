//! Loop nests in which nobody else's write can become visible to the thread: what was seen there stays true, and what
//! belongs to one nest at a time is not asked for by another.

use super::segment::synchronises;
use crate::llvm;
use crate::llvm::loops::Loops;
use crate::pure::PureFunctions;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};
use threadtalk_abi::hooks::{self, Hook};

/// What the pass itself calls in nests: about loops, and where regions are timed.
const OWN: [Hook; 5] = [hooks::LOOP, hooks::SEARCHED, hooks::NEST, hooks::ENTER, hooks::EXIT];

/// Which loops of a function contain no call that could synchronise, or contain a nest with memos of its own.
pub struct Nests {
    contents: Vec<Contents>,
}

#[derive(Clone, Copy, Default)]
struct Contents {
    /// Something that synchronises, or may.
    opaque: bool,
    /// Calls of pure functions.
    calls: bool,
}

impl Nests {
    /// Looks at all loops of a function.
    pub fn find<'ctx>(function: FunctionValue<'ctx>, loops: &Loops<'ctx>, pure: &PureFunctions<'ctx>) -> Self {
        let mut contents = vec![Contents::default(); loops.all.len()];
        for block in function.get_basic_block_iter() {
            let inside = loops.innermost(block);
            if inside.is_none() {
                continue;
            }
            let (calls, others): (Vec<_>, Vec<_>) =
                block.get_instructions().filter(|&i| is_opaque(i)).partition(|&i| pure_callee(i, pure).is_some());
            for l in loops.chain(inside) {
                contents[l].calls |= !calls.is_empty();
                contents[l].opaque |= !others.is_empty();
            }
        }
        Nests { contents }
    }

    /// Whether a loop contains no call of the program's, and nothing that synchronises.
    pub fn is_closed(&self, number: usize) -> bool {
        !self.contents[number].opaque && !self.contents[number].calls
    }

    /// Whether a loop calls functions, all of which are pure.
    pub fn calls(&self, number: usize) -> bool {
        self.contents[number].calls && !self.contents[number].opaque
    }

    /// The nest that a loop is in: the outermost loop that has one entry, contains nothing that synchronises, and calls
    /// functions only where `may_call` says so.
    pub fn around(
        &self,
        loops: &Loops<'_>,
        innermost: Option<usize>,
        may_call: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let quiet = loops.chain(innermost).take_while(|&l| !self.contents[l].opaque);
        let fits = |&l: &usize| loops.all[l].preheader.is_some() && (!self.contents[l].calls || may_call(l));
        quiet.filter(fits).last()
    }
}

/// The pure function that an instruction calls.
pub fn pure_callee<'ctx>(inst: InstructionValue<'ctx>, pure: &PureFunctions<'ctx>) -> Option<FunctionValue<'ctx>> {
    let callee = (inst.get_opcode() == InstructionOpcode::Call).then(|| llvm::callee(inst))??;
    pure.contains(callee).then_some(callee)
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
        Some(name) if OWN.iter().any(|hook| name == hook.name) => false,
        // These call other functions.
        Some(name) if name.starts_with("llvm.experimental.") || name.starts_with("llvm.coro.") => {
            !name.starts_with("llvm.experimental.noalias.")
        }
        _ => synchronises(inst),
    }
}
