//! Loads, stores and atomic instructions.

use super::{Access, Action, Direction, When};
use crate::llvm;
use inkwell::llvm_sys::core::LLVMGetAlignment;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};

/// What an instruction does to memory.
pub struct Found<'ctx> {
    /// The access.
    pub action: Action<'ctx>,
    /// Where its code goes.
    pub when: When,
    /// Whether it synchronises.
    pub atomic: bool,
}

/// The access of a load, store, `atomicrmw` or `cmpxchg`.
///
/// Atomic reads are handled after they happened, so that what they synchronise with has been recorded; atomic
/// writes before they happen, so that they are recorded before another thread can see them. A read-modify-write can be
/// only one of both, and must leave the cell as written by this thread: after.
pub fn of<'ctx>(module: &Module<'ctx>, inst: InstructionValue<'ctx>) -> Option<Found<'ctx>> {
    let (pointer_index, value) = match inst.get_opcode() {
        InstructionOpcode::Load => (0, inst.as_value_ref()),
        InstructionOpcode::Store => (1, llvm::operand(inst.as_value_ref(), 0)),
        InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg => (0, llvm::operand(inst.as_value_ref(), 1)),
        _ => return None,
    };
    if !llvm::is_plain_pointer(llvm::operand(inst.as_value_ref(), pointer_index)) {
        return None;
    }
    let bytes = llvm::store_size(module, value);
    if bytes == 0 {
        return None;
    }
    // SAFETY: one of the four opcodes that have an alignment.
    let align = unsafe { LLVMGetAlignment(inst.as_value_ref()) };
    let pointer = llvm::pointer_operand(inst, pointer_index);
    let align = u64::from(align.max(1));
    // Atomic ones are aligned, or they would not be atomic.
    let is_plain =
        matches!(inst.get_opcode(), InstructionOpcode::Load | InstructionOpcode::Store) && !llvm::is_atomic(inst);
    let align = if is_plain && align > 1 { align.min(llvm::left_of_alignment(module, pointer)) } else { align };
    let access = Access { pointer, bytes, align };
    let found = |action, when, atomic| Some(Found { action, when, atomic });
    match inst.get_opcode() {
        InstructionOpcode::Load if llvm::is_atomic(inst) => {
            found(Action::Plain(Direction::Read, access), When::After, true)
        }
        InstructionOpcode::Load => found(Action::Plain(Direction::Read, access), When::Before, false),
        InstructionOpcode::Store => found(Action::Plain(Direction::Write, access), When::Before, llvm::is_atomic(inst)),
        InstructionOpcode::AtomicRMW => found(Action::Update(access), When::After, true),
        _ => found(Action::CompareExchange(access), When::After, true),
    }
}
