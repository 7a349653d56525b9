//! Counts control flow: how often each edge of each function is taken, by thread.
//!
//! The counters are placed before accesses get their sequences, so that the graph in the tables is the program's own.
//! What is emitted here carries metadata by which the memory instrumentation knows it: it is neither an access nor
//! synchronisation, and a plain copy of a loop copies it.
//!
//! * [`graph`] is the function's control flow graph, as LLVM has it now.
//! * [`spanning_tree`] decides which edges get a counter.
//! * [`contents`] says what a block executes; [`calls`] whom it calls, and where threads meet.
//! * [`bumps`] emits the counters; [`kept`] keeps those of loops in registers.
//! * [`spins`] finds loops in which a thread waits for others.
//! * [`times`] takes the time of what runs long.

pub mod bumps;
pub mod calls;
pub mod contents;
pub mod graph;
pub mod kept;
pub mod spanning_tree;
pub mod spins;
pub mod times;

use crate::access::Inlined;
use crate::emit::{Emitted, ModuleEmitter};
use crate::llvm;
use crate::llvm::analysis::Analysis;
use crate::regions::functions::{self, Functions, Unit};
use crate::regions::nesting::Nesting;
use crate::tables::{SiteId, Tables};
use graph::Graph;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue, IntValue, PointerValue};
use spins::Spins;
use std::collections::HashMap;
use threadtalk_abi::control::{MOST_IN_MODULE, function_flags};
use threadtalk_abi::thread::offset;
use times::Timing;

/// Counts the functions of a module.
pub struct Control<'a, 'm, 'ctx> {
    /// Emits code.
    pub emitter: &'a ModuleEmitter<'m, 'ctx>,
    /// The module's functions in the source.
    pub functions: &'a mut Functions,
    /// The module's tables.
    pub tables: &'a mut Tables,
    /// Each block gets a counter of its own, too (`control_all`): what the derived counts are compared with. They
    /// follow those of the function's edges, in the order of the blocks.
    pub all_blocks: bool,
    /// Accesses beyond which a function is likely to call its module's functions for them, which count as well: its
    /// counters only get a place.
    pub most_inline: Option<usize>,
    /// Where clocks are read, by function.
    pub timings: Vec<Timing<'ctx>>,
}

/// What is left of an instrumented function for others to use.
pub struct Counted<'ctx> {
    /// The thread's control block; everything but the entry block's allocas comes after it.
    pub header: PointerValue<'ctx>,
    /// Counts that wait in the frame: to become registers when nothing more is added to the function.
    pub slots: Vec<PointerValue<'ctx>>,
    /// Counters that 1 is added to where they stand, but for those that are complete.
    pub singles: Vec<Single<'ctx>>,
    /// Their code was not made: an instruction without effect stands in each place.
    pub waits: bool,
    /// Bytes before the module's first counter.
    base: IntValue<'ctx>,
}

impl<'ctx> Counted<'ctx> {
    /// Makes the code that is yet to be made where accesses are inlined. What is left counts with calls.
    pub fn complete(&mut self, emitter: &ModuleEmitter<'_, 'ctx>, inlined: &Inlined<'ctx>) -> Emitted<()> {
        let is_inlined = |single: &mut Single<'ctx>| inlined.allows(single.store.get_parent());
        let here: Vec<_> = self.singles.extract_if(.., is_inlined).collect();
        for Single { store: place, counter } in here.into_iter().filter(|_| self.waits) {
            emitter.builder.position_before(&place);
            llvm::set_location(&emitter.builder, None);
            bumps::add(emitter, (self.header, self.base), counter, emitter.c64(1))?;
            place.erase_from_basic_block();
        }
        Ok(())
    }

    /// Removes what only code that was not made would have used.
    pub fn tidy(&self) {
        if self.waits {
            llvm::remove_unused(self.base.as_value_ref());
        }
    }
}

/// Code that adds 1 to a counter.
#[derive(Clone, Copy, Debug)]
pub struct Single<'ctx> {
    /// Its last instruction, or the one in its place.
    pub store: InstructionValue<'ctx>,
    /// Number of the counter in the module.
    pub counter: u32,
}

