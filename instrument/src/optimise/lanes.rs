//! Finds vectors in memory whose active lanes can be asked at once: masked accesses, gathers and scatters.

use crate::access::{Access, Action, Direction, Event, Plan, Worth};
use crate::llvm;
use inkwell::values::{PointerValue, VectorValue};
use std::collections::HashMap;
use threadtalk_abi::GRANULE;

/// The most lanes that are asked at once: those of a register of 512 bits.
const MOST: u32 = 16;

/// Active lanes of a vector.
#[derive(Clone, Copy)]
pub struct Lanes<'ctx> {
    /// Whether they are read or written.
    pub direction: Direction,
    /// Where they lie.
    pub places: Places<'ctx>,
    /// Bytes of a lane: one granule or two.
    pub bytes: u64,
    /// What is known of the alignment of each.
    pub align: u64,
    /// Which are active.
    pub mask: VectorValue<'ctx>,
}

/// Where lanes lie in memory.
#[derive(Clone, Copy)]
pub enum Places<'ctx> {
    /// Behind each other, from here on.
    From(PointerValue<'ctx>),
    /// Each at its own address.
    Each(VectorValue<'ctx>),
}

impl<'ctx> Lanes<'ctx> {
    fn of(event: &Event<'ctx>) -> Option<Self> {
        let lanes = match event.action {
            Action::Masked(direction, Access { pointer, bytes, align }, mask) => {
                Lanes { direction, places: Places::From(pointer), bytes, align, mask }
            }
            Action::Scattered(direction, pointers, bytes, align, mask) => {
                Lanes { direction, places: Places::Each(pointers), bytes, align, mask }
            }
            _ => return None,
        };
        // A lane of two granules at an address of its own must not lie in two chunks.
        let least = match lanes.places {
            Places::From(_) => GRANULE,
            Places::Each(_) => lanes.bytes,
        };
        let fits = [GRANULE, 2 * GRANULE].contains(&lanes.bytes) && lanes.align >= least;
        (fits && (2..=MOST).contains(&lanes.count())).then_some(lanes)
    }

    /// How many lanes, active or not.
    pub fn count(&self) -> u32 {
        llvm::vector_len(self.mask.get_type())
    }
}

/// Those of a function that are worth the code, by event.
pub fn find<'ctx>(plan: &Plan<'ctx>) -> HashMap<usize, Lanes<'ctx>> {
    let worth = plan.events.iter().enumerate().filter(|(_, event)| event.worth > Worth::Call);
    worth.filter_map(|(number, event)| Some((number, Lanes::of(event)?))).collect()
}
