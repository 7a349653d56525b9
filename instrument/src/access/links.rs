//! Links: pointers that lead from one item of a list or a tree to the next.

use crate::llvm;
use crate::llvm::loops::Loops;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue, PointerValue};

/// Instructions that are followed from an address back to the read that led there: `p = p->left ? p->left : p->right`
/// has three.
const MOST_STEPS: usize = 12;

/// Whether the item that an address lies in was led to by what the loop around has read in an iteration before.
pub fn leads<'ctx>(pointer: PointerValue<'ctx>, inst: InstructionValue<'ctx>, loops: &Loops<'ctx>) -> bool {
    let innermost = |of: InstructionValue<'ctx>| of.get_parent().and_then(|block| loops.innermost(block));
    let around: Vec<usize> = loops.chain(innermost(inst)).collect();
    // What goes from iteration to iteration begins in a loop's header.
    let carried = |item: &InstructionValue<'ctx>| {
        let is_header = |index: &&usize| item.get_parent() == Some(loops.all[**index].header);
        around.iter().find(is_header).filter(|_| item.get_opcode() == InstructionOpcode::Phi).copied()
    };
    let object = |of| llvm::as_instruction(llvm::underlying_object(of));
    let Some(item) = object(pointer.as_value_ref()) else { return false };
    let Some(by) = carried(&item) else { return false };
    let is_read_in_it = |load| loops.chain(innermost(load)).find(|index| around.contains(index)) == Some(by);
    let mut values = vec![item];
    let mut at = 0;
    while let Some(&value) = values.get(at).filter(|_| at < MOST_STEPS) {
        let first = u32::from(value.get_opcode() == InstructionOpcode::Select);
        for from in (first..value.get_num_operands()).filter_map(|n| object(llvm::operand(value.as_value_ref(), n))) {
            match from.get_opcode() {
                InstructionOpcode::Load if is_read_in_it(from) => return true,
                InstructionOpcode::Phi | InstructionOpcode::Select if !values.contains(&from) => values.push(from),
                _ => {}
            }
        }
        at += 1;
    }
    false
}
