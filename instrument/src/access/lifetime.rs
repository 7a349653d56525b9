//! When stack variables die.
//!
//! A variable whose address escapes may have been written by another thread. When it goes out of scope its cells are cleared, or what comes
//! to lie there next would seem to read what that thread wrote. Variables with lifetime markers die at `llvm.lifetime.end`, the others
//! where the function returns or resumes unwinding.

use super::{Action, Event, When, Worth};
use crate::llvm;
use crate::skip::Skipper;
use crate::tables::SiteId;
use inkwell::llvm_sys::core::{LLVMGetAlignment, LLVMSetAlignment};
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};
use std::collections::HashSet;
use threadtalk_abi::GRANULE;

/// Stack variables of a function that other threads may see.
#[derive(Default)]
pub struct Escaping<'ctx> {
    without_markers: Vec<InstructionValue<'ctx>>,
    with_markers: HashSet<InstructionValue<'ctx>>,
}

impl<'ctx> Escaping<'ctx> {
    /// Finds them. Each gets granules of its own: the death of one must not clear its neighbour.
    pub fn find(function: FunctionValue<'ctx>, skipper: &mut Skipper) -> Self {
        let mut found = Escaping::default();
        for inst in function.get_basic_block_iter().flat_map(|b| b.get_instructions()) {
            if inst.get_opcode() != InstructionOpcode::Alloca
                || llvm::alloca_size(inst).is_none()
                || !llvm::is_plain_pointer(inst.as_value_ref())
                || skipper.is_private_object(inst.as_value_ref())
            {
                continue;
            }
            // SAFETY: an alloca.
            unsafe {
                if u64::from(LLVMGetAlignment(inst.as_value_ref())) < GRANULE {
                    LLVMSetAlignment(inst.as_value_ref(), GRANULE as u32);
                }
            }
            if has_end_marker(inst) {
                found.with_markers.insert(inst);
            } else if is_static(inst, function) {
                found.without_markers.push(inst);
            }
        }
        found
    }

    /// The death that an intrinsic call `llvm.lifetime.end` marks.
    pub fn at_marker(&self, call: InstructionValue<'ctx>) -> Option<Action<'ctx>> {
        let alloca = llvm::as_alloca(llvm::operand(call.as_value_ref(), 1))?;
        self.with_markers.contains(&alloca).then(|| dies(alloca)).flatten()
    }

    /// The deaths at an exit of the function.
    pub fn at_exit(&self, exit: InstructionValue<'ctx>) -> impl Iterator<Item = Event<'ctx>> + '_ {
        self.without_markers.iter().filter_map(move |&alloca| {
            Some(Event { inst: exit, when: When::Before, action: dies(alloca)?, site: SiteId(0), worth: Worth::Own })
        })
    }
}

fn dies<'ctx>(alloca: InstructionValue<'ctx>) -> Option<Action<'ctx>> {
    let pointer = llvm::result(alloca).into_pointer_value();
    // SAFETY: an alloca.
    let align = unsafe { LLVMGetAlignment(alloca.as_value_ref()) };
    Some(Action::Dies(pointer, llvm::alloca_size(alloca)?, u64::from(align)))
}

fn has_end_marker(alloca: InstructionValue<'_>) -> bool {
    llvm::users(alloca.as_value_ref())
        .into_iter()
        .filter_map(llvm::as_instruction)
        .filter(|user| llvm::is_call(*user))
        .filter_map(llvm::callee)
        .any(|callee| callee.get_name().to_bytes().starts_with(b"llvm.lifetime.end"))
}

/// Allocas outside of the entry block do not dominate the function's exits.
fn is_static(alloca: InstructionValue<'_>, function: FunctionValue<'_>) -> bool {
    alloca.get_parent() == function.get_first_basic_block()
}
