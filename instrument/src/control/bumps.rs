//! The code of the counters.

use super::graph::{self, Graph, Way};
use crate::emit::{Emitted, ModuleEmitter};
use crate::error::PassError;
use crate::llvm;
use crate::llvm::analysis::Analysis;
use crate::llvm::ffi::{self, RawTrips};
use inkwell::values::{BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue};
use std::mem::offset_of;
use threadtalk_abi::control::edge_flags;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::offset;

/// Where a counter's code goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'ctx> {
    /// As soon as the thread's control block is known.
    Entry,
    /// Before an instruction.
    Before(InstructionValue<'ctx>),
}

/// The iterations of a loop, counted at once.
pub struct Trips<'ctx> {
    /// Counter of the edge back.
    pub counter: u32,
    /// How often it is taken.
    pub count: IntValue<'ctx>,
    /// Where that is known.
    pub before: InstructionValue<'ctx>,
}

/// Edges back in loops whose number of iterations is known before them, and in which a thread neither synchronises
/// nor leaves: one addition counts them all. And the other edges with counters.
pub fn known_trips<'ctx>(analysis: &mut Analysis, graph: &Graph<'ctx>) -> (Vec<Trips<'ctx>>, Vec<usize>) {
    let mut trips = Vec::new();
    let mut single = Vec::new();
    for (number, edge) in graph.edges.iter().enumerate() {
        let Some(counter) = edge.counter else { continue };
        let Way::Branch(from, Some(to)) = edge.way else {
            single.push(number);
            continue;
        };
        let is_back = edge.flags & edge_flags::BACK != 0;
        let mut raw = RawTrips { count: std::ptr::null_mut(), before: std::ptr::null_mut() };
        // SAFETY: blocks of the function that was analysed, which has not changed but for what the shim added before
        // loops. On success the shim has filled in an i64 and an instruction.
        unsafe {
            let known = is_back && {
                let (from, to) = (from.as_mut_ptr(), to.as_mut_ptr());
                ffi::threadtalk_shim_control_trips(analysis.raw(), from, to, &mut raw)
            };
            if known {
                let (count, before) = (IntValue::new(raw.count), InstructionValue::new(raw.before));
                trips.push(Trips { counter, count, before });
            } else {
                single.push(number);
            }
        }
    }
    (trips, single)
}

/// Finds a place for each of the edges, and makes it where there is none. The entry block's own instructions may move
/// into another block afterwards, places move with them.
pub fn places<'ctx>(graph: &Graph<'ctx>, single: &[usize]) -> Emitted<Vec<(Place<'ctx>, u32)>> {
    let entry = graph.blocks.first().copied();
    let none = || PassError::Invalid("an edge has no place for its counter".into());
    let counted = single.iter().filter_map(|&e| graph.edges[e].counter.map(|c| (&graph.edges[e], c)));
    counted
        .map(|(edge, counter)| {
            let at = match edge.way {
                Way::Entry => return Ok((Place::Entry, counter)),
                // The start of the entry block: its allocas must stay before everything.
                Way::Branch(from, to) if Some(from) == entry && (to.is_none() || llvm::has_one_way(from)) => {
                    return Ok((Place::Entry, counter));
                }
                Way::Branch(from, to) => graph::place(Some(from), to, edge.flags & edge_flags::BACK != 0),
                Way::Leaving(from) => graph::end(from),
                Way::Reaching(to) => graph::place(None, Some(to), false),
                Way::Abnormal => None,
            };
            Ok((Place::Before(at.ok_or_else(none)?), counter))
        })
        .collect()
}

/// Where each block begins.
pub fn starts<'ctx>(graph: &Graph<'ctx>) -> Vec<Place<'ctx>> {
    let place = |(number, &block)| match number {
        0 => Some(Place::Entry),
        _ => graph::place(None, Some(block), false).map(Place::Before),
    };
    graph.blocks.iter().enumerate().filter_map(place).collect()
}

/// Emits counters.
pub struct Bumps<'a, 'm, 'ctx> {
    /// Emits code.
    pub emitter: &'a ModuleEmitter<'m, 'ctx>,
    /// The thread's control block.
    pub header: PointerValue<'ctx>,
    /// Bytes before the module's first counter.
    pub base: IntValue<'ctx>,
    /// The first instruction that may use both.
    pub first: InstructionValue<'ctx>,
}

