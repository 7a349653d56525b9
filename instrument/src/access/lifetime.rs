//! When stack variables die.
//!
//! A variable whose address escapes may have been written by another thread. When it goes out of scope its cells are
//! cleared, or what comes to lie there next would seem to read what that thread wrote. Variables with lifetime markers
//! die at `llvm.lifetime.end`, the others where the function returns or resumes unwinding. Arrays of variable length
//! die where the stack pointer is restored to what it was before them, else at the exits too.

use super::Action;
use crate::llvm;
use crate::llvm::loops::Dominators;
use crate::skip::Skipper;
use inkwell::llvm_sys::core::{LLVMGetAlignment, LLVMSetAlignment};
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};
use std::collections::HashSet;
use threadtalk_abi::GRANULE;

/// Stack variables of a function that other threads may see.
#[derive(Default)]
pub struct Escaping<'ctx> {
    without_markers: Vec<InstructionValue<'ctx>>,
    with_markers: HashSet<InstructionValue<'ctx>>,
    dynamic: Vec<InstructionValue<'ctx>>,
    dominators: Option<Dominators>,
}

impl<'ctx> Escaping<'ctx> {
    /// Finds them. Each gets granules of its own: the death of one must not clear its neighbour.
    pub fn find(function: FunctionValue<'ctx>, skipper: &mut Skipper) -> Self {
        let mut found = Escaping::default();
        for inst in function.get_basic_block_iter().flat_map(|b| b.get_instructions()) {
            if inst.get_opcode() != InstructionOpcode::Alloca
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
            } else if llvm::alloca_element_size(inst) > 0 {
                found.dynamic.push(inst);
            }
        }
        if !found.dynamic.is_empty() {
            found.dominators = Some(Dominators::of(function));
        }
        found
    }

    /// The death that an intrinsic call `llvm.lifetime.end` marks.
    pub fn at_marker(&self, call: InstructionValue<'ctx>) -> Option<Action<'ctx>> {
        let alloca = llvm::as_alloca(llvm::operand(call.as_value_ref(), 1))?;
        self.with_markers.contains(&alloca).then(|| dies(alloca)).flatten()
    }

    /// The deaths at a call of `llvm.stackrestore`: of what was allocated since the stack pointer was saved.
    pub fn at_restore(&self, restore: InstructionValue<'ctx>) -> Vec<Action<'ctx>> {
        let Some(save) = saved_by(restore) else { return vec![] };
        let since =
            |alloca: &&InstructionValue<'ctx>| self.dominates(save, **alloca) && self.dominates(**alloca, restore);
        self.dynamic.iter().filter(since).map(|alloca| dies_whole(*alloca)).collect()
    }

    /// The deaths at an exit of the function.
    pub fn at_exit(&self, exit: InstructionValue<'ctx>) -> Vec<Action<'ctx>> {
        let dynamic = self.dynamic.iter().filter(|alloca| self.dominates(**alloca, exit)).map(|a| dies_whole(*a));
        self.without_markers.iter().filter_map(|&alloca| dies(alloca)).chain(dynamic).collect()
    }

    fn dominates(&self, first: InstructionValue<'ctx>, second: InstructionValue<'ctx>) -> bool {
        self.dominators.as_ref().is_some_and(|d| d.dominates(first, second))
    }
}

/// The call of `llvm.stacksave` whose result is restored. Without optimisation it goes through a variable.
fn saved_by<'ctx>(restore: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let saved = llvm::as_instruction(llvm::operand(restore.as_value_ref(), 0))?;
    if saved.get_opcode() != InstructionOpcode::Load {
        return llvm::is_call(saved).then_some(saved);
    }
    let variable = llvm::operand(saved.as_value_ref(), 0);
    let stores = llvm::users(variable).into_iter().filter_map(llvm::as_instruction);
    let mut stores = stores.filter(|user| user.get_opcode() == InstructionOpcode::Store);
    let save = llvm::as_instruction(llvm::operand(stores.next()?.as_value_ref(), 0))?;
    (stores.next().is_none() && llvm::is_call(save)).then_some(save)
}

fn dies_whole<'ctx>(alloca: InstructionValue<'ctx>) -> Action<'ctx> {
    let pointer = llvm::result(alloca).into_pointer_value();
    Action::DiesWhole(pointer, llvm::int_operand(alloca, 0), llvm::alloca_element_size(alloca))
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

/// Only allocas of the entry block dominate all of the function's exits.
fn is_static(alloca: InstructionValue<'_>, function: FunctionValue<'_>) -> bool {
    llvm::alloca_size(alloca).is_some() && alloca.get_parent() == function.get_first_basic_block()
}
