//! Stretches of code in which a thread neither synchronises nor leaves the block.

use crate::access::{Access, Action, Event};
use crate::library;
use crate::llvm;
use inkwell::values::{InstructionOpcode, InstructionValue};
use std::collections::HashMap;

/// The number of the segment of each instruction that has an event. Events in one segment follow each other without
/// synchronisation.
pub struct Segments<'ctx> {
    of: HashMap<InstructionValue<'ctx>, usize>,
}

impl<'ctx> Segments<'ctx> {
    /// Numbers the segments of the blocks that hold events.
    pub fn find(events: &[Event<'ctx>]) -> Self {
        let mut of = HashMap::new();
        let mut number = 0;
        let mut block = None;
        for event in events {
            let parent = event.inst.get_parent();
            if parent == block {
                continue;
            }
            block = parent;
            number += 1;
            for inst in parent.into_iter().flat_map(|b| b.get_instructions()) {
                // What synchronises is in a segment of its own: code before it and after it is apart.
                let ends = synchronises(inst);
                number += usize::from(ends);
                of.insert(inst, number);
                number += usize::from(ends);
            }
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
pub fn plain<'e, 'ctx>(event: &'e Event<'ctx>) -> Option<(crate::access::Direction, &'e Access<'ctx>)> {
    match &event.action {
        Action::Plain(direction, access) => Some((*direction, access)),
        _ => None,
    }
}
