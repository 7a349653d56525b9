//! Loops in which a thread waits for what another one will write: `while (!flag.load())`, a lock that is tried again
//! and again, also with `pause`, `sched_yield` or OpenMP's `flush` in between.
//!
//! Such a loop does nothing but read places that stay the same, and ends when what it reads does. What it executes is
//! no work of the thread's. It tells the runtime when it has turned for some microseconds, and when it has been left
//! after that: a flag that is set already, or a lock that is free, costs an addition.

use super::bumps::{self, Bumps, Place};
use super::graph::Graph;
use crate::emit::{Emitted, Likely, ModuleEmitter};
use crate::error::PassError;
use crate::llvm::{self, debug, loops};
use crate::regions::functions::Functions;
use crate::regions::nesting::Nesting;
use crate::tables::{SiteAccess, SiteId, Tables};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode as Op, InstructionValue, PointerValue};
use std::collections::HashSet;
use threadtalk_abi::hooks::{self, Hook};
use threadtalk_abi::module::site_flags::SYNC;

/// Turns until it is a wait: some microseconds with `pause`, one without. Waits shorter than five microseconds are
/// work to the runtime's call trees, too.
const SPINS_AFTER: u64 = 128;
/// The same of a loop that yields: who does so has waited before, and each time may be that of another thread.
const YIELDS_AFTER: u64 = 4;
/// Blocks and instructions of the largest such loop. A lock with back-off, tried again by exchanges, has 9 and 41.
const MOST_BLOCKS: usize = 16;
const MOST_INSTRUCTIONS: usize = 64;

/// Calls that a thread makes because it has nothing else to do.
const YIELDS: [&str; 5] = ["sched_yield", "pthread_yield", "thrd_yield", "usleep", "nanosleep"];
const FLUSH: &str = "__kmpc_flush";
const PAUSE: &str = "llvm.x86.sse2.pause";
/// Calls of which nothing is executed.
const NOTHING: [&str; 3] = ["llvm.dbg.", "llvm.lifetime.", "llvm.assume"];
/// Integers: every tenth turn is `tries * 0xcccd`, turned.
const ROTATES: [&str; 2] = ["llvm.fshl.", "llvm.fshr."];

/// A loop in which a thread waits.
pub struct Spin<'ctx> {
    header: BasicBlock<'ctx>,
    /// The end of the block before it.
    before: InstructionValue<'ctx>,
    /// The ends of the blocks that begin the next turn, of it or of a loop inside.
    latches: Vec<InstructionValue<'ctx>>,
    /// Turns from which on it is a wait.
    after: u64,
    site: SiteId,
}

/// The loops of a function in which a thread waits.
#[derive(Default)]
pub struct Spins<'ctx> {
    all: Vec<Spin<'ctx>>,
    blocks: HashSet<BasicBlock<'ctx>>,
}

impl<'ctx> Spins<'ctx> {
    /// Looks at the loops of a function, the outermost first.
    pub fn find(
        graph: &Graph<'ctx>,
        nesting: &mut Nesting<'ctx>,
        (functions, tables): (&mut Functions, &mut Tables),
    ) -> Self {
        let mut spins = Spins::default();
        if nesting.loops.all.is_empty() {
            return spins;
        }
        let mut bodies: Vec<Vec<BasicBlock<'ctx>>> = nesting.loops.all.iter().map(|_| Vec::new()).collect();
        for &block in &graph.blocks {
            for number in nesting.loops.chain(nesting.loops.innermost(block)) {
                if bodies[number].len() <= MOST_BLOCKS {
                    bodies[number].push(block);
                }
            }
        }
        for (number, body) in bodies.iter().enumerate() {
            let Some(before) = nesting.loops.all[number].preheader.and_then(|b| b.get_terminator()) else { continue };
            if body.len() > MOST_BLOCKS || body.iter().any(|block| spins.blocks.contains(block)) {
                continue;
            }
            let body = Body::new(body);
            let Some((awaited, at)) = body.awaited().and_then(|inst| Some((inst, inst.get_parent()?))) else {
                continue;
            };
            let after = if body.yields() { YIELDS_AFTER } else { SPINS_AFTER };
            let body = body.blocks;
            let latches = latches(nesting, number, body);
            let site = site((awaited, at), nesting, (&mut *functions, &mut *tables));
            spins.blocks.extend(body);
            let header = nesting.loops.all[number].header;
            spins.all.push(Spin { header, before, latches, after, site });
        }
        spins
    }

    /// Whether a thread that executes the block waits.
    pub fn contain(&self, block: BasicBlock<'ctx>) -> bool {
        self.blocks.contains(&block)
    }

