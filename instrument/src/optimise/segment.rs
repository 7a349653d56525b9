//! Stretches of code in which a thread does not synchronise, and all of which it runs if it runs the first of it.

use super::joins::Joins;
use crate::access::{Access, Action, Direction, Event};
use crate::library;
use crate::llvm;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{InstructionOpcode, InstructionValue};
use std::collections::HashMap;

/// The number of the segment of each instruction that has an event. Events in one segment follow each other without
/// synchronisation, and a thread that comes to one of them comes to all of them, as often and in their order.
pub struct Segments<'ctx> {
    of: HashMap<InstructionValue<'ctx>, usize>,
}

impl<'ctx> Segments<'ctx> {
    /// Numbers the segments of the blocks that hold events.
    pub fn find(events: &[Event<'ctx>]) -> Self {
        let mut blocks: Vec<BasicBlock<'ctx>> = events.iter().filter_map(|event| event.inst.get_parent()).collect();
        blocks.dedup();
        let joins = Joins::find(&blocks);
        let mut of = HashMap::new();
        // The segment at each block's end.
        let mut ends = HashMap::new();
        let mut last = 0;
        for block in blocks {
            let mut fresh = || {
                last += 1;
                last
            };
            // Only blocks that come before it in the plan have ends by now.
            let before = joins.before(block).and_then(|before| ends.get(&before).copied());
            let mut number = before.unwrap_or_else(&mut fresh);
            for inst in block.get_instructions() {
                // What synchronises is in a segment of its own: code before it and after it is apart.
                if synchronises(inst) {
                    of.insert(inst, fresh());
                    number = fresh();
                } else {
                    of.insert(inst, number);
                }
            }
            ends.insert(block, number);
        }
        Segments { of }
    }

    /// The segment of an event's instruction.
    pub fn of(&self, event: &Event<'ctx>) -> Option<usize> {
        self.of.get(&event.inst).copied()
    }
}
/// Whether another thread's accesses could be ordered between what is before and after this instruction.
pub fn synchronises(inst: InstructionValue<'_>) -> bool {
    if llvm::is_control(inst) {
        return false;
    }
    match inst.get_opcode() {
        InstructionOpcode::Fence | InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg => true,
        InstructionOpcode::Load | InstructionOpcode::Store => llvm::is_atomic(inst),
        _ if llvm::is_call(inst) => library::is_opaque(llvm::callee(inst)),
        _ => false,
    }
}

/// The access of an event that is one plain load or store.
pub fn plain<'e, 'ctx>(event: &'e Event<'ctx>) -> Option<(Direction, &'e Access<'ctx>)> {
    match &event.action {
        Action::Plain(direction, access) => Some((*direction, access)),
        _ => None,
    }
}
