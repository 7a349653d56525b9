//! The control flow graph of a function.

use super::spanning_tree::TreeEdge;
use crate::llvm::analysis::Analysis;
use crate::llvm::debug;
use crate::llvm::ffi::{self, RAW_ABNORMAL, RAW_INDIRECT, RawEdge};
use crate::llvm::hash::Map;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::LLVMGetLastInstruction;
use inkwell::llvm_sys::prelude::LLVMBasicBlockRef;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use std::collections::HashSet;
use std::ffi::c_void;
use threadtalk_abi::control::{EdgeEntry, OUTSIDE, edge_flags};

/// Where code runs as often as an edge is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way<'ctx> {
    /// The function is entered.
    Entry,
    /// From a block to another, or out of the function.
    Branch(BasicBlock<'ctx>, Option<BasicBlock<'ctx>>),
    /// From a block whose target is computed to the block that stands for all such branches.
    Leaving(BasicBlock<'ctx>),
    /// From there to a block.
    Reaching(BasicBlock<'ctx>),
    /// Nowhere.
    Abnormal,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge<'ctx> {
    /// Block or [`OUTSIDE`].
    pub from: u32,
    /// Block or [`OUTSIDE`].
    pub to: u32,
    /// What a counter costs: the expected number of times for each call of the function, times the price of its place.
    pub weight: f64,
    /// Whether it can have a counter.
    pub countable: bool,
    /// [`edge_flags`].
    pub flags: u32,
    /// Where the counter would go.
    pub way: Way<'ctx>,
    /// Number of its counter in the module.
    pub counter: Option<u32>,
}

/// Blocks and edges.
pub struct Graph<'ctx> {
    /// The function's blocks in their order. Where branches with computed targets (`goto *`) have several targets in
    /// common, their single edges cannot be counted: one block of no instructions stands behind them all. It comes
    /// last and is not listed here.
    pub blocks: Vec<BasicBlock<'ctx>>,
    /// How often each is expected to run in a call of the function.
    pub frequencies: Vec<f64>,
    /// Whether there is such a block.
    pub has_dispatch: bool,
    /// Edges.
    pub edges: Vec<Edge<'ctx>>,
    /// Numbers of the blocks.
    numbers: Map<LLVMBasicBlockRef, u32>,
}

/// Splits blocks so that each runs as a whole or not at all.
pub fn prepare(function: FunctionValue<'_>) {
    // SAFETY: a live function with a body.
    unsafe { ffi::threadtalk_shim_control_prepare(function.as_value_ref()) };
}

#[derive(Default)]
struct Raw {
    blocks: Vec<(LLVMBasicBlockRef, f64)>,
    edges: Vec<RawEdge>,
}

extern "C" fn on_block(data: *mut c_void, block: LLVMBasicBlockRef, frequency: f64) {
    // SAFETY: `of` passes its own Raw.
    unsafe { &mut *data.cast::<Raw>() }.blocks.push((block, frequency));
}

extern "C" fn on_edge(data: *mut c_void, edge: *const RawEdge) {
    // SAFETY: `of` passes its own Raw, the shim an edge that lives during the call.
    unsafe { (*data.cast::<Raw>()).edges.push(edge.read()) };
}

