//! Whose time is taken: functions, outermost loops and OpenMP constructs that run long enough for two calls of the
//! clock.
//!
//! How long something runs is not known here. A function is left out if it is short by LLVM's estimate (blocks
//! weighted by their expected frequency) and this module calls it from a loop or from itself, or if it has neither
//! loops nor calls, wherever it is called from; a loop if it is short.

use super::calls::{self, Call};
use super::contents::instructions;
use super::graph::Graph;
use crate::access::collect::executed;
use crate::emit::{Emitted, ModuleEmitter};
use crate::llvm::loops::exits;
use crate::llvm::{self};
use crate::regions::constructs::Stack;
use crate::regions::nesting::Nesting;
use crate::tables::RegionId;
use inkwell::values::{FunctionValue, InstructionValue};
use std::collections::HashSet;
use std::mem::offset_of;
use threadtalk_abi::control::BlockEntry;
use threadtalk_abi::hooks::{self, Hook};
use threadtalk_abi::module::{ModuleBases, RegionKind};

/// Expected instructions from which on something is long: at 3 a nanosecond some 0.3 microseconds, several times what
/// two readings of the clock take.
const LONG: f64 = 1000.0;

/// A call site runs in a loop if it is expected to run more often than its function is called.
const IN_LOOP: f64 = 1.5;

/// Where the hooks of a function go.
pub struct Timing<'ctx> {
    function: FunctionValue<'ctx>,
    is_long: bool,
    /// Its length is no estimate, and it is short.
    is_surely_short: bool,
    hooks: Vec<(Hook, RegionId, InstructionValue<'ctx>)>,
    leaves: Vec<InstructionValue<'ctx>>,
    region: RegionId,
    busy_callees: Vec<FunctionValue<'ctx>>,
}

/// Looks at a function whose counters have their places. `blocks`: what they execute, as it was before.
pub fn find<'ctx>(
    function: FunctionValue<'ctx>,
    region: RegionId,
    (graph, blocks, calls): (&Graph<'ctx>, &[BlockEntry], &[Call<'ctx>]),
    nesting: &Nesting<'ctx>,
) -> Timing<'ctx> {
    let work: Vec<f64> = graph.frequencies.iter().zip(blocks).map(|(f, b)| f * f64::from(instructions(b))).collect();
    let total: f64 = work.iter().sum();
    let busy = calls::direct(calls)
        .filter(|(block, callee)| *callee == function || graph.frequencies[*block as usize] > IN_LOOP)
        .map(|(_, callee)| callee);
    let is_straight = nesting.loops.all.is_empty() && !calls::any(calls);
    let mut timing = Timing {
        function,
        is_long: total >= LONG,
        is_surely_short: total < LONG && is_straight,
        hooks: Vec::new(),
        leaves: graph.blocks.iter().filter_map(|&b| llvm::before_exit(b)).collect(),
        region,
        busy_callees: busy.collect(),
    };
    if timing.is_long {
        timing.loops((graph, &work), nesting, region);
    }
    timing.constructs(graph, nesting);
    timing
}

impl<'ctx> Timing<'ctx> {
    fn loops(&mut self, (graph, in_block): (&Graph<'ctx>, &[f64]), nesting: &Nesting<'ctx>, own: RegionId) {
        let loops = &nesting.loops;
        let mut work = vec![0.0; loops.all.len()];
        for (&block, in_block) in graph.blocks.iter().zip(in_block) {
            if let Some(outermost) = loops.chain(loops.innermost(block)).last() {
                work[outermost] += in_block;
            }
        }
        let long = |l: &usize| loops.all[*l].parent.is_none() && work[*l] >= LONG;
        let region_of = |number: usize| nesting.loop_region(number).filter(|region| *region != own);
        let timed = (0..loops.all.len()).filter(long).filter_map(|number| Some((number, region_of(number)?)));
        let timed: Vec<_> = timed.collect();
        let headers: Vec<_> = timed.iter().map(|&(number, _)| loops.all[number].header).collect();
        for ((number, region), after) in timed.into_iter().zip(exits(self.function, &headers)) {
            let before = loops.all[number].preheader.and_then(|b| b.get_terminator());
            if let (Some(before), Some(after)) = (before, after) {
                self.hooks.push((hooks::ENTER, region, before));
                self.hooks.extend(after.into_iter().map(|at| (hooks::EXIT, region, at)));
            }
        }
    }

    fn constructs(&mut self, graph: &Graph<'ctx>, nesting: &Nesting<'ctx>) {
        let constructs = &nesting.constructs;
        if constructs.all.is_empty() {
            return;
        }
        let timed = |stack: Stack| {
            use RegionKind::{OmpFor, OmpMaster, OmpSections, OmpSingle, OmpTaskgroup};
            let kind = constructs.all[stack - 1].kind;
            let region = nesting.construct_region(stack)?;
            matches!(kind, OmpFor | OmpSections | OmpSingle | OmpMaster | OmpTaskgroup).then_some((kind, region))
        };
        for &block in &graph.blocks {
            let mut stack = constructs.at_entry(block);
            for inst in block.get_instructions() {
                let after = constructs.after(inst, stack);
                let opened = constructs.chain(after).take_while(|&s| constructs.chain(stack).all(|o| o != s));
                for (kind, region) in opened.filter_map(timed) {
                    self.hooks.extend(executed(inst, kind).map(|at| (hooks::ENTER, region, at)));
                }
                let closed = constructs.chain(stack).take_while(|&s| constructs.chain(after).all(|o| o != s));
                self.hooks.extend(closed.filter_map(timed).map(|(_, region)| (hooks::EXIT, region, inst)));
                stack = after;
            }
        }
    }
}

/// Emits the hooks of all functions. Returns the functions whose time is taken.
pub fn emit<'ctx>(
    emitter: &ModuleEmitter<'_, 'ctx>,
    timings: &[Timing<'ctx>],
    first: impl Fn(FunctionValue<'ctx>) -> Option<InstructionValue<'ctx>>,
) -> Emitted<Vec<FunctionValue<'ctx>>> {
    let busy: HashSet<_> = timings.iter().flat_map(|t| t.busy_callees.iter().copied()).collect();
    let mut timed = Vec::new();
    for timing in timings {
        let call = |hook: Hook, region: RegionId, before: InstructionValue<'ctx>| -> Emitted<()> {
            emitter.builder.position_before(&before);
            llvm::set_location(&emitter.builder, llvm::debug::of(before).map(|l| l.raw));
            let base = emitter.load_base(offset_of!(ModuleBases, region_base))?;
            let number = emitter.builder.build_int_add(base, emitter.c32(region.0), "")?;
            emitter.call_directly(hook, &[number.into()])?;
            llvm::set_location(&emitter.builder, None);
            Ok(())
        };
        if timing.is_surely_short || !timing.is_long && busy.contains(&timing.function) {
            continue;
        }
        // The function's own hooks come first where it is entered and last where it leaves.
        for (hook, region, before) in &timing.hooks {
            call(*hook, *region, *before)?;
        }
        if let Some(first) = first(timing.function) {
            call(hooks::ENTER, timing.region, first)?;
            timing.leaves.iter().try_for_each(|&before| call(hooks::EXIT, timing.region, before))?;
            timed.push(timing.function);
        }
    }
    Ok(timed)
}
