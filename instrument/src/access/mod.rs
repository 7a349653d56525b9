//! What a function does to memory, as a list of events for [`crate::emit`].
//!
//! * [`collect`] walks a function and makes its plan.
//! * [`memory`] knows loads, stores and atomic instructions.
//! * [`ends`] knows counters from which threads take work, and flags for which they wait.
//! * [`intrinsics`] knows LLVM's memory intrinsics: copies, masked vectors, gather and scatter.
//! * [`lifetime`] knows when stack variables die.
//! * [`describe`] says what accesses go to, for the report.
//! * [`called`] says how often functions run, and [`worth`] how much code each event gets.
//! * The C library's functions are in [`crate::library`].

pub mod called;
pub mod collect;
pub mod describe;
pub mod ends;
pub mod intrinsics;
pub mod lifetime;
pub mod links;
pub mod memory;
pub mod worth;

use crate::library::{Allocator, Effect};
use crate::tables::{RegionId, SiteId};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, InstructionValue, IntValue, PointerValue, VectorValue};
use std::collections::HashSet;
use threadtalk_abi::GRANULE;

/// Whether memory is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Read.
    Read,
    /// Write.
    Write,
}

/// Where the code for an event goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the instruction.
    Before,
    /// After it has completed normally.
    After,
}

/// An access whose size is known when compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<'ctx> {
    /// Address.
    pub pointer: PointerValue<'ctx>,
    /// Bytes. Up to 64 are inlined if they are a power of two, or whole granules.
    pub bytes: u64,
    /// What is known of the address's alignment; a power of two.
    pub align: u64,
}

/// Longest access that is inlined.
pub const LONGEST: u64 = 64;

impl Access<'_> {
    /// Whether it consists of whole granules.
    pub fn is_whole(&self) -> bool {
        self.bytes.is_multiple_of(GRANULE) && self.align >= GRANULE
    }

    /// Whether there is an inlined sequence for it.
    pub fn is_inlined(&self) -> bool {
        (1..=LONGEST).contains(&self.bytes) && (self.bytes.is_power_of_two() || self.is_whole())
    }
}

/// The powers of two that a length is the sum of, longest first, each with what comes before it.
pub fn powers(length: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut before = 0;
    std::iter::from_fn(move || {
        let power = 1 << (length - before).checked_ilog2()?;
        before += power;
        Some((before - power, power))
    })
}

/// What happens to memory.
#[derive(Clone, Debug)]
pub enum Action<'ctx> {
    /// One access.
    Plain(Direction, Access<'ctx>),
    /// A read, then a write: atomic read-modify-write.
    Update(Access<'ctx>),
    /// A read, then a write if the instruction's second result is true.
    CompareExchange(Access<'ctx>),
    /// So many bytes.
    Range(Direction, PointerValue<'ctx>, IntValue<'ctx>),
    /// A copy: destination, source, bytes.
    Copy(PointerValue<'ctx>, PointerValue<'ctx>, IntValue<'ctx>),
    /// The active lanes of a vector in memory: lane 0, mask.
    Masked(Direction, Access<'ctx>, VectorValue<'ctx>),
    /// As many lanes as the mask has active ones, without gaps: address, bytes of a lane, mask.
    Packed(Direction, PointerValue<'ctx>, u64, VectorValue<'ctx>),
    /// One access for each active lane: addresses, bytes and alignment of each, mask.
    Scattered(Direction, VectorValue<'ctx>, u64, u64, VectorValue<'ctx>),
    /// One effect of a call of a C library function.
    Library(Effect),
    /// A call creates a thread.
    Creation,
    /// A call may move the block that begins here.
    Moves(PointerValue<'ctx>),
    /// A call allocated memory, or may have.
    Allocation(Allocator),
    /// A stack variable dies: address, bytes, alignment.
    Dies(PointerValue<'ctx>, u64, u64),
    /// A stack variable of variable length dies: address, number of elements, bytes of an element.
    DiesWhole(PointerValue<'ctx>, IntValue<'ctx>, u64),
}

impl Action<'_> {
    /// The access goes through a pointer to bytes or halves, of so many bytes each: no more of what it claims of its
    /// address is believed. 0 = another pointer.
    pub fn is_of(&mut self, width: u32) {
        if let Action::Plain(_, access) = self
            && width > 0
        {
            access.align = access.align.min(width.into());
        }
    }
}

/// How often an event is expected to happen, as far as that decides how much code it is worth: see [`worth`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// Beside loops that last, or where there is too much code: a call.
    Call,
    /// In a loop that runs what a vectorised one leaves over: the same as below, but the first to go where there is too
    /// much code, and the last to have a memo.
    Rest,
    /// In a loop, or in a function that may be called in one: own accesses are inlined, states that are no event at any
    /// site, and reuse that the thread knows.
    Events,
}

/// An action and its place.
#[derive(Clone, Debug)]
pub struct Event<'ctx> {
    /// The instruction that it belongs to.
    pub inst: InstructionValue<'ctx>,
    /// Before or after it.
    pub when: When,
    /// What happens.
    pub action: Action<'ctx>,
    /// Where in the source; unused for what is no access.
    pub site: SiteId,
    /// How much code it is worth.
    pub worth: Worth,
}

/// A region that is entered before an instruction.
pub struct Entrance<'ctx> {
    /// The region, if it has a site in the end.
    pub region: RegionId,
    /// Where to count.
    pub before: InstructionValue<'ctx>,
}

/// Where in a function accesses get sequences of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inlined<'ctx> {
    /// Wherever it is worth the code.
    Everywhere,
    /// In these blocks only: the function is too large. All other accesses are calls.
    Only(HashSet<BasicBlock<'ctx>>),
}

impl<'ctx> Inlined<'ctx> {
    /// Whether accesses of a block may have them.
    pub fn allows(&self, block: Option<BasicBlock<'ctx>>) -> bool {
        match self {
            Inlined::Everywhere => true,
            Inlined::Only(blocks) => block.is_some_and(|block| blocks.contains(&block)),
        }
    }

    /// Whether those of any block may.
    pub fn allows_some(&self) -> bool {
        *self == Inlined::Everywhere || matches!(self, Inlined::Only(blocks) if !blocks.is_empty())
    }
}

/// A function and its events, in the order of its instructions.
pub struct Plan<'ctx> {
    /// The function.
    pub function: FunctionValue<'ctx>,
    /// Events; those of one instruction in the order in which they happen.
    pub events: Vec<Event<'ctx>>,
    /// Region of the function itself.
    pub entry_region: Option<RegionId>,
    /// Loops and constructs that it enters.
    pub entrances: Vec<Entrance<'ctx>>,
    /// Number of accesses.
    pub accesses: usize,
    /// Where accesses may be inlined.
    pub inlined: Inlined<'ctx>,
    /// Loops that are known to run few iterations.
    pub brief: worth::Brief,
}

#[cfg(test)]
mod tests {
    use super::powers;

    #[test]
    fn powers_add_up_to_the_length() {
        for length in 0..=130u64 {
            let all: Vec<_> = powers(length).collect();
            assert!(all.iter().all(|(_, power)| power.is_power_of_two()), "{length}: {all:?}");
            assert!(all.windows(2).all(|w| w[0].1 > w[1].1 && w[0].0 + w[0].1 == w[1].0), "{length}: {all:?}");
            assert_eq!(all.iter().map(|(_, power)| power).sum::<u64>(), length);
        }
        assert_eq!(powers(44).collect::<Vec<_>>(), [(0, 32), (32, 8), (40, 4)]);
    }
}
