//! Gives reads of loop nests memos: see [`threadtalk_abi::memo`].
//!
//! The memos of a thread belong to one nest at a time, so a nest must not call what could synchronise: the
//! outermost loop around a read without such calls is its nest ([`super::nests`]). It is as large as possible, because
//! each time it is entered its reads know nothing; nests that run a few iterations have none.
//!
//! A nest may call pure functions, and is *open* to them then: nests in these keep what it knows of memory. They empty
//! the memos that they use, where they begin and where they end.
//!
//! Neighbours tend to have one state, so reads that walk through memory get memos. Where the address comes out of the
//! data (`x[column[i]]`,
//! `p = p->next`), states alternate: a memo would miss half of the time, the event cache does not.

use super::nests::{Nests, pure_callee};
use super::segment::plain;
use super::tiles::Tiled;
use super::whole_loops::Offer;
use super::windows::{self, Windows};
use crate::access::{Direction, Event, Plan, Worth};
use crate::llvm;
use crate::llvm::loops::{self, Loops};
use crate::pure::PureFunctions;
use crate::tables::SiteId;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use threadtalk_abi::hooks;
use threadtalk_abi::memo::MEMOS;

/// How far addresses are followed back.
const MOST_ORIGINS: usize = 32;

/// A loop nest with memos.
pub struct Scope<'ctx> {
    /// Its outermost loop.
    pub nest: usize,
    /// Runs last before the nest.
    pub entry: InstructionValue<'ctx>,
    /// Run first after it.
    pub exits: Vec<InstructionValue<'ctx>>,
    /// How many memos it uses.
    pub memos: u32,
    /// It calls pure functions.
    pub open: bool,
}

/// The memo of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the memo.
    pub number: u32,
    /// log2, rounded up, of how many memos of the nest read the same object at the same site, and so may count in one
    /// counter.
    pub share: u32,
}

/// All memos of a function.
#[derive(Default)]
pub struct Memos<'ctx> {
    /// Its nests.
    pub scopes: Vec<Scope<'ctx>>,
    /// By event.
    pub places: HashMap<usize, Place>,
    /// The function is pure, so that nests may call it.
    pub is_pure: bool,
    /// Calls of pure functions that rely on what a nest knows, outside of open nests.
    pub closed_calls: Vec<InstructionValue<'ctx>>,
    /// Calls inside the nests that ask whether a whole loop may run without hooks.
    pub questions: Vec<InstructionValue<'ctx>>,
    /// What the nests know of memory.
    pub windows: Windows<'ctx>,
}

/// Finds the nests of a function and gives their reads memos.
pub fn find<'ctx>(
    plan: &Plan<'ctx>,
    (offers, tiled): (&[Offer<'ctx>], &[Tiled<'ctx>]),
    loops: &Loops<'ctx>,
    pure: &PureFunctions<'ctx>,
) -> Memos<'ctx> {
    let mut memos = Memos { is_pure: pure.contains(plan.function), ..Memos::default() };
    let instructions = || plan.function.get_basic_block_iter().flat_map(|block| block.get_instructions());
    let asks = |&call: &InstructionValue<'ctx>| pure_callee(call, pure).is_some_and(|callee| pure.asks(callee));
    let calls: Vec<_> = instructions().filter(asks).collect();
    if !calls.is_empty() || plan.events.iter().any(is_candidate) {
        add_nests(&mut memos, plan, (offers, tiled), loops, (pure, &calls));
    }
    if memos.is_pure {
        let looking = offers.iter().filter(|offer| offer.groups.is_some()).filter_map(|offer| offer.question);
        memos.windows.called.extend(looking.filter(|question| !memos.windows.questions.contains(question)));
        memos.windows.keyed.extend(memos.windows.called.iter().chain(&memos.windows.questions));
        memos.windows.nests.clear();
    } else {
        let open: Vec<_> = memos.scopes.iter().filter(|scope| scope.open).map(|scope| scope.nest).collect();
        memos.closed_calls = calls;
        memos.closed_calls.retain(|&call| !open.iter().any(|&nest| is_within(loops, nest, call)));
    }
    memos
}

