//! Links: pointers that lead from one item of a list or a tree to the next.

use crate::llvm;
use crate::llvm::loops::Loops;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue, PointerValue};

/// Instructions that are followed from an address back to the read that led there: `p = p->left ? p->left : p->right`
/// has three.
const MOST_STEPS: usize = 12;

/// Whether the item that an address lies in was led to by what the loop around has read in an iteration before.
pub fn leads<'ctx>(pointer: PointerValue<'ctx>, inst: InstructionValue<'ctx>, loops: &Loops<'ctx>) -> bool {
    let Some(innermost) = inst.get_parent().and_then(|block| loops.innermost(block)) else { return false };
    let around: Vec<usize> = loops.chain(Some(innermost)).collect();
    let inside = |of: InstructionValue<'ctx>| {
        let at = of.get_parent().and_then(|block| loops.innermost(block));
        loops.chain(at).find(|index| around.contains(index))
    };
    // What goes from iteration to iteration begins in a loop's header.
    let Some(item) = llvm::as_instruction(object(pointer.as_value_ref())) else { return false };
    let header = around.iter().map(|index| loops.all[*index].header);
    if item.get_opcode() != InstructionOpcode::Phi || !header.into_iter().any(|h| item.get_parent() == Some(h)) {
        return false;
    }
    let mut values = vec![item];
    let mut at = 0;
    while let Some(&value) = values.get(at).filter(|_| at < MOST_STEPS) {
        let first = u32::from(value.get_opcode() == InstructionOpcode::Select);
        for operand in first..value.get_num_operands() {
            let from = llvm::as_instruction(object(llvm::operand(value.as_value_ref(), operand)));
            match from.map(|from| (from, from.get_opcode())) {
                Some((from, InstructionOpcode::Load)) if inside(from) == inside(item) => return true,
                Some((from, InstructionOpcode::Phi | InstructionOpcode::Select)) if !values.contains(&from) => {
                    values.push(from);
                }
                _ => {}
            }
        }
        at += 1;
    }
    false
}

/// The pointer that arithmetic on addresses started from.
fn object(mut pointer: LLVMValueRef) -> LLVMValueRef {
    let arithmetic = |of| llvm::as_instruction(of).filter(|inst| inst.get_opcode() == InstructionOpcode::GetElementPtr);
    while let Some(inst) = arithmetic(pointer) {
        pointer = llvm::operand(inst.as_value_ref(), 0);
    }
    pointer
}
