//! Places in control flow: where a block begins, goes on and ends, and where it goes next.

use super::{as_instruction, constant, ffi, operand, users};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue, IntValue, PointerValue};

/// Splits the block before an instruction. The second half is returned; the first ends in a branch to it.
pub fn split_before<'ctx>(inst: InstructionValue<'ctx>) -> Option<BasicBlock<'ctx>> {
    // SAFETY: a live instruction that is no PHI node and no pad, as the callers see to.
    unsafe { BasicBlock::new(ffi::threadtalk_shim_split_before(inst.as_value_ref())) }
}

/// The first instruction after a call has returned normally.
pub fn after<'ctx>(inst: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    // SAFETY: a live instruction.
    unsafe {
        let at = ffi::threadtalk_shim_after_call(inst.as_value_ref());
        (!at.is_null()).then(|| InstructionValue::new(at))
    }
}

/// The instruction before which a function's last actions belong, if this block leaves the function.
pub fn before_exit<'ctx>(block: BasicBlock<'ctx>) -> Option<InstructionValue<'ctx>> {
    // SAFETY: a live block with a terminator.
    unsafe {
        let at = ffi::threadtalk_shim_before_exit(block.as_mut_ptr());
        (!at.is_null()).then(|| InstructionValue::new(at))
    }
}

/// The successors of a block.
pub fn successors<'ctx>(block: BasicBlock<'ctx>) -> Vec<BasicBlock<'ctx>> {
    // SAFETY: a live block; the terminator has that many successors.
    unsafe {
        let last = LLVMGetBasicBlockTerminator(block.as_mut_ptr());
        if last.is_null() || LLVMGetInstructionOpcode(last) == LLVMOpcode::LLVMUnreachable {
            return Vec::new();
        }
        (0..LLVMGetNumSuccessors(last)).filter_map(|i| BasicBlock::new(LLVMGetSuccessor(last, i))).collect()
    }
}

/// Whether a block is reached from some of these alone. Looks no further than to the first other one: many a block is
/// where half of a function leads.
pub fn is_reached_only_from<'ctx>(block: BasicBlock<'ctx>, from: &[BasicBlock<'ctx>]) -> bool {
    // SAFETY: the use list of a live block.
    unsafe {
        let mut at = LLVMGetFirstUse(LLVMBasicBlockAsValue(block.as_mut_ptr()));
        while !at.is_null() {
            let parent = as_instruction(LLVMGetUser(at)).and_then(|user| user.get_parent());
            if parent.is_some_and(|parent| !from.contains(&parent)) {
                return false;
            }
            at = LLVMGetNextUse(at);
        }
    }
    true
}

/// The first instruction after the one that computes a value, behind all PHI nodes.
pub fn first_after<'ctx>(value: PointerValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    no_phi(as_instruction(value.as_value_ref())?.get_next_instruction()?)
}

/// The first instruction behind a block's PHI nodes, given one of them; `None` if it is a pad.
pub fn behind_phis<'ctx>(phi: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    use InstructionOpcode::{CatchPad, CatchSwitch, CleanupPad, LandingPad};
    let first = no_phi(phi)?;
    (!matches!(first.get_opcode(), CatchPad | CatchSwitch | CleanupPad | LandingPad)).then_some(first)
}

/// Where control goes if a number is not 0, if one branch that compares it with 0 or 1 decides that.
pub fn taken_if_nonzero<'ctx>(number: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let compare = users(number.as_value_ref()).into_iter().find_map(as_instruction)?;
    let predicate = compare.get_icmp_predicate()?;
    let with = constant(operand(compare.as_value_ref(), 1))?;
    let branch = users(compare.as_value_ref()).into_iter().find_map(as_instruction)?;
    if branch.get_opcode() != InstructionOpcode::Br {
        return None;
    }
    let when_true = match (predicate, with) {
        (IntPredicate::NE, 0) | (IntPredicate::EQ, 1) => true,
        (IntPredicate::EQ, 0) | (IntPredicate::NE, 1) => false,
        _ => return None,
    };
    let block = *successors(branch.get_parent()?).get(usize::from(!when_true))?;
    no_phi(block.get_first_instruction()?)
}

/// The targets of a branch.
pub fn successors_of<'ctx>(branch: InstructionValue<'ctx>) -> Vec<BasicBlock<'ctx>> {
    branch.get_parent().map(successors).unwrap_or_default()
}

/// What decides a branch, if an instruction does.
pub fn condition<'ctx>(branch: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let is_conditional = branch.get_opcode() == InstructionOpcode::Br && branch.get_num_operands() > 1;
    if is_conditional { as_instruction(operand(branch.as_value_ref(), 0)) } else { None }
}

/// Gives a conditional branch another condition and another target for when it holds.
pub fn redirect<'ctx>(branch: InstructionValue<'ctx>, condition: IntValue<'ctx>, taken: BasicBlock<'ctx>) {
    // SAFETY: a live conditional branch; the new target has no PHI nodes.
    unsafe {
        LLVMSetCondition(branch.as_value_ref(), condition.as_value_ref());
        LLVMSetSuccessor(branch.as_value_ref(), 0, taken.as_mut_ptr());
    }
}

/// Gives a conditional branch another condition.
pub fn set_condition<'ctx>(branch: InstructionValue<'ctx>, condition: IntValue<'ctx>) {
    // SAFETY: a live conditional branch.
    unsafe { LLVMSetCondition(branch.as_value_ref(), condition.as_value_ref()) };
}

/// Gives a conditional branch another target for the case that its condition does not hold.
pub fn redirect_other<'ctx>(branch: InstructionValue<'ctx>, target: BasicBlock<'ctx>) {
    // SAFETY: a live conditional branch; the new target has no PHI nodes.
    unsafe { LLVMSetSuccessor(branch.as_value_ref(), 1, target.as_mut_ptr()) };
}

/// Whether control goes to the same block whatever a block's end decides.
pub fn has_one_way(block: BasicBlock<'_>) -> bool {
    let ways = successors(block);
    ways.windows(2).all(|w| w[0] == w[1])
}

/// The first instruction from this one on that is no PHI node.
fn no_phi<'ctx>(from: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    std::iter::successors(Some(from), |at| at.get_next_instruction())
        .find(|at| at.get_opcode() != InstructionOpcode::Phi)
}
