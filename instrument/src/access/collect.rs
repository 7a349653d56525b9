//! Walks a function, and makes its plan of what is left of the events.

use super::called::Runs;
use super::lifetime::Escaping;
use super::worth::{self, Brief};
use super::{Action, Entrance, Event, Inlined, Plan, When, Worth, describe, ends, intrinsics, links, memory};
use crate::library::{self, Allocator, Effect, Needed};
use crate::llvm;
use crate::llvm::analysis::Analysis;
use crate::llvm::loops::{Dominators, Loops};
use crate::regions::constructs::Stack;
use crate::regions::functions::{Functions, Unit};
use crate::regions::nesting::Nesting;
use crate::skip::Skipper;
use crate::tables::{RegionId, SiteId, Tables};
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::LLVMMetadataRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use std::collections::HashMap;
use std::ptr::null_mut;
use threadtalk_abi::module::RegionKind;
use threadtalk_abi::module::site_flags::{ALLOCATION, ATOMIC, CREATION, LIBRARY, LINKED, LOCKS, TAKES, UPDATE, WAITS};

/// A function's events before it is decided how much code they are worth.
pub struct Walked<'ctx> {
    /// The events.
    pub events: Vec<Event<'ctx>>,
    /// What was analysed for them.
    pub analysis: Option<Analysis>,
    function: FunctionValue<'ctx>,
    loops: Loops<'ctx>,
    brief: Brief,
    entrances: Vec<Entrance<'ctx>>,
    entry_region: Option<RegionId>,
}

/// What the walk of each function shares.
pub struct Collector<'a, 'ctx> {
    /// The module.
    pub module: &'a Module<'ctx>,
    /// Its functions in the source.
    pub functions: &'a mut Functions,
    /// Its tables.
    pub tables: &'a mut Tables,
}

impl<'ctx> Collector<'_, 'ctx> {
    /// Walks a function; `None` if nothing in it is to be instrumented.
    pub fn walk(&mut self, function: FunctionValue<'ctx>) -> Option<Walked<'ctx>> {
        let mut nesting = Nesting::new(function, self.functions);
        let mut skipper = Skipper::default();
        let escaping = Escaping::find(function, &mut skipper);
        let mut found = Vec::new();
        for block in function.get_basic_block_iter() {
            let mut stack = nesting.constructs.at_entry(block);
            let exit = llvm::before_exit(block);
            for inst in block.get_instructions() {
                if Some(inst) == exit {
                    let deaths = escaping.at_exit(inst).into_iter();
                    found.extend(deaths.map(|action| Found {
                        inst,
                        block,
                        stack,
                        action,
                        when: When::Before,
                        flags: 0,
                    }));
                }
                let actions = self.actions(inst, &mut skipper, &escaping).into_iter();
                // Nothing may come between a call that must be the last one and the return.
                let actions = actions.filter(|(_, when, _)| *when == When::Before || !llvm::is_last(inst));
                found.extend(actions.map(|(action, when, flags)| Found { inst, block, stack, action, when, flags }));
                stack = nesting.constructs.after(inst, stack);
            }
        }
        let actions: Vec<_> = found.iter().map(|f| (f.inst, &f.action)).collect();
        let mut analysis = (!nesting.loops.all.is_empty()).then(|| Analysis::of(function));
        let (described, widths) = describe::all(self.module, analysis.as_mut(), &nesting.loops, &actions);
        let mut events = Vec::with_capacity(found.len());
        for ((found, access), width) in found.into_iter().zip(described).zip(widths) {
            let Found { inst, block, stack, mut action, when, flags } = found;
            action.is_of(width);
            let site = if is_access(&action) {
                let flags = flags | in_loops(inst, &action, &nesting.loops);
                nesting.site(inst, block, stack, (flags, &access), (self.functions, self.tables))
            } else {
                SiteId(0)
            };
            events.push(Event { inst, when, action, site, worth: Worth::Call });
        }
        if events.is_empty() {
            return None;
        }
        let brief = Brief::find(&nesting.loops, analysis.as_ref());
        let entrances = entrances(function, &nesting);
        let entry_region = self.functions.known_region(Unit::of(function));
        Some(Walked { events, analysis, function, loops: nesting.loops, brief, entrances, entry_region })
    }

    /// What an instruction does: action, place, flags of the site.
    fn actions(
        &self,
        inst: InstructionValue<'ctx>,
        skipper: &mut Skipper,
        escaping: &Escaping<'ctx>,
    ) -> Vec<(Action<'ctx>, When, u32)> {
        if llvm::is_control(inst) {
            return vec![];
        }
        if let Some(found) = memory::of(self.module, inst) {
            let (Action::Plain(_, access) | Action::Update(access) | Action::CompareExchange(access)) = found.action
            else {
                return vec![];
            };
            let flags = match found.action {
                Action::Update(_) | Action::CompareExchange(_) => ATOMIC | UPDATE,
                _ if found.atomic => ATOMIC,
                _ => 0,
            };
            return if skipper.is_private(access.pointer) { vec![] } else { vec![(found.action, found.when, flags)] };
        }
        if !llvm::is_call(inst) {
            return vec![];
        }
        let Some(callee) = llvm::callee(inst) else { return vec![] };
        let Ok(name) = callee.get_name().to_str() else { return vec![] };
        if name.starts_with("llvm.lifetime.end") {
            return escaping.at_marker(inst).map(|a| (a, When::Before, 0)).into_iter().collect();
        }
        if name.starts_with("llvm.stackrestore") {
            return escaping.at_restore(inst).into_iter().map(|a| (a, When::Before, 0)).collect();
        }
        if name.starts_with("llvm.") {
            let flags = if name.starts_with("llvm.mem") { LIBRARY } else { 0 };
            let actions = intrinsics::of(self.module, self.module.get_context(), inst, name, skipper);
            return actions.into_iter().map(|a| (a, When::Before, flags)).collect();
        }
        if callee.count_basic_blocks() > 0 {
            return handed_on(inst, callee);
        }
        if library::creates_threads(name) {
            return vec![(Action::Creation, When::Before, CREATION)];
        }
        if let Some(allocator) = library::allocates(name, llvm::argument_count(inst))
            && allocation_fits(inst, allocator)
        {
            let allocates = (Action::Allocation(allocator), When::After, ALLOCATION);
            return moves(inst, name).into_iter().chain([allocates]).collect();
        }
        match library::effects(name, llvm::argument_count(inst)) {
            Some(effects) => library_actions(inst, effects, skipper),
            None => handed_on(inst, callee),
        }
    }
}

