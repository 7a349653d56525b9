//! Finds the variables of innermost loops with instrumented accesses that addresses are computed from.
//!
//! The code generator's loop strength reduction looks for the best way to step all addresses of such a loop along,
//! those that a sequence or a hook needs in a register beside those of the accesses themselves. That is a fifth of what
//! compiling a file of numeric loops takes, and gains nothing: each address is computed once for that, and is in
//! a register already where the access comes. So addresses are computed from a copy of the variable that it cannot
//! look through. Loops without instrumented accesses, the plain copies above all, are left to it.

use super::segment::plain;
use crate::access::Plan;
use crate::llvm;
use crate::llvm::loops::Loops;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};
use std::collections::BTreeSet;

/// A variable of a loop and what is computed from it, but for its next value and comparisons.
pub struct Induction<'ctx> {
    /// The variable.
    pub phi: InstructionValue<'ctx>,
    /// Operands that are the variable.
    pub uses: Vec<(InstructionValue<'ctx>, u32)>,
}

/// Finds them in a function.
pub fn find<'ctx>(plan: &Plan<'ctx>, loops: &Loops<'ctx>) -> Vec<Induction<'ctx>> {
    let accesses = plan.events.iter().filter(|event| plain(event).is_some());
    let instrumented: BTreeSet<usize> = accesses
        .filter_map(|event| loops.innermost(event.inst.get_parent()?))
        .filter(|&index| !loops.has_inner(index))
        .collect();
    let headers = instrumented.into_iter().map(|index| loops.all[index].header);
    let variables = headers.flat_map(|header| {
        let instructions = header.get_instructions();
        instructions.take_while(|inst| inst.get_opcode() == InstructionOpcode::Phi)
    });
    variables.filter_map(induction).collect()
}

fn induction<'ctx>(phi: InstructionValue<'ctx>) -> Option<Induction<'ctx>> {
    let value = phi.as_value_ref();
    if !llvm::is_integer(value) && !llvm::is_plain_pointer(value) {
        return None;
    }
    let next: Vec<_> = (0..phi.get_num_operands()).map(|n| llvm::operand(value, n)).collect();
    let follows = |user: InstructionValue<'ctx>| {
        next.contains(&user.as_value_ref())
            || matches!(user.get_opcode(), InstructionOpcode::Phi | InstructionOpcode::ICmp)
    };
    let users = llvm::users(value).into_iter().filter_map(llvm::as_instruction).filter(|&user| !follows(user));
    let uses: Vec<_> = users
        .flat_map(|user| (0..user.get_num_operands()).map(move |n| (user, n)))
        .filter(|&(user, n)| llvm::operand(user.as_value_ref(), n) == value)
        .collect();
    (!uses.is_empty()).then_some(Induction { phi, uses })
}