    /// Tells the runtime. Comes when the function's loops are not looked at any more. Returns places in the function's
    /// frame, which become registers when all is done.
    pub fn emit(&self, bumps: &Bumps<'_, '_, 'ctx>, function: FunctionValue<'ctx>) -> Emitted<Vec<PointerValue<'ctx>>> {
        let m = bumps.emitter;
        let headers: Vec<_> = self.all.iter().map(|spin| spin.header).collect();
        let mut slots = Vec::new();
        for (spin, exits) in self.all.iter().zip(loops::exits(function, &headers)) {
            let Some(exits) = exits else { continue };
            let slot = bumps::slot(m, function, (spin.before, "threadtalk.spins"))?;
            for &latch in &spin.latches {
                bumps.add_one_kept(Place::Before(latch), slot)?;
                spin.tell_if(m, latch, (slot, IntPredicate::EQ), hooks::SPINS)?;
            }
            for exit in exits {
                spin.tell_if(m, exit, (slot, IntPredicate::UGE), hooks::SPUN)?;
            }
            slots.push(slot);
        }
        Ok(slots)
    }
}

impl<'ctx> Spin<'ctx> {
    /// Calls a hook before an instruction if the number of turns is `after`, or is that or more.
    fn tell_if(
        &self,
        m: &ModuleEmitter<'_, 'ctx>,
        at: InstructionValue<'ctx>,
        (slot, predicate): (PointerValue<'ctx>, IntPredicate),
        hook: Hook,
    ) -> Emitted<()> {
        let invalid = || PassError::Invalid("block cannot be split".into());
        let head = at.get_parent().ok_or_else(invalid)?;
        let location = debug::of(at).map(|l| l.raw);
        let rest = llvm::split_before(at).ok_or_else(invalid)?;
        let call = m.block_after(head);
        m.reopen(head)?;
        let turns = bumps::kept(m, slot)?;
        m.branch(m.compare(predicate, turns, m.c64(self.after))?, call, rest, Likely::Rarely)?;
        m.builder.position_at_end(call);
        llvm::set_location(&m.builder, location);
        let call = match hook {
            hooks::SPINS => m.call_directly(hook, &[m.global_site(m.site(self.site))?.into()])?,
            _ => m.call_directly(hook, &[])?,
        };
        llvm::as_instruction(call.as_value_ref()).into_iter().for_each(|call| m.mark_control(call));
        m.builder.build_unconditional_branch(rest)?;
        llvm::set_location(&m.builder, None);
        Ok(())
    }
}

/// The ends of the blocks that begin the next turn of a loop or of one inside: who has tried in vain to take a lock
/// looks at it for long before the next attempt.
fn latches<'ctx>(nesting: &Nesting<'ctx>, number: usize, body: &[BasicBlock<'ctx>]) -> Vec<InstructionValue<'ctx>> {
    let loops = &nesting.loops;
    let goes_back = |block: &&BasicBlock<'ctx>| {
        let next = llvm::successors(**block);
        let inside = loops.chain(loops.innermost(**block)).take_while(|&l| l != number);
        inside.chain([number]).any(|l| next.contains(&loops.all[l].header))
    };
    body.iter().filter(goes_back).filter_map(|block| block.get_terminator()).collect()
}

fn site<'ctx>(
    (awaited, block): (InstructionValue<'ctx>, BasicBlock<'ctx>),
    nesting: &mut Nesting<'ctx>,
    tables: (&mut Functions, &mut Tables),
) -> SiteId {
    let before = block.get_instructions().take_while(|inst| *inst != awaited);
    let stack = before.fold(nesting.constructs.at_entry(block), |stack, inst| nesting.constructs.after(inst, stack));
    nesting.site(awaited, block, stack, (SYNC, &SiteAccess::default()), tables)
}

/// What a loop executes.
struct Body<'a, 'ctx> {
    blocks: &'a [BasicBlock<'ctx>],
    /// Something in it makes the compiler read plain memory again in each turn.
    rereads: bool,
}