impl<'ctx> Control<'_, '_, 'ctx> {
    /// Places the counters of a function.
    pub fn function(&mut self, function: FunctionValue<'ctx>) -> Emitted<Counted<'ctx>> {
        graph::prepare(function);
        let mut nesting = Nesting::new(function, self.functions);
        let mut analysis = Analysis::for_counters(function);
        let mut graph = Graph::of(&mut analysis);
        let counted = spanning_tree::counted(graph.nodes(), &graph.tree_edges());
        let room = MOST_IN_MODULE - self.tables.counters();
        let counted = counted.filter(|c| c.len() <= room as usize);
        let mut flags = self.callers(function);
        match &counted {
            Some(edges) => {
                for &edge in edges {
                    graph.edges[edge].counter = Some(self.tables.counter());
                }
            }
            None => {
                flags |= function_flags::UNCOUNTED;
                graph.edges.clear();
            }
        }
        let spins = Spins::find(&graph, &mut nesting, (self.functions, self.tables));
        let blocks = contents::blocks((&graph, &spins), &mut nesting, self.functions, self.tables);
        let all_calls = calls::all(&graph);
        let with_stacks = (&*all_calls, &*calls::stacks(&graph, &all_calls, &nesting));
        let calls = calls::calls((&graph, &blocks), with_stacks, &nesting, (self.functions, self.tables));
        let sites = calls::sites(&graph, with_stacks, &mut nesting, (self.functions, self.tables));
        let region = self.functions.region(Unit::of(function), self.tables);
        self.tables.control_function(region, flags, &blocks, &graph.entries(function), &calls);
        // Before any edge is split.
        let (mut trips, single) = bumps::known_trips(&mut analysis, &graph);
        drop(analysis);
        let places = bumps::places(&graph, &single)?;
        let kept = kept::find(function, (&graph, &nesting), &single, &mut trips);
        // Only now: loops may get blocks to leave through.
        self.timings.push(times::find(function, region, (&graph, &blocks, &all_calls), &nesting));
        let starts = if self.all_blocks { bumps::starts(&graph) } else { Vec::new() };

        let header = self.emitter.control_block(function)?;
        let bumps = bumps::Bumps::new(self.emitter, header)?;
        let mut slots = HashMap::new();
        let opened: Vec<_> = kept.iter().map(|k| k.open(&bumps, function)).collect::<Emitted<_>>()?;
        slots.extend(opened.iter().flatten().copied());
        let accesses: usize = blocks.iter().map(|block| usize::from(block.reads) + usize::from(block.writes)).sum();
        let waits = self.most_inline.is_some_and(|most| accesses > most);
        let mut singles = Vec::new();
        for (place, counter) in places {
            match slots.get(&counter) {
                Some(&slot) => bumps.add_one_kept(place, slot)?,
                None if waits => singles.push(Single { store: bumps.hold(place)?, counter }),
                None => singles.push(Single { store: bumps.add_one(place, counter)?, counter }),
            }
        }
        for (kept, slots) in kept.iter().zip(&opened) {
            kept.close(&bumps, slots)?;
        }
        for trips in trips {
            bumps.add(bumps::Place::Before(trips.before), trips.counter, trips.count)?;
        }
        for start in starts {
            let counter = self.tables.counter();
            let store = if waits { bumps.hold(start)? } else { bumps.add_one(start, counter)? };
            singles.push(Single { store, counter });
        }
        if self.all_blocks && graph.has_dispatch {
            // Its number is used up, so that all blocks of the tables have one.
            self.tables.counter();
        }
        for (call, site) in sites {
            self.store_call_site(header, call, site)?;
        }
        let mut slots: Vec<_> = opened.iter().flatten().map(|(_, slot)| *slot).collect();
        slots.extend(spins.emit(&bumps, function)?);
        Ok(Counted { header, slots, singles, waits, base: bumps.base })
    }

    /// Flags that say who may call a function of a library.
    fn callers(&mut self, function: FunctionValue<'ctx>) -> u32 {
        let subprogram = functions::own_frame(function).subprogram;
        if subprogram.is_null() || !self.functions.is_library(subprogram) {
            return 0;
        }
        let taken = if llvm::is_address_taken(function) { function_flags::ADDRESS_TAKEN } else { 0 };
        function_flags::OF_LIBRARY | taken
    }

    fn store_call_site(&self, header: PointerValue<'ctx>, call: InstructionValue<'ctx>, site: SiteId) -> Emitted<()> {
        let m = self.emitter;
        m.builder.position_before(&call);
        llvm::set_location(&m.builder, llvm::debug::of(call).map(|l| l.raw));
        let number = m.global_site(m.site(site))?;
        let store = m.builder.build_store(m.offset(header, offset::CALL_SITE)?, number)?;
        m.mark_control(store);
        llvm::set_location(&m.builder, None);
        Ok(())
    }
}
