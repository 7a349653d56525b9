//! OpenMP constructs inside a function: what lies between the calls that begin and end them.
//!
//! Each block gets the stack of constructs that are open when it is entered. Where paths with different stacks meet,
//! what they have in common stays open: behind a `single`, the thread that executed it has closed it and the others
//! never opened it.

use crate::llvm::debug::{self, Frame};
use crate::llvm::hash::Map;
use crate::llvm::{self};
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use threadtalk_abi::module::RegionKind;

/// A stack of open constructs: index of the innermost one; 0 = none.
pub type Stack = usize;

/// A construct.
pub struct Construct<'ctx> {
    /// Kind.
    pub kind: RegionKind,
    /// Which function of the source it belongs to; `None` without debug information.
    pub frame: Option<Frame>,
    /// Line of the directive.
    pub line: u32,
    /// Line of its end.
    pub end_line: u32,
    /// The call that begins it.
    pub begin: InstructionValue<'ctx>,
    /// What was open around it.
    pub outer: Stack,
}

/// Does a call begin or end a construct?
enum Edge {
    Begin(RegionKind),
    End(RegionKind),
}

/// Worksharing calls are named after loops; the flags of their `ident_t` argument tell sections and distribute apart.
const IDENT_WORK_SECTIONS: u64 = 0x400;
const IDENT_WORK_DISTRIBUTE: u64 = 0x800;

/// Prefixes of runtime functions, first match first.
const BEGINNINGS: &[(&str, RegionKind)] = &[
    ("__kmpc_for_static_init", RegionKind::OmpFor),
    ("__kmpc_dist_for_static_init", RegionKind::OmpFor),
    ("__kmpc_dispatch_init", RegionKind::OmpFor),
    ("__kmpc_dist_dispatch_init", RegionKind::OmpFor),
    ("__kmpc_distribute_static_init", RegionKind::OmpDistribute),
    ("__kmpc_single", RegionKind::OmpSingle),
    ("__kmpc_master", RegionKind::OmpMaster),
    ("__kmpc_masked", RegionKind::OmpMaster),
    ("__kmpc_critical", RegionKind::OmpCritical),
    ("__kmpc_ordered", RegionKind::OmpOrdered),
    ("__kmpc_taskgroup", RegionKind::OmpTaskgroup),
];

const ENDS: &[(&str, RegionKind)] = &[
    ("__kmpc_for_static_fini", RegionKind::OmpFor),
    // `dispatch_fini` ends one iteration of an ordered loop, `dispatch_deinit` the loop.
    ("__kmpc_dispatch_deinit", RegionKind::OmpFor),
    ("__kmpc_distribute_static_fini", RegionKind::OmpDistribute),
    ("__kmpc_end_single", RegionKind::OmpSingle),
    ("__kmpc_end_master", RegionKind::OmpMaster),
    ("__kmpc_end_masked", RegionKind::OmpMaster),
    ("__kmpc_end_critical", RegionKind::OmpCritical),
    ("__kmpc_end_ordered", RegionKind::OmpOrdered),
    ("__kmpc_end_taskgroup", RegionKind::OmpTaskgroup),
];

/// Constructs of one function.
#[derive(Default)]
pub struct Constructs<'ctx> {
    /// Number `stack - 1` is the innermost of a stack.
    pub all: Vec<Construct<'ctx>>,
    begins: Map<LLVMValueRef, Stack>,
    at_entry: Map<LLVMBasicBlockRef, Stack>,
    moved_out: bool,
}

impl<'ctx> Constructs<'ctx> {
    /// Finds the constructs of a function.
    pub fn find(function: FunctionValue<'ctx>) -> Self {
        let mut found = Constructs::default();
        let any = function
            .get_basic_block_iter()
            .flat_map(|b| b.get_instructions())
            .any(|i| matches!(edge(i), Some(Edge::Begin(_))));
        if let (true, Some(entry)) = (any, function.get_first_basic_block()) {
            found.propagate(entry);
        }
        found
    }

    /// Constructs open at the beginning of a block.
    pub fn at_entry(&self, block: BasicBlock<'ctx>) -> Stack {
        self.at_entry.get(&block.as_mut_ptr()).copied().unwrap_or(0)
    }

    /// Constructs open after an instruction, given those open before it.
    pub fn after(&self, inst: InstructionValue<'ctx>, before: Stack) -> Stack {
        if self.all.is_empty() {
            return 0;
        }
        match edge(inst) {
            Some(Edge::Begin(_)) => self.begins.get(&inst.as_value_ref()).copied().unwrap_or(before),
            Some(Edge::End(kind)) => self.close(kind, before),
            None => before,
        }
    }