impl<'ctx> Graph<'ctx> {
    /// The graph of a function that was analysed.
    pub fn of(analysis: &mut Analysis) -> Self {
        let mut raw = Raw::default();
        let data: *mut Raw = &mut raw;
        // SAFETY: the analysis is of a live function; the visitors get the data that they expect.
        unsafe { ffi::threadtalk_shim_control_graph(analysis.raw(), data.cast(), on_block, on_edge) };
        let numbers: Map<_, _> = raw.blocks.iter().map(|b| b.0).zip(0..).collect();
        // SAFETY: live blocks of the function, or null.
        let block = |raw: LLVMBasicBlockRef| unsafe { BasicBlock::new(raw) };
        let number = |raw: LLVMBasicBlockRef| numbers.get(&raw).copied().unwrap_or(OUTSIDE);
        let mut edges = Vec::new();
        for e in raw.edges.iter().filter(|e| e.kind != RAW_INDIRECT) {
            let way = match (block(e.from), block(e.to)) {
                _ if e.kind == RAW_ABNORMAL => Way::Abnormal,
                (None, _) => Way::Entry,
                (Some(from), to) => Way::Branch(from, to),
            };
            let abnormal = if e.kind == RAW_ABNORMAL { edge_flags::ABNORMAL } else { 0 };
            let flags = abnormal | if e.back { edge_flags::BACK } else { 0 };
            let (from, to, countable) = (number(e.from), number(e.to), e.countable);
            edges.push(Edge { from, to, weight: e.weight, countable, flags, way, counter: None });
        }
        let has_dispatch = raw.edges.iter().any(|e| e.kind == RAW_INDIRECT);
        let mut known = HashSet::new();
        for e in raw.edges.iter().filter(|e| e.kind == RAW_INDIRECT) {
            let (Some(from), Some(to)) = (block(e.from), block(e.to)) else { continue };
            let dispatch = raw.blocks.len() as u32;
            let sum = |end: fn(&RawEdge) -> LLVMBasicBlockRef, of: LLVMBasicBlockRef| {
                raw.edges.iter().filter(|o| o.kind == RAW_INDIRECT && end(o) == of).map(|o| o.weight).sum()
            };
            let edge = |from, to, weight, countable, flags, way| Edge {
                from,
                to,
                weight,
                countable,
                flags,
                way,
                counter: None,
            };
            if known.insert((e.from, true)) {
                edges.push(edge(number(e.from), dispatch, sum(|o| o.from, e.from), true, 0, Way::Leaving(from)));
            }
            if known.insert((e.to, false)) {
                let flags = if e.back { edge_flags::BACK } else { 0 };
                let weight = sum(|o| o.to, e.to);
                edges.push(edge(dispatch, number(e.to), weight, e.countable, flags, Way::Reaching(to)));
            }
        }
        let (blocks, frequencies) = raw.blocks.iter().filter_map(|b| Some((block(b.0)?, b.1))).unzip();
        Graph { blocks, frequencies, has_dispatch, edges, numbers }
    }

    /// Number of nodes: blocks, and what is outside the function.
    pub fn nodes(&self) -> usize {
        self.blocks.len() + usize::from(self.has_dispatch) + 1
    }

    /// How often a block is expected to run in a call of the function.
    pub fn frequency(&self, block: BasicBlock<'ctx>) -> Option<f64> {
        let number = *self.numbers.get(&block.as_mut_ptr())?;
        self.frequencies.get(number as usize).copied()
    }

    /// The edges as the spanning tree sees them.
    pub fn tree_edges(&self) -> Vec<TreeEdge> {
        let outside = self.nodes() - 1;
        let node = |number: u32| if number == OUTSIDE { outside } else { number as usize };
        let edge =
            |e: &Edge<'ctx>| TreeEdge { from: node(e.from), to: node(e.to), weight: e.weight, countable: e.countable };
        self.edges.iter().map(edge).collect()
    }

    /// The edges for the tables.
    pub fn entries(&self, function: FunctionValue<'ctx>) -> Vec<EdgeEntry> {
        let first = debug::line_of(function);
        let line = |e: &Edge<'ctx>| match self.blocks.get(e.from as usize) {
            Some(from) => last(*from).and_then(debug::of).map_or(0, |at| at.line),
            None if e.from == OUTSIDE => first,
            None => 0,
        };
        let entry = |e: &Edge<'ctx>| EdgeEntry {
            from: e.from,
            to: e.to,
            counter: e.counter.map_or(0, |c| c + 1),
            line: line(e),
            flags: e.flags,
        };
        self.edges.iter().map(entry).collect()
    }
}

/// A block's terminator.
fn last<'ctx>(block: BasicBlock<'ctx>) -> Option<InstructionValue<'ctx>> {
    // SAFETY: a live block; the result is one of its instructions.
    unsafe {
        let last = LLVMGetLastInstruction(block.as_mut_ptr());
        (!last.is_null()).then(|| InstructionValue::new(last))
    }
}

/// Code before this instruction runs as often as the edge is taken. The edge is split if it must be; `back` says
/// whether it goes back to the header of a loop.
pub fn place<'ctx>(
    from: Option<BasicBlock<'ctx>>,
    to: Option<BasicBlock<'ctx>>,
    back: bool,
) -> Option<InstructionValue<'ctx>> {
    let raw = |block: Option<BasicBlock<'ctx>>| block.map_or(std::ptr::null_mut(), |b| b.as_mut_ptr());
    // SAFETY: live blocks of one function between which there is an edge, or one block.
    unsafe {
        let at = ffi::threadtalk_shim_control_place(raw(from), raw(to), back);
        (!at.is_null()).then(|| InstructionValue::new(at))
    }
}

/// The place at the end of a block.
pub fn end<'ctx>(block: BasicBlock<'ctx>) -> Option<InstructionValue<'ctx>> {
    last(block)
}