/// What a call of a function that the C library does not have may have allocated.
fn handed_on<'ctx>(call: InstructionValue<'ctx>, callee: FunctionValue<'ctx>) -> Vec<(Action<'ctx>, When, u32)> {
    let allocator = match () {
        () if library::may_hand_on(callee) => Allocator::HandsOn,
        () if library::may_fill(callee) => Allocator::Fills,
        () => return vec![],
    };
    let fits = allocation_fits(call, allocator);
    fits.then_some((Action::Allocation(allocator), When::After, ALLOCATION)).into_iter().collect()
}

impl<'ctx> Walked<'ctx> {
    /// The plan, in which `most_inline` accesses at most may be inlined, and what was analysed. `runs`: how often the
    /// function does.
    pub fn plan(self, most_inline: usize, runs: Runs) -> (Plan<'ctx>, Option<Analysis>) {
        let Walked { mut events, analysis, function, loops, brief, entrances, entry_region } = self;
        let accesses = events.iter().filter(|event| is_access(&event.action)).count();
        worth::weigh(&mut events, &loops, &brief, (accesses, runs));
        let inlined = match accesses <= most_inline {
            true => Inlined::Everywhere,
            false => worth::keep_most_nested(function, &mut events, (&loops, &brief), most_inline),
        };
        intrinsics::rejoin(function.get_type().get_context(), &mut events);
        (Plan { function, events, entry_region, entrances, accesses, inlined, brief }, analysis)
    }
}

fn is_access(action: &Action<'_>) -> bool {
    !matches!(action, Action::Dies(..) | Action::DiesWhole(..))
}

/// What the walk found at an instruction.
struct Found<'ctx> {
    inst: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    stack: Stack,
    action: Action<'ctx>,
    when: When,
    flags: u32,
}

/// Whether a call has the shape of the C library's function, and not that of another function of the same name.
fn fits(call: InstructionValue<'_>, effect: Effect) -> bool {
    let argument = |n| llvm::operand(call.as_value_ref(), n);
    let pointers = effect.pointer().into_iter().chain(effect.other_pointer());
    let integers = effect.integers().into_iter().flatten();
    pointers.into_iter().all(|n| llvm::is_plain_pointer(argument(n)))
        && integers.into_iter().all(|n| llvm::is_integer(argument(n)))
        && match effect.result() {
            Needed::Any => true,
            Needed::Pointer => llvm::is_plain_pointer(call.as_value_ref()),
            Needed::Integer => llvm::is_integer(call.as_value_ref()),
        }
}

/// What a call of the C library may do with the block that it is given.
fn moves<'ctx>(call: InstructionValue<'ctx>, name: &str) -> Option<(Action<'ctx>, When, u32)> {
    let fits = library::moves(name) && llvm::is_plain_pointer(llvm::operand(call.as_value_ref(), 0));
    fits.then(|| (Action::Moves(llvm::pointer_operand(call, 0)), When::Before, LIBRARY))
}