    /// A stack from the innermost construct outwards.
    pub fn chain(&self, stack: Stack) -> impl Iterator<Item = Stack> + '_ {
        std::iter::successors((stack > 0).then_some(stack), |&s| {
            let outer = self.all[s - 1].outer;
            (outer > 0).then_some(outer)
        })
    }

    fn propagate(&mut self, entry: BasicBlock<'ctx>) {
        self.at_entry.insert(entry.as_mut_ptr(), 0);
        let mut work = vec![entry];
        // Stacks at a block's entry only get shorter, so this ends.
        loop {
            let Some(block) = work.pop() else {
                // A construct turned out to lie further out than was thought: what comes after its end must hear of it.
                if !std::mem::take(&mut self.moved_out) {
                    break;
                }
                work = entry.get_parent().map_or_else(Vec::new, |f| f.get_basic_blocks());
                work.retain(|b| self.at_entry.contains_key(&b.as_mut_ptr()));
                continue;
            };
            let mut stack = self.at_entry(block);
            for inst in block.get_instructions() {
                stack = match edge(inst) {
                    Some(Edge::Begin(kind)) => self.open(inst, kind, stack),
                    Some(Edge::End(kind)) => self.note_end(inst, kind, stack),
                    None => stack,
                };
            }
            for next in llvm::successors(block) {
                let met = match self.at_entry.get(&next.as_mut_ptr()) {
                    None => stack,
                    Some(&known) => self.common(known, stack),
                };
                if self.at_entry.insert(next.as_mut_ptr(), met) != Some(met) {
                    work.push(next);
                }
            }
        }
    }

    fn open(&mut self, begin: InstructionValue<'ctx>, kind: RegionKind, outer: Stack) -> Stack {
        if let Some(&stack) = self.begins.get(&begin.as_value_ref()) {
            let common = self.common(self.all[stack - 1].outer, outer);
            self.moved_out |= common != self.all[stack - 1].outer;
            self.all[stack - 1].outer = common;
            return stack;
        }
        let at = debug::of(begin);
        let line = at.map_or(0, |l| l.line);
        self.all.push(Construct { kind, frame: at.map(|l| l.frame), line, end_line: line, begin, outer });
        self.begins.insert(begin.as_value_ref(), self.all.len());
        self.all.len()
    }

    fn note_end(&mut self, end: InstructionValue<'ctx>, kind: RegionKind, stack: Stack) -> Stack {
        let closed = self.chain(stack).find(|&s| same_end(self.all[s - 1].kind, kind));
        if let Some(closed) = closed {
            let line = debug::of(end).map_or(0, |l| l.line);
            self.all[closed - 1].end_line = self.all[closed - 1].end_line.max(line);
        }
        self.close(kind, stack)
    }

    fn close(&self, kind: RegionKind, stack: Stack) -> Stack {
        let closed = self.chain(stack).find(|&s| same_end(self.all[s - 1].kind, kind));
        closed.map_or(stack, |s| self.all[s - 1].outer)
    }

    fn common(&self, a: Stack, b: Stack) -> Stack {
        self.chain(a).find(|&x| self.chain(b).any(|y| x == y)).unwrap_or(0)
    }
}

/// `__kmpc_for_static_fini` ends loops, sections and distribute alike.
fn same_end(open: RegionKind, end: RegionKind) -> bool {
    use RegionKind::{OmpDistribute, OmpFor, OmpSections};
    open == end || (end == OmpFor && matches!(open, OmpSections | OmpDistribute))
}

fn edge(inst: InstructionValue<'_>) -> Option<Edge> {
    if !llvm::is_call(inst) {
        return None;
    }
    let callee = llvm::callee(inst)?;
    let name = callee.get_name().to_str().ok()?;
    if !name.starts_with("__kmpc_") {
        return None;
    }
    let starts = |table: &[(&str, RegionKind)]| table.iter().find(|(p, _)| name.starts_with(p)).map(|&(_, k)| k);
    if let Some(kind) = starts(BEGINNINGS) {
        return Some(Edge::Begin(if kind == RegionKind::OmpFor { worksharing(inst) } else { kind }));
    }
    starts(ENDS).map(Edge::End)
}

/// What a worksharing call shares out.
fn worksharing(call: InstructionValue<'_>) -> RegionKind {
    let flags = ident_flags(llvm::operand(call.as_value_ref(), 0)).unwrap_or(0);
    if flags & IDENT_WORK_SECTIONS != 0 {
        RegionKind::OmpSections
    } else if flags & IDENT_WORK_DISTRIBUTE != 0 {
        RegionKind::OmpDistribute
    } else {
        RegionKind::OmpFor
    }
}

/// Field `flags` of a constant `ident_t`.
fn ident_flags(ident: LLVMValueRef) -> Option<u64> {
    let global = llvm::as_global(ident)?;
    // SAFETY: a live global variable; its initializer is checked to be a structure with two elements or more.
    unsafe {
        let init = LLVMGetInitializer(global.as_value_ref());
        if init.is_null() || LLVMIsAConstantStruct(init).is_null() || LLVMGetNumOperands(init) < 2 {
            return None;
        }
        llvm::constant(LLVMGetOperand(init, 1))
    }
}
