//! How often functions run, as far as the calls in their module tell.

use crate::library;
use crate::llvm::{self, loops::Loops};
use crate::regions::outlined;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use threadtalk_abi::module::RegionKind;

/// How often a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runs {
    /// As often as the program, or one of its threads.
    Once,
    /// Other modules call it, or it is called through a pointer.
    Unknown,
    /// A loop calls it, or it calls itself by way of others or none, or a function of which that is known calls it.
    Often,
}

/// Functions, each with those that it calls.
type Calls<'ctx> = HashMap<FunctionValue<'ctx>, Vec<FunctionValue<'ctx>>>;

/// How often each function of a module runs.
#[derive(Default)]
pub struct Called<'ctx>(HashMap<FunctionValue<'ctx>, Runs>);

impl<'ctx> Called<'ctx> {
    /// Looks at the calls of all functions.
    pub fn find(module: &Module<'ctx>) -> Self {
        let mut loops: HashMap<FunctionValue<'ctx>, Loops<'ctx>> = HashMap::new();
        let mut calls = Calls::new();
        let mut known = Vec::new();
        for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
            let mut runs = if is_seen_whole(function) { Runs::Once } else { Runs::Unknown };
            for user in llvm::users(function.as_value_ref()) {
                let Some((caller, block)) = call_of(user, function) else {
                    runs = runs.max(Runs::Unknown);
                    continue;
                };
                calls.entry(caller).or_default().push(function);
                let mut is_in_loop = |block| {
                    let loops = loops.entry(caller).or_insert_with(|| Loops::find(caller));
                    loops.innermost(block).is_some()
                };
                if runs < Runs::Often && block.is_some_and(&mut is_in_loop) {
                    runs = Runs::Often;
                }
            }
            known.push((function, runs));
        }
        known.extend(in_circles(&known, &calls).into_iter().map(|function| (function, Runs::Often)));
        // What runs most comes first.
        known.sort_by_key(|(_, runs)| Reverse(*runs));
        let mut called = Called::default();
        known.into_iter().for_each(|(function, runs)| called.spread(function, runs, &calls));
        called
    }

    /// How often a function runs.
    pub fn runs(&self, function: FunctionValue<'ctx>) -> Runs {
        self.0.get(&function).copied().unwrap_or(Runs::Unknown)
    }

    /// A function runs so often, and with it what it calls, if nothing is known of them yet.
    fn spread(&mut self, function: FunctionValue<'ctx>, runs: Runs, calls: &Calls<'ctx>) {
        let mut rest = vec![function];
        while let Some(function) = rest.pop() {
            if let Entry::Vacant(entry) = self.0.entry(function) {
                entry.insert(runs);
                rest.extend(calls.get(&function).into_iter().flatten());
            }
        }
    }
}

/// Functions that call each other in circles, and those that they call: all that are left if again and again those go
/// that nobody calls.
fn in_circles<'ctx>(known: &[(FunctionValue<'ctx>, Runs)], calls: &Calls<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let called_by = |function: FunctionValue<'ctx>| calls.get(&function).into_iter().flatten();
    let mut left: HashMap<_, _> = known.iter().map(|(function, _)| (*function, 0usize)).collect();
    for callee in known.iter().flat_map(|(function, _)| called_by(*function)) {
        *left.entry(*callee).or_default() += 1;
    }
    let mut nobody_calls: Vec<_> = left.iter().filter(|(_, callers)| **callers == 0).map(|(f, _)| *f).collect();
    while let Some(function) = nobody_calls.pop() {
        left.remove(&function);
        for callee in called_by(function) {
            if let Some(callers) = left.get_mut(callee) {
                *callers -= 1;
                if *callers == 0 {
                    nobody_calls.push(*callee);
                }
            }
        }
    }
    left.into_keys().collect()
}

/// Whether all calls of a function are in its module.
fn is_seen_whole(function: FunctionValue<'_>) -> bool {
    matches!(function.get_linkage(), Linkage::Internal | Linkage::Private) || function.get_name().to_bytes() == b"main"
}

/// Who calls a function, and in which block: of a use that is a call. `None` for a block of which it does not matter
/// whether it is in a loop: threads that run the function begin there.
fn call_of<'ctx>(
    user: LLVMValueRef,
    function: FunctionValue<'ctx>,
) -> Option<(FunctionValue<'ctx>, Option<BasicBlock<'ctx>>)> {
    let call = llvm::as_instruction(user).filter(|inst| llvm::is_call(*inst))?;
    let block = call.get_parent()?;
    let caller = block.get_parent()?;
    let callee = llvm::callee(call)?;
    if library::creates_threads(callee.get_name().to_str().unwrap_or_default()) {
        return Some((caller, None));
    }
    // Nobody knows when and how often a task runs.
    let is_team = |(_, kind)| matches!(kind, RegionKind::OmpParallel | RegionKind::OmpTarget);
    let is_call = callee == function || outlined::started_by(call).is_some_and(is_team);
    is_call.then_some((caller, Some(block)))
}
