//! What one execution of a block executes, and where in the source that is.

use super::calls::synchronises;
use super::graph::Graph;
use super::spins::Spins;
use crate::llvm::debug::Frame;
use crate::llvm::{self, debug};
use crate::regions::functions::Functions;
use crate::regions::nesting::Nesting;
use crate::tables::{RegionId, Tables};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{InstructionOpcode as Op, InstructionValue};
use threadtalk_abi::control::BlockEntry;

/// Places of the categories in [`BlockEntry::opcodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Category {
    Memory,
    Address,
    Integer,
    FloatingPoint,
    Comparison,
    Conditional,
    Unconditional,
    Synchronisation,
}

/// The blocks for the tables.
pub fn blocks<'ctx>(
    (graph, spins): (&Graph<'ctx>, &Spins<'ctx>),
    nesting: &mut Nesting<'ctx>,
    functions: &mut Functions,
    tables: &mut Tables,
) -> Vec<BlockEntry> {
    let mut entries: Vec<BlockEntry> =
        graph.blocks.iter().map(|&block| entry(block, nesting, (functions, tables))).collect();
    for (entry, _) in entries.iter_mut().zip(&graph.blocks).filter(|(_, block)| spins.contain(**block)) {
        // Who waits does no work.
        (entry.opcodes, entry.reads, entry.writes) = Default::default();
    }
    if graph.has_dispatch {
        let region = entries.first().map_or(0, |e| e.region);
        entries.push(BlockEntry { region, ..BlockEntry::default() });
    }
    entries
}

fn entry<'ctx>(
    block: BasicBlock<'ctx>,
    nesting: &mut Nesting<'ctx>,
    (functions, tables): (&mut Functions, &mut Tables),
) -> BlockEntry {
    let mut entry = BlockEntry::default();
    // Frames and lines, those of one frame in a row as one.
    let mut lines: Vec<(Frame, u32, u32)> = Vec::new();
    // What was inlined at the beginning of a block is not what most of it is; the block is where its end is.
    let mut own = None;
    let mut around = (nesting.loops.innermost(block), nesting.constructs.at_entry(block));
    for inst in block.get_instructions() {
        let located = debug::of(inst).map(|l| nesting.meant(l, around, functions)).filter(|l| l.line > 0);
        around.1 = nesting.constructs.after(inst, around.1);
        match (located, lines.last_mut()) {
            (Some(at), Some((frame, first, last))) if *frame == at.frame => {
                (*first, *last) = (at.line.min(*first), at.line.max(*last));
            }
            (Some(at), _) => lines.push((at.frame, at.line, at.line)),
            (None, _) => {}
        }
        if llvm::is_control(inst) {
            continue;
        }
        if let Some(category) = category(inst) {
            entry.opcodes[category as usize] += 1;
            own = located.or(own);
        }
        let (reads, writes) = memory(inst);
        entry.reads += u16::from(reads);
        entry.writes += u16::from(writes);
    }
    RegionId(entry.region) = nesting.block_region(own, around, (functions, tables));
    if let Some(own) = own {
        let lines = || lines.iter().filter(|(frame, ..)| *frame == own.frame);
        entry.file = tables.string(functions.file(own.scope));
        entry.line = lines().map(|(_, first, _)| *first).min().unwrap_or(0);
        entry.end_line = lines().map(|(.., last)| *last).max().unwrap_or(0);
    }
    entry
}

/// Instructions of a block that are executed.
pub fn instructions(entry: &BlockEntry) -> u32 {
    entry.opcodes.iter().map(|&n| u32::from(n)).sum()
}

/// The category of an instruction that was not made for counters; `None` if nothing is executed for it.
fn category(inst: InstructionValue<'_>) -> Option<Category> {
    Some(match inst.get_opcode() {
        Op::Load | Op::Store if llvm::is_atomic(inst) => Category::Synchronisation,
        Op::Fence | Op::AtomicRMW | Op::AtomicCmpXchg => Category::Synchronisation,
        Op::Load | Op::Store | Op::VAArg => Category::Memory,
        Op::GetElementPtr | Op::Alloca | Op::PtrToInt | Op::IntToPtr | Op::AddrSpaceCast => Category::Address,
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FNeg => Category::FloatingPoint,
        Op::FPTrunc | Op::FPExt | Op::FPToSI | Op::FPToUI | Op::SIToFP | Op::UIToFP => Category::FloatingPoint,
        Op::ICmp | Op::FCmp => Category::Comparison,
        Op::Switch | Op::IndirectBr | Op::CallBr => Category::Conditional,
        Op::Br if inst.get_num_operands() > 1 => Category::Conditional,
        Op::Br | Op::Return | Op::Resume => Category::Unconditional,
        Op::Call | Op::Invoke => return call(inst),
        Op::Select | Op::ExtractElement | Op::InsertElement | Op::ShuffleVector => {
            if llvm::is_floating_point(inst) {
                Category::FloatingPoint
            } else {
                Category::Integer
            }
        }
        Op::Phi | Op::Unreachable | Op::LandingPad | Op::ExtractValue | Op::InsertValue | Op::Freeze | Op::BitCast => {
            return None;
        }
        Op::CatchPad | Op::CatchRet | Op::CatchSwitch | Op::CleanupPad | Op::CleanupRet => Category::Unconditional,
        _ => Category::Integer,
    })
}

/// Intrinsics become instructions, or nothing.
fn call(inst: InstructionValue<'_>) -> Option<Category> {
    let callee = llvm::callee(inst);
    let name = callee.as_ref().map_or("", |c| c.get_name().to_str().unwrap_or_default());
    let Some(intrinsic) = name.strip_prefix("llvm.") else {
        return Some(if synchronises(name) { Category::Synchronisation } else { Category::Unconditional });
    };
    const NOTHING: [&str; 8] =
        ["dbg.", "lifetime.", "assume", "experimental.noalias", "annotation", "var.annotation", "invariant.", "expect"];
    if NOTHING.iter().any(|n| intrinsic.starts_with(n)) {
        return None;
    }
    let moves = ["mem", "masked."].iter().any(|m| intrinsic.starts_with(m));
    Some(match moves {
        true => Category::Memory,
        false if llvm::is_floating_point(inst) => Category::FloatingPoint,
        false => Category::Integer,
    })
}

/// Whether an instruction that was not made for counters reads memory, and whether it writes.
fn memory(inst: InstructionValue<'_>) -> (bool, bool) {
    match inst.get_opcode() {
        Op::Load => (true, false),
        Op::Store => (false, true),
        Op::AtomicRMW | Op::AtomicCmpXchg => (true, true),
        Op::Call => {
            let callee = llvm::callee(inst);
            let callee = callee.as_ref().map_or("", |c| c.get_name().to_str().unwrap_or_default());
            let copies = callee.starts_with("llvm.memcpy") || callee.starts_with("llvm.memmove");
            let reads = callee.starts_with("llvm.masked.load") || callee.starts_with("llvm.masked.gather");
            let writes = ["llvm.memset", "llvm.masked.store", "llvm.masked.scatter"];
            (copies || reads, copies || writes.iter().any(|w| callee.starts_with(w)))
        }
        _ => (false, false),
    }
}
