//! Shared variables by which loops end: counters from which threads take work piece by piece (`while ((i = next++) <
//! n)`, with an atomic addition or under a lock), flags for which they wait, and locks that they spin for.

use crate::llvm;
use crate::llvm::loops::Loops;
use inkwell::llvm_sys::LLVMAtomicRMWBinOp::{
    LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpXchg,
};
use inkwell::llvm_sys::core::LLVMGetAtomicRMWBinOp;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};

/// Instructions that are followed from a counter to a comparison: `i = next++ * 64; if (i >= n)` has three.
const MOST_STEPS: usize = 24;

/// Whether an access reads a counter, or writes it back, that the program adds to and by which a loop around ends.
pub fn takes_work<'ctx>(inst: InstructionValue<'ctx>, loops: &Loops<'ctx>) -> bool {
    if loops.all.is_empty() {
        return false;
    }
    let counted = match inst.get_opcode() {
        // SAFETY: an `atomicrmw`.
        InstructionOpcode::AtomicRMW => match unsafe { LLVMGetAtomicRMWBinOp(inst.as_value_ref()) } {
            LLVMAtomicRMWBinOpAdd | LLVMAtomicRMWBinOpSub => Some(inst),
            _ => None,
        },
        InstructionOpcode::Load => is_written_back(inst).then_some(inst),
        InstructionOpcode::Store => added_to(inst),
        _ => None,
    };
    counted.is_some_and(|from| ends_a_loop(from, loops))
}

/// Whether an access looks at a volatile variable until it has another value. (Atomic ones are known by their order.)
pub fn waits<'ctx>(inst: InstructionValue<'ctx>, loops: &Loops<'ctx>) -> bool {
    let is_volatile = inst.get_opcode() == InstructionOpcode::Load && inst.get_volatile().unwrap_or(false);
    is_volatile && ends_a_loop(inst, loops)
}

/// Whether an access puts a constant into a place until it finds there what lets it go on: `while
/// (test_and_set(&held))`, `while (!compare_exchange(&held, 0, 1))`. Updates whose new value comes from the old one, or
/// from elsewhere, count or hand over.
pub fn locks<'ctx>(inst: InstructionValue<'ctx>, loops: &Loops<'ctx>) -> bool {
    let value = match inst.get_opcode() {
        // SAFETY: an `atomicrmw`.
        InstructionOpcode::AtomicRMW => match unsafe { LLVMGetAtomicRMWBinOp(inst.as_value_ref()) } {
            LLVMAtomicRMWBinOpXchg | LLVMAtomicRMWBinOpOr => llvm::operand(inst.as_value_ref(), 1),
            _ => return false,
        },
        InstructionOpcode::AtomicCmpXchg => llvm::operand(inst.as_value_ref(), 2),
        _ => return false,
    };
    llvm::constant(value).is_some() && ends_a_loop(inst, loops)
}

/// The load of the same place of which the stored value is a sum.
fn added_to<'ctx>(store: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let sum = llvm::as_instruction(llvm::operand(store.as_value_ref(), 0)).filter(|sum| is_sum(*sum))?;
    let operands = (0..sum.get_num_operands()).map(|n| llvm::operand(sum.as_value_ref(), n));
    let mut loads = operands.filter_map(llvm::as_instruction).filter(|of| of.get_opcode() == InstructionOpcode::Load);
    loads.find(|load| is_of(*load, store))
}

fn is_written_back(load: InstructionValue<'_>) -> bool {
    let sums = instructions(load.as_value_ref()).filter(|user| is_sum(*user));
    let mut stores = sums.flat_map(|sum| {
        let users = instructions(sum.as_value_ref());
        users.filter(move |user| {
            user.get_opcode() == InstructionOpcode::Store && llvm::operand(user.as_value_ref(), 0) == sum.as_value_ref()
        })
    });
    stores.any(|store| is_of(load, store))
}

/// Whether a load and a store access the same place.
fn is_of(load: InstructionValue<'_>, store: InstructionValue<'_>) -> bool {
    llvm::operand(load.as_value_ref(), 0) == llvm::operand(store.as_value_ref(), 1)
}

fn is_sum(inst: InstructionValue<'_>) -> bool {
    matches!(inst.get_opcode(), InstructionOpcode::Add | InstructionOpcode::Sub)
}

fn instructions<'ctx>(value: LLVMValueRef) -> impl Iterator<Item = InstructionValue<'ctx>> {
    llvm::users(value).into_iter().filter_map(llvm::as_instruction)
}

/// Whether a comparison of what is computed from a value decides that a loop around it is left.
fn ends_a_loop<'ctx>(from: InstructionValue<'ctx>, loops: &Loops<'ctx>) -> bool {
    let around: Vec<usize> = loops.chain(from.get_parent().and_then(|block| loops.innermost(block))).collect();
    let mut values = vec![from];
    let mut at = 0;
    while let Some(&value) = values.get(at).filter(|_| at < MOST_STEPS && !around.is_empty()) {
        for user in instructions(value.as_value_ref()) {
            use InstructionOpcode::{
                Add, And, Br, ExtractValue, Freeze, ICmp, Mul, Or, Phi, SExt, Select, Shl, Sub, Trunc, Xor, ZExt,
            };
            match user.get_opcode() {
                Br if leaves(user, &around, loops) => return true,
                Add | And | ExtractValue | Freeze | ICmp | Mul | Or | Phi | SExt | Select | Shl | Sub | Trunc | Xor
                | ZExt
                    if !values.contains(&user) =>
                {
                    values.push(user);
                }
                _ => {}
            }
        }
        at += 1;
    }
    false
}

/// Whether a branch is in one of these loops and may leave it.
fn leaves<'ctx>(branch: InstructionValue<'ctx>, around: &[usize], loops: &Loops<'ctx>) -> bool {
    let chain = |block| loops.chain(loops.innermost(block)).collect::<Vec<_>>();
    let Some(block) = branch.get_parent() else { return false };
    let inside = chain(block);
    llvm::successors_of(branch).into_iter().any(|to| {
        let to = chain(to);
        around.iter().any(|of| inside.contains(of) && !to.contains(of))
    })
}