fn is_within<'ctx>(loops: &Loops<'ctx>, nest: usize, inst: InstructionValue<'ctx>) -> bool {
    inst.get_parent().is_some_and(|block| loops.chain(loops.innermost(block)).any(|l| l == nest))
}

fn add_nests<'ctx>(
    memos: &mut Memos<'ctx>,
    plan: &Plan<'ctx>,
    (offers, tiled): (&[Offer<'ctx>], &[Tiled<'ctx>]),
    loops: &Loops<'ctx>,
    (pure, calls): (&PureFunctions<'ctx>, &[InstructionValue<'ctx>]),
) {
    let contents = Nests::find(plan.function, loops, pure);
    let nests = nests(plan, loops, &contents, calls);
    let headers: Vec<_> = nests.keys().map(|&nest| loops.all[nest].header).collect();
    for ((nest, events), exits) in nests.into_iter().zip(loops::exits(plan.function, &headers)) {
        let Some(exits) = exits else { continue };
        let Some(entry) = loops.all[nest].preheader.and_then(|b| b.get_terminator()) else { continue };
        let open = contents.calls(nest);
        memos.scopes.push(Scope { nest, entry, exits, memos: events.len() as u32, open });
        for (number, &event) in events.iter().enumerate() {
            let own = source(&plan.events[event]);
            let same = events.iter().filter(|&&other| source(&plan.events[other]) == own).count();
            let share = same.next_power_of_two().trailing_zeros();
            memos.places.insert(event, Place { number: number as u32, share });
        }
    }
    // Nests are not inside of each other: what is in one is in no other.
    let number_of: HashMap<usize, usize> = memos.scopes.iter().enumerate().map(|(i, scope)| (scope.nest, i)).collect();
    let scope_of = |inst: InstructionValue<'ctx>| {
        loops.chain(loops.innermost(inst.get_parent()?)).find_map(|around| number_of.get(&around).copied())
    };
    let mut inside = vec![(Vec::new(), Vec::new(), Vec::new()); memos.scopes.len()];
    for (number, event) in plan.events.iter().enumerate() {
        if let Some(scope) = scope_of(event.inst) {
            inside[scope].0.push((number, event));
        }
    }
    for (question, offer) in offers.iter().filter_map(|offer| Some((offer.question?, offer))) {
        if let Some(scope) = scope_of(question) {
            inside[scope].1.push((question, offer));
        }
    }
    for (number, nest) in tiled.iter().enumerate() {
        let mut scopes = nest.offers.iter().map(|&offer| offers[offer].question.and_then(scope_of));
        if let Some(Some(scope)) = scopes.next()
            && scopes.all(|other| other == Some(scope))
        {
            inside[scope].2.push(number);
        }
    }
    for (scope, (events, asking, nests)) in memos.scopes.iter().zip(&inside) {
        windows::add(&mut memos.windows, events, (asking, nests), loops, scope.open);
    }
    let inside: Vec<_> = memos.scopes.iter().map(|scope| scope.nest).collect();
    let blocks = plan.function.get_basic_block_iter();
    let nested = blocks.filter(|&block| loops.chain(loops.innermost(block)).any(|l| inside.contains(&l)));
    memos.questions = nested.flat_map(|block| block.get_instructions()).filter(|&i| is_question(i)).collect();
}

fn is_question(inst: InstructionValue<'_>) -> bool {
    llvm::is_call(inst) && llvm::callee(inst).is_some_and(|c| c.get_name().to_bytes() == hooks::LOOP.name.as_bytes())
}

fn is_candidate(event: &Event<'_>) -> bool {
    // There are functions behind memos for powers of two.
    event.worth > Worth::Call
        && plain(event).is_some_and(|(d, access)| d == Direction::Read && hooks::read(access.bytes).is_some())
}

