//! Functions that clang made out of OpenMP constructs.
//!
//! Clang moves the body of a parallel region to a function whose address goes to `__kmpc_fork_call`, the body of a
//! task to one whose address goes to `__kmpc_omp_task_alloc`. With debug information there is a wrapper
//! (`f.omp_outlined`) around the body (`f.omp_outlined_debug__`); tasks have an entry (`.omp_task_entry.`) around it
//! (`.omp_outlined.`). The body may be inlined into the wrapper or not.

use super::functions::Unit;
use crate::llvm::{self, debug};
use inkwell::llvm_sys::core::LLVMIsAFunction;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};
use std::collections::HashMap;
use threadtalk_abi::module::RegionKind;

/// What an outlined function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlined {
    /// Parallel region, task, ...
    pub kind: RegionKind,
    /// The function whose address the OpenMP runtime gets: its debug information has the construct's line.
    pub entry: Unit,
    /// Where the construct stands.
    pub parent: Option<Unit>,
}

/// Calls of the OpenMP runtime that take a function: name, number of the argument, kind of region.
const STARTERS: &[(&str, u32, RegionKind)] = &[
    ("__kmpc_fork_call", 2, RegionKind::OmpParallel),
    ("__kmpc_fork_call_if", 2, RegionKind::OmpParallel),
    ("__kmpc_fork_teams", 2, RegionKind::OmpTarget),
    ("__kmpc_omp_task_alloc", 5, RegionKind::OmpTask),
    ("__kmpc_omp_target_task_alloc", 5, RegionKind::OmpTask),
];

/// Whether the compiler, not the user, gave a function this name.
fn is_outlined_name(name: &str) -> bool {
    name.contains(".omp_outlined") || name.starts_with(".omp_task_")
}

/// Calls that take the function which adds up two threads' results of a reduction, as argument 5.
const REDUCTIONS: [&str; 2] = ["__kmpc_reduce", "__kmpc_reduce_nowait"];

/// `f.omp_outlined_debug__.3` and `f.omp.reduction.reduction_func` are `f` to the user.
pub fn strip_suffix(name: &str) -> &str {
    let at = [".omp_outlined", ".omp.reduction"].iter().filter_map(|mark| name.find(mark)).min();
    match at {
        Some(0) | None => name,
        Some(at) => &name[..at],
    }
}

/// Finds all outlined functions, also those that were inlined into their wrappers.
pub fn find(module: &Module<'_>) -> HashMap<Unit, Outlined> {
    let mut found = HashMap::new();
    for function in module.get_functions() {
        for inst in function.get_basic_block_iter().flat_map(|b| b.get_instructions()).filter(|i| llvm::is_call(*i)) {
            let Some((entry, kind)) = started_by(inst) else { continue };
            let parent = Some(Unit::at(function, debug::of(inst)));
            spread(entry, Outlined { kind, entry: Unit::of(entry), parent }, &mut found);
        }
    }
    // Only now are the constructs known that reductions belong to.
    for function in module.get_functions() {
        for inst in function.get_basic_block_iter().flat_map(|b| b.get_instructions()).filter(|i| llvm::is_call(*i)) {
            let Some(adds) = reduced_by(inst) else { continue };
            if let Some(construct) = found.get(&Unit::at(function, debug::of(inst))).copied() {
                found.entry(Unit::of(adds)).or_insert(construct);
            }
        }
    }
    found
}

/// The function that adds up two threads' results, of a call that ends a reduction.
fn reduced_by<'ctx>(call: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    let callee = llvm::callee(call)?;
    let is_reduction = REDUCTIONS.iter().any(|name| callee.get_name().to_bytes() == name.as_bytes());
    if is_reduction { function_argument(call, 5) } else { None }
}

/// The function that a call hands over as an argument.
fn function_argument<'ctx>(call: InstructionValue<'ctx>, argument: u32) -> Option<FunctionValue<'ctx>> {
    if llvm::argument_count(call) <= argument {
        return None;
    }
    let value = llvm::operand(inkwell::values::AsValueRef::as_value_ref(&call), argument);
    // SAFETY: a live value, seen to be a function before it is wrapped.
    unsafe { if LLVMIsAFunction(value).is_null() { None } else { FunctionValue::new(value) } }
}

/// The function that a call hands to the OpenMP runtime.
pub fn started_by<'ctx>(call: InstructionValue<'ctx>) -> Option<(FunctionValue<'ctx>, RegionKind)> {
    let callee = llvm::callee(call)?;
    let name = callee.get_name().to_bytes();
    let &(_, argument, kind) = STARTERS.iter().find(|(n, ..)| n.as_bytes() == name)?;
    let entry = function_argument(call, argument)?;
    let kind = if kind == RegionKind::OmpTask && is_taskloop(call) { RegionKind::OmpTaskloop } else { kind };
    Some((entry, kind))
}

/// Whether the task goes to `__kmpc_taskloop`.
fn is_taskloop(allocation: InstructionValue<'_>) -> bool {
    llvm::users(inkwell::values::AsValueRef::as_value_ref(&allocation))
        .into_iter()
        .filter_map(llvm::as_instruction)
        .filter(|user| llvm::is_call(*user))
        .filter_map(llvm::callee)
        .any(|callee| callee.get_name().to_bytes().starts_with(b"__kmpc_taskloop"))
}

/// Marks an entry function, and the outlined bodies that it calls or that were inlined into it.
fn spread(entry: FunctionValue<'_>, construct: Outlined, found: &mut HashMap<Unit, Outlined>) {
    if found.insert(Unit::of(entry), construct).is_some() {
        return;
    }
    for inst in entry.get_basic_block_iter().flat_map(|b| b.get_instructions()) {
        if let Some(at) = debug::of(inst)
            && is_outlined_name(&debug::name(at.frame.subprogram))
        {
            found.entry(Unit::Subprogram(at.frame.subprogram)).or_insert(construct);
        }
        if llvm::is_call(inst)
            && let Some(body) = llvm::callee(inst)
            && is_outlined_name(&body.get_name().to_string_lossy())
            && !found.contains_key(&Unit::of(body))
        {
            spread(body, construct, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_of_outlined_functions_are_stripped() {
        assert_eq!(strip_suffix("work.omp_outlined_debug__.3"), "work");
        assert_eq!(strip_suffix("_ZN1A1fEv.omp_outlined"), "_ZN1A1fEv");
        assert_eq!(strip_suffix(".omp_outlined..1"), ".omp_outlined..1");
        assert_eq!(strip_suffix("work.omp_outlined_debug__.omp.reduction.reduction_func"), "work");
        assert_eq!(strip_suffix("work.omp.reduction.reduction_func.2"), "work");
        assert_eq!(strip_suffix("plain"), "plain");
    }
}