impl<'a, 'm, 'ctx> Bumps<'a, 'm, 'ctx> {
    /// For a function whose control block is known.
    pub fn new(emitter: &'a ModuleEmitter<'m, 'ctx>, header: PointerValue<'ctx>) -> Emitted<Self> {
        let first = llvm::first_after(header).ok_or(PassError::Invalid("no entry block".into()))?;
        emitter.builder.position_before(&first);
        let base = emitter.widen(emitter.load_base(offset_of!(ModuleBases, counter_base))?)?;
        let base = emitter.builder.build_left_shift(base, emitter.c64(3), "")?;
        Ok(Bumps { emitter, header, base, first })
    }

    /// Adds 1; returns the store.
    pub fn add_one(&self, place: Place<'ctx>, counter: u32) -> Emitted<InstructionValue<'ctx>> {
        self.add(place, counter, self.emitter.c64(1))
    }

    /// An instruction without effect, for one that adds 1 there.
    pub fn hold(&self, place: Place<'ctx>) -> Emitted<InstructionValue<'ctx>> {
        let b = &self.emitter.builder;
        b.position_before(&self.before(place));
        llvm::set_location(b, None);
        let held = llvm::frozen(b, self.emitter.c64(0)).as_instruction();
        held.ok_or(PassError::Invalid("a place is no instruction".into()))
    }

    fn before(&self, place: Place<'ctx>) -> InstructionValue<'ctx> {
        match place {
            Place::Entry => self.first,
            Place::Before(at) => at,
        }
    }

    /// Adds 1 to a count that waits in the function's frame.
    pub fn add_one_kept(&self, place: Place<'ctx>, slot: PointerValue<'ctx>) -> Emitted<()> {
        let m = self.emitter;
        let Place::Before(at) = place else { return Err(PassError::Invalid("a loop is no entry".into())) };
        m.builder.position_before(&at);
        llvm::set_location(&m.builder, None);
        let count = kept(m, slot)?;
        m.mark_control(m.builder.build_store(slot, m.builder.build_int_add(count, m.c64(1), "")?)?);
        Ok(())
    }

    /// Adds a number, which must be known there; returns the store.
    pub fn add(&self, place: Place<'ctx>, counter: u32, number: IntValue<'ctx>) -> Emitted<InstructionValue<'ctx>> {
        let m = self.emitter;
        m.builder.position_before(&self.before(place));
        llvm::set_location(&m.builder, None);
        add(m, (self.header, self.base), counter, number)
    }
}

/// A place for a count in the function's frame, which becomes a register when all is done: 0 before a loop.
pub fn slot<'ctx>(
    m: &ModuleEmitter<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    (before, name): (InstructionValue<'ctx>, &str),
) -> Emitted<PointerValue<'ctx>> {
    let entry = function.get_first_basic_block().and_then(|b| b.get_first_instruction());
    m.builder.position_before(&entry.ok_or(PassError::Invalid("empty function".into()))?);
    let slot = m.builder.build_alloca(m.i64, name)?;
    m.builder.position_before(&before);
    m.mark_control(m.builder.build_store(slot, m.c64(0))?);
    Ok(slot)
}

/// What has been counted in such a place.
pub fn kept<'ctx>(m: &ModuleEmitter<'_, 'ctx>, slot: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
    let count = m.load_int(m.i64, slot, 0)?;
    if let Some(load) = count.as_instruction_value() {
        m.mark_control(load);
    }
    Ok(count)
}

/// Adds a number to a counter, given the thread's control block and the bytes before the first counter in a column.
pub fn add<'ctx>(
    m: &ModuleEmitter<'_, 'ctx>,
    (header, base): (PointerValue<'ctx>, IntValue<'ctx>),
    counter: u32,
    number: IntValue<'ctx>,
) -> Emitted<InstructionValue<'ctx>> {
    let column = m.builder.build_load(m.ptr, m.offset(header, offset::COLUMN)?, "threadtalk.column")?;
    if let Some(load) = column.as_instruction_value() {
        // Another thread may store another column at any time.
        m.relaxed(load, 8);
        m.mark_control(load);
    }
    let first = m.offset_by(column.into_pointer_value(), base)?;
    let word = m.offset(first, u64::from(counter) * 8)?;
    let count = m.load_int(m.i64, word, 0)?;
    if let Some(load) = count.as_instruction_value() {
        m.mark_control(load);
    }
    let store = m.builder.build_store(word, m.builder.build_int_add(count, number, "")?)?;
    m.mark_control(store);
    Ok(store)
}