/// What the counter depends on, as far as it is known here.
fn source<'ctx>(event: &Event<'ctx>) -> (SiteId, Option<LLVMValueRef>) {
    (event.site, plain(event).map(|(_, access)| llvm::underlying_object(access.pointer.as_value_ref())))
}

/// The reads of each nest, by number of the loop; not more than there are memos. Those of inner loops are read most,
/// those of what a vectorised loop leaves over least, unless its rows are short.
/// `calls`: those that make a nest without reads.
fn nests<'ctx>(
    plan: &Plan<'ctx>,
    loops: &Loops<'ctx>,
    nests: &Nests,
    calls: &[InstructionValue<'ctx>],
) -> BTreeMap<usize, Vec<usize>> {
    let around = |inst: InstructionValue<'ctx>| inst.get_parent().and_then(|b| loops.innermost(b));
    // What a function knows of memory must stay true in the nest that calls it.
    let mut untold = HashSet::new();
    for event in plan.events.iter().filter(|event| !windows::tells(event)) {
        untold.extend(loops.chain(around(event.inst)));
    }
    let nest_of = |inside| {
        let nest = nests.around(loops, inside, |nest| !untold.contains(&nest));
        nest.filter(|&nest| !plan.brief.holds(loops, nest))
    };
    let mut reads: BTreeMap<usize, Vec<(bool, Reverse<usize>, usize)>> = BTreeMap::new();
    for nest in calls.iter().filter_map(|&call| nest_of(around(call))).filter(|&nest| nests.calls(nest)) {
        reads.entry(nest).or_default();
    }
    for (number, event) in plan.events.iter().enumerate().filter(|(_, e)| is_candidate(e)) {
        let inside = around(event.inst);
        // Of a row that is shorter than a vector, it is the next iteration around that reads another state.
        let rest = event.worth == Worth::Rest;
        let within: Vec<usize> = loops.chain(inside).take(if rest { 2 } else { 1 }).collect();
        if follows_data(event, loops, &within) {
            continue;
        }
        if let Some(nest) = nest_of(inside) {
            reads.entry(nest).or_default().push((rest, Reverse(loops.chain(inside).count()), number));
        }
    }
    let chosen = |mut events: Vec<(bool, Reverse<usize>, usize)>| {
        events.sort_unstable();
        let mut chosen: Vec<usize> = events.into_iter().take(MEMOS).map(|(.., number)| number).collect();
        chosen.sort_unstable();
        chosen
    };
    reads.into_iter().map(|(nest, events)| (nest, chosen(events))).collect()
}

/// Whether an address depends on what these loops have read at changing places.
fn follows_data<'ctx>(event: &Event<'ctx>, loops: &Loops<'ctx>, within: &[usize]) -> bool {
    let Some((_, access)) = plain(event) else { return false };
    origins(access.pointer.as_value_ref(), loops, within).into_iter().any(|origin| {
        let moves = |i: &InstructionValue<'ctx>| i.get_opcode() == InstructionOpcode::Phi;
        origin.get_opcode() == InstructionOpcode::Load
            && origins(llvm::operand(origin.as_value_ref(), 0), loops, within).iter().any(moves)
    })
}

/// The instructions that a value is computed with of which some loop of these is the innermost; the nearest
/// [`MOST_ORIGINS`].
fn origins<'ctx>(value: LLVMValueRef, loops: &Loops<'ctx>, within: &[usize]) -> Vec<InstructionValue<'ctx>> {
    let mut found: Vec<InstructionValue<'ctx>> = Vec::new();
    let mut open = vec![value];
    let mut next = 0;
    while let Some(&value) = open.get(next) {
        next += 1;
        let Some(inst) = llvm::as_instruction(value) else { continue };
        let inside = inst.get_parent().and_then(|b| loops.innermost(b)).is_some_and(|l| within.contains(&l));
        if !inside || found.contains(&inst) || found.len() == MOST_ORIGINS {
            continue;
        }
        found.push(inst);
        open.extend((0..inst.get_num_operands()).map(|n| llvm::operand(value, n)).filter(|v| !llvm::is_block(*v)));
    }
    found
}