/// Whether a call has the shape of the allocator.
fn allocation_fits(call: InstructionValue<'_>, allocator: Allocator) -> bool {
    let argument = |n| llvm::operand(call.as_value_ref(), n);
    let integer = |n| llvm::is_integer(argument(n));
    match allocator {
        Allocator::Bytes(n) => integer(n) && llvm::is_plain_pointer(call.as_value_ref()),
        Allocator::Product(n, m) => integer(n) && integer(m) && llvm::is_plain_pointer(call.as_value_ref()),
        Allocator::Indirect(n) => {
            integer(n) && llvm::is_plain_pointer(argument(0)) && llvm::is_integer(call.as_value_ref())
        }
        Allocator::HandsOn => llvm::is_plain_pointer(call.as_value_ref()),
        Allocator::Fills => llvm::argument_count(call) > 0 && llvm::is_plain_pointer(argument(0)),
    }
}

/// The effects of a library call on memory that may be shared, in the order in which they happen.
fn library_actions<'ctx>(
    call: InstructionValue<'ctx>,
    effects: &'static [Effect],
    skipper: &mut Skipper,
) -> Vec<(Action<'ctx>, When, u32)> {
    if !effects.iter().all(|&e| fits(call, e)) {
        return vec![];
    }
    let mut shared = |effect: &Effect| match *effect {
        Effect::Copy(to, from, _) => [to, from].iter().any(|&p| !skipper.is_private(llvm::pointer_operand(call, p))),
        _ => effect.pointer().is_none_or(|p| !skipper.is_private(llvm::pointer_operand(call, p))),
    };
    let kept: Vec<Effect> = effects.iter().copied().filter(|e| shared(e)).collect();
    let (after, before): (Vec<_>, Vec<_>) = kept.into_iter().partition(|e| e.is_after());
    let before = before.into_iter().map(|e| (Action::Library(e), When::Before, LIBRARY));
    before.chain(after.into_iter().map(|e| (Action::Library(e), When::After, LIBRARY))).collect()
}

/// Flags that say what an access is to the loops around it.
fn in_loops<'ctx>(inst: InstructionValue<'ctx>, action: &Action<'ctx>, loops: &Loops<'ctx>) -> u32 {
    let is_linked = || describe::pointer(inst, action).is_some_and(|pointer| links::leads(pointer, inst, loops));
    let flag = |is: bool, flag| if is { flag } else { 0 };
    flag(ends::takes_work(inst, loops), TAKES)
        | flag(ends::waits(inst, loops), WAITS)
        | flag(ends::locks(inst, loops), LOCKS)
        | flag(is_linked(), LINKED)
}

/// Where the loops and constructs of a function are entered.
fn entrances<'ctx>(function: FunctionValue<'ctx>, nesting: &Nesting<'ctx>) -> Vec<Entrance<'ctx>> {
    let mut entrances = Vec::new();
    // Vector body and remainder of one source loop are entered together: at the block that chooses between them.
    let mut pieces: Vec<(LoopKey, RegionId, Vec<BasicBlock<'ctx>>)> = Vec::new();
    let mut known: HashMap<LoopKey, usize> = HashMap::new();
    for index in 0..nesting.loops.all.len() {
        let Some(region) = nesting.loop_region(index) else { continue };
        let source = &nesting.loops.all[index];
        // The loop over the chunks of a worksharing construct and the loop over one chunk are one loop to the user.
        if nesting.loops.chain(source.parent).any(|outer| nesting.loop_region(outer) == Some(region)) {
            continue;
        }
        let Some(preheader) = source.preheader else { continue };
        let start = source.start.map_or(null_mut(), |l| l.raw);
        let key = (start, source.parent, if source.derived { usize::MAX } else { index });
        let at = *known.entry(key).or_insert(pieces.len());
        if at == pieces.len() {
            pieces.push((key, region, Vec::new()));
        }
        pieces[at].2.push(preheader);
    }
    let mut dominators = None;
    for (_, region, preheaders) in pieces {
        let block = match preheaders.as_slice() {
            [one] => Some(*one),
            several => dominators.get_or_insert_with(|| Dominators::of(function)).common(several),
        };
        if let Some(before) = block.and_then(|b| b.get_terminator()) {
            entrances.push(Entrance { region, before });
        }
    }
    for stack in 1..=nesting.constructs.all.len() {
        let Some(region) = nesting.construct_region(stack) else { continue };
        let begin = nesting.constructs.all[stack - 1].begin;
        if let Some(before) = executed(begin, nesting.constructs.all[stack - 1].kind) {
            entrances.push(Entrance { region, before });
        }
    }
    entrances
}

/// The instruction before which a construct has been entered. `single` and `master` are entered only by the thread
/// whose call gave 1.
pub fn executed<'ctx>(begin: InstructionValue<'ctx>, kind: RegionKind) -> Option<InstructionValue<'ctx>> {
    if !matches!(kind, RegionKind::OmpSingle | RegionKind::OmpMaster) {
        return llvm::after(begin);
    }
    llvm::taken_if_nonzero(begin).or_else(|| llvm::after(begin))
}

/// Location, enclosing loop, and the loop itself unless it is a piece of another.
type LoopKey = (LLVMMetadataRef, Option<usize>, usize);