impl<'a, 'ctx> Body<'a, 'ctx> {
    fn new(blocks: &'a [BasicBlock<'ctx>]) -> Self {
        let rereads = |inst: InstructionValue<'ctx>| match inst.get_opcode() {
            Op::Call => !is_nothing(inst),
            opcode => opcode == Op::Fence,
        };
        let rereads = blocks.iter().any(|block| block.get_instructions().any(rereads));
        Body { blocks, rereads }
    }

    fn instructions(&self) -> impl Iterator<Item = InstructionValue<'ctx>> {
        self.blocks.iter().flat_map(|block| block.get_instructions())
    }

    fn yields(&self) -> bool {
        self.instructions().any(|inst| inst.get_opcode() == Op::Call && YIELDS.contains(&&*called(inst)))
    }

    /// The instruction that reads what the loop waits for; none if it does anything else.
    fn awaited(&self) -> Option<InstructionValue<'ctx>> {
        let count = self.instructions().take(MOST_INSTRUCTIONS + 1).count();
        if count > MOST_INSTRUCTIONS || !self.instructions().all(|inst| self.only_waits(inst)) {
            return None;
        }
        let leaves = |block: &&BasicBlock<'ctx>| llvm::successors(**block).iter().any(|b| !self.blocks.contains(b));
        let ends = self.blocks.iter().filter(leaves).filter_map(|block| block.get_terminator());
        ends.filter_map(|end| self.reads(end, &mut HashSet::new())).next()
    }

    fn is_inside(&self, inst: InstructionValue<'ctx>) -> bool {
        inst.get_parent().is_some_and(|block| self.blocks.contains(&block))
    }

    /// Whether a value is the same in each turn. Nothing in the loop writes what it reads at such a place, so a pointer
    /// that is read again each time, as OpenMP's shared ones are behind an acquire, leads to one place, too.
    fn stays(&self, value: LLVMValueRef) -> bool {
        let Some(inst) = llvm::as_instruction(value).filter(|inst| self.is_inside(*inst)) else { return true };
        let follows = match inst.get_opcode() {
            Op::GetElementPtr | Op::BitCast | Op::AddrSpaceCast | Op::SExt | Op::ZExt => true,
            Op::Add | Op::Sub | Op::Mul | Op::Shl => true,
            Op::Load => !llvm::is_atomic(inst),
            _ => false,
        };
        follows && (0..inst.get_num_operands()).all(|i| self.stays(llvm::operand(value, i)))
    }

    fn only_waits(&self, inst: InstructionValue<'ctx>) -> bool {
        let operand_stays = |number| self.stays(llvm::operand(inst.as_value_ref(), number));
        match inst.get_opcode() {
            Op::Load => operand_stays(0),
            // Place and what is written: a lock that is taken, no counter that several threads raise.
            Op::AtomicRMW => llvm::is_idempotent(inst) && operand_stays(0) && operand_stays(1),
            Op::AtomicCmpXchg => operand_stays(0) && operand_stays(1) && operand_stays(2),
            Op::Call => is_nothing(inst) || is_idle(inst),
            Op::Phi | Op::Br | Op::Switch | Op::Fence | Op::ICmp | Op::Select | Op::Freeze => true,
            Op::GetElementPtr | Op::BitCast | Op::Trunc | Op::ZExt | Op::SExt | Op::ExtractValue => true,
            Op::Add | Op::Sub | Op::Mul | Op::URem | Op::And | Op::Or | Op::Xor | Op::Shl | Op::LShr | Op::AShr => true,
            _ => false,
        }
    }

    /// Whether another thread decides what this reads.
    fn is_shared(&self, inst: InstructionValue<'ctx>) -> bool {
        let is_local = || {
            let place = llvm::as_instruction(llvm::operand(inst.as_value_ref(), 0));
            place.is_some_and(|place| place.get_opcode() == Op::Alloca)
        };
        match inst.get_opcode() {
            Op::AtomicRMW | Op::AtomicCmpXchg => true,
            Op::Load => llvm::is_atomic(inst) || llvm::is_volatile(inst) || self.rereads && !is_local(),
            _ => false,
        }
    }

    /// What another thread decides of a value.
    fn reads(&self, inst: InstructionValue<'ctx>, seen: &mut HashSet<LLVMValueRef>) -> Option<InstructionValue<'ctx>> {
        if !self.is_inside(inst) || !seen.insert(inst.as_value_ref()) {
            return None;
        }
        if self.is_shared(inst) {
            return Some(inst);
        }
        let of = |number| llvm::as_instruction(llvm::operand(inst.as_value_ref(), number));
        (0..inst.get_num_operands()).find_map(|number| self.reads(of(number)?, seen))
    }
}

fn is_idle(call: InstructionValue<'_>) -> bool {
    // `asm volatile("pause")`: without a result.
    if llvm::is_inline_asm(call) {
        return matches!(call.get_type(), AnyTypeEnum::VoidType(_)) && llvm::argument_count(call) == 0;
    }
    let name = called(call);
    let rotates = ROTATES.iter().any(|intrinsic| name.starts_with(intrinsic));
    rotates || name == PAUSE || name == FLUSH || YIELDS.contains(&&*name)
}

fn is_nothing(call: InstructionValue<'_>) -> bool {
    NOTHING.iter().any(|intrinsic| called(call).starts_with(intrinsic))
}

fn called(call: InstructionValue<'_>) -> String {
    if llvm::is_inline_asm(call) {
        return String::new();
    }
    llvm::callee(call).map_or_else(String::new, |callee| callee.get_name().to_string_lossy().into_owned())
}
