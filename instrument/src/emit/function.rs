//! Puts a function's events where they belong.
//!
//! First all blocks are split at the events, last event first: each split moves only the instructions up to the next
//! one, so that the work is linear. Then the code for each event is filled in, in program order.

use super::in_module::Riders;
use super::inline::{self, Ask, Inlined};
use super::prologue::Prologue;
use super::repeats::Marked;
use super::windows::Looking;
use super::{Emitted, Likely, ModuleEmitter, Site};
use crate::access::{Access, Action, Direction, Event, Plan, When, Worth};
use crate::control::Counted;
use crate::error::PassError;
use crate::llvm;
use crate::optimise::Optimised;
use crate::optimise::appends::Append;
use crate::optimise::bundles::{Bundle, Bundles};
use crate::optimise::lanes::Lanes;
use crate::optimise::memos::{Memos, Place};
use crate::optimise::repeats::{Repeat, Repeats};
use crate::optimise::shared_translation::Sharing;
use crate::tables::Tables;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{AggregateValue, InstructionValue, IntValue, PointerValue};
use std::collections::{HashMap, HashSet};
use threadtalk_abi::hooks;
use threadtalk_abi::loops;
use threadtalk_abi::thread::offset;

/// How a function is instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The sequences are inlined.
    Inline,
    /// Every event whose sequence is not inlined is one call of a function of the module: for huge functions.
    Calls,
}

/// The state of one function under instrumentation.
pub struct FunctionEmitter<'e, 'a, 'ctx> {
    /// What is shared by all functions.
    pub module: &'e ModuleEmitter<'a, 'ctx>,
    /// Its values for everyone.
    pub prologue: Prologue<'ctx>,
    /// Inline or not.
    pub style: Style,
    /// Shifts that later events of a group use, by the event that computed them.
    shifts: HashMap<usize, IntValue<'ctx>>,
    /// Memos of reads, by event.
    memos: &'e HashMap<usize, Place>,
    /// Reads that come again, by event, and the bytes that are their marks.
    repeats: &'e Repeats,
    marks: Option<PointerValue<'ctx>>,
    /// Reads that are settled together, and the bytes of those that look at their places.
    bundles: &'e Bundles<'ctx>,
    bundle_marks: Option<PointerValue<'ctx>>,
    /// Active lanes that are asked at once, by event.
    lanes: &'e HashMap<usize, Lanes<'ctx>>,
    /// Where each event's translation comes from.
    sharing: &'e [Sharing],
    /// Writes that look at the cells first, by event.
    guarded: &'e HashSet<usize>,
    /// Writes that append, by event.
    appends: &'e HashMap<usize, Append>,
    /// Whether the nest around an access was settled as a whole, by event.
    settled: HashMap<usize, IntValue<'ctx>>,
    /// Counters that its calls for accesses may add to.
    riders: Riders<'ctx>,
}

/// Instruments a function, given what the optimisations found.
pub fn emit<'ctx>(
    module: &ModuleEmitter<'_, 'ctx>,
    plan: &Plan<'ctx>,
    found: &Optimised<'ctx>,
    style: Style,
    tables: &Tables,
    counted: Option<&Counted<'ctx>>,
) -> Emitted<()> {
    let function = plan.function;
    let prologue = match counted.map(|c| c.header) {
        _ if !needs_control_block(plan, style, tables, found) => Prologue::default(),
        Some(header) => module.prologue(header)?,
        None => module.prologue(module.control_block(function)?)?,
    };
    let mut emitter = FunctionEmitter {
        module,
        prologue,
        style,
        shifts: HashMap::new(),
        memos: &found.memos.places,
        repeats: &found.repeats,
        bundles: &found.bundles,
        bundle_marks: match found.bundles.all.iter().any(|bundle| bundle.mark.is_some()) {
            true => Some(module.marks(function)?),
            false => None,
        },
        lanes: &found.lanes,
        sharing: &found.sharing,
        marks: if found.repeats.of.is_empty() { None } else { Some(module.marks(function)?) },
        guarded: &found.memos.windows.guarded,
        appends: &found.appends,
        settled: HashMap::new(),
        riders: match counted.filter(|_| style == Style::Calls) {
            Some(counted) => Riders::new(&counted.singles),
            None => Riders::default(),
        },
    };
    module.hide(&found.inductions)?;
    emitter.scopes(&found.memos)?;
    // Before the loops' decisions are split off: a nest that is settled goes past these.
    if let Some(header) = emitter.prologue.header {
        module.visits(header, plan, tables)?;
    }
    let may_be_asked = |number: &usize| found.memos.windows.nests.contains(number);
    let nests = found.nests.iter().enumerate().filter(|(number, _)| may_be_asked(number)).map(|(_, nest)| nest);
    let nests: Vec<_> = nests.collect();
    for (nest, answer) in nests.iter().zip(module.ask_nests(function, &nests, &found.loops)?) {
        emitter.settled.extend(nest.events.iter().map(|&event| (event, answer)));
    }
    super::loops::place_in_nests(module, &found.memos.questions, loops::IN_NEST);
    let windows = &found.memos.windows;
    super::loops::place_in_nests(module, &windows.questions, loops::WINDOWS);
    super::loops::place_in_nests(module, &windows.called, loops::CALLED);
    for offer in &found.loops {
        if let (Some(question), Some(groups)) = (offer.question, &offer.groups) {
            let called = windows.called.contains(&question);
            if called || windows.questions.contains(&question) {
                let looking = Looking { question, called, keyed: windows.keyed.contains(&question) };
                module.look(&emitter.prologue, offer, groups, looking)?;
                continue;
            }
        }
        if let (Some(header), Some(_)) = (emitter.prologue.header, offer.question) {
            module.ask_by_credit(header, offer)?;
        }
    }
    let mut places = vec![None; plan.events.len()];
    for i in (0..places.len()).rev() {
        let event = &plan.events[i];
        // Several events of one instruction: this one goes before what was made for the next.
        let same = |next: &&Event<'ctx>| (next.inst, next.when) == (event.inst, event.when);
        let next = plan.events.get(i + 1).filter(same).and_then(|_| places[i + 1]).map(|place| match place {
            Opened::Instead(branch, _) => branch,
            Opened::Before(point) => point,
        });
        let point = match event.when {
            _ if next.is_some() => next,
            When::Before => Some(event.inst),
            When::After => llvm::after(event.inst),
        };
        places[i] = point.map(|point| emitter.open((i, event), point)).transpose()?;
    }
    for (i, (event, place)) in plan.events.iter().zip(places).enumerate() {
        if let Some(place) = place {
            emitter.fill((i, event), place, found.sharing.get(i).copied().unwrap_or(Sharing::Alone))?;
        }
    }
    emitter.riders.finish(module)?;
    module.tidy(&emitter.prologue);
    Ok(())
}

/// Where an event's code goes.
#[derive(Clone, Copy)]
enum Opened<'ctx> {
    /// In place of a branch, whose target is given. Which block ends in the branch may change until then: earlier
    /// events split it again.
    Instead(InstructionValue<'ctx>, BasicBlock<'ctx>),
    /// Before an instruction: no control flow is needed.
    Before(InstructionValue<'ctx>),
}

impl<'e, 'a, 'ctx> FunctionEmitter<'e, 'a, 'ctx> {
    /// Makes a place for an event's code before `point`.
    fn open(&self, (index, event): (usize, &Event<'ctx>), point: InstructionValue<'ctx>) -> Emitted<Opened<'ctx>> {
        let is_access = matches!(event.action, Action::Plain(..) | Action::Update(_));
        let branches = self.branches_to_repeat(index, event) || self.branches_to_bundle(index, event);
        let skipped = is_access && (self.settled.contains_key(&index) || branches);
        if !skipped && !self.branches(index, event) {
            return Ok(Opened::Before(point));
        }
        let head = point.get_parent().ok_or(PassError::Invalid("instruction without block".into()))?;
        let tail = llvm::split_before(point).ok_or(PassError::Invalid("block cannot be split".into()))?;
        let branch = head.get_terminator().ok_or(PassError::Invalid("block without end".into()))?;
        Ok(Opened::Instead(branch, tail))
    }

    /// Whether an event's code has branches.
    fn branches(&self, index: usize, event: &Event<'ctx>) -> bool {
        match &event.action {
            Action::CompareExchange(_) => true,
            Action::Scattered(.., mask) => self.lanes.contains_key(&index) || !llvm::is_all_ones(*mask),
            Action::Masked(..) => self.lanes.contains_key(&index),
            Action::Dies(_, bytes, _) => self.style == Style::Inline && super::lifetime::is_inlined(*bytes),
            Action::Plain(..)
            | Action::Update(_)
            | Action::Library(_)
            | Action::Range(..)
            | Action::Copy(..)
            | Action::DiesWhole(..)
            | Action::Packed(..)
            | Action::Moves(_)
            | Action::Allocation(_)
            | Action::Creation => false,
        }
    }

    /// Whether a read that comes again is skipped by a branch. Not where others need its translation.
    fn branches_to_repeat(&self, index: usize, event: &Event<'ctx>) -> bool {
        let leads = matches!(self.sharing.get(index), Some(Sharing::Leads(..)));
        let again = matches!(self.repeats.of.get(&index), Some(Repeat::Again(_)));
        again && !leads && needs_branch(event)
    }

    /// Whether a read of a bundle is skipped by a branch.
    fn branches_to_bundle(&self, index: usize, event: &Event<'ctx>) -> bool {
        let looks = |(bundle, is_first): (&Bundle<'ctx>, bool)| bundle.mark.is_some() && !is_first;
        self.bundles.around(index).is_some_and(looks) && needs_branch(event)
    }

    /// The mark of a read that comes again.
    fn marked(&self, index: usize) -> Emitted<Option<Marked<'ctx>>> {
        let repeat = self.marks.zip(self.repeats.of.get(&index));
        repeat.map(|(marks, repeat)| self.module.marked(marks, *repeat)).transpose()
    }

    fn fill(&mut self, (index, event): (usize, &Event<'ctx>), place: Opened<'ctx>, sharing: Sharing) -> Emitted<()> {
        let b = &self.module.builder;
        // Both ways, the builder takes over the location of the access: a debugger that stops in the code for it
        // shows its line.
        let at = crate::llvm::debug::of(event.inst);
        let tail = match place {
            Opened::Before(point) => {
                b.position_before(&point);
                None
            }
            Opened::Instead(branch, tail) => {
                let head = branch.get_parent().ok_or(PassError::Invalid("instruction without block".into()))?;
                self.module.reopen(head)?;
                if let Some(settled) = self.settled.get(&index) {
                    llvm::set_location(b, at.as_ref().map(|l| l.raw));
                    let open = self.module.block_after(head);
                    self.module.branch(*settled, tail, open, Likely::Mostly)?;
                    b.position_at_end(open);
                }
                if self.branches_to_repeat(index, event)
                    && let Some(Marked::Again(mark)) = self.marked(index)?
                {
                    llvm::set_location(b, at.as_ref().map(|l| l.raw));
                    self.module.skip_unless_marked(mark, tail)?;
                }
                Some(tail)
            }
        };
        llvm::set_location(b, at.map(|l| l.raw));
        self.action((index, event), tail, sharing)?;
        let goes_on = matches!(
            event.action,
            Action::Plain(..) | Action::Update(_) | Action::CompareExchange(_) | Action::Masked(..)
        );
        if let Some(tail) = tail.filter(|_| goes_on) {
            b.build_unconditional_branch(tail)?;
        }
        llvm::set_location(b, None);
        Ok(())
    }

    fn action(
        &mut self,
        (index, event): (usize, &Event<'ctx>),
        tail: Option<BasicBlock<'ctx>>,
        sharing: Sharing,
    ) -> Emitted<()> {
        let m = self.module;
        let site = m.site(event.site);
        match (&event.action, tail) {
            (Action::Plain(direction, access), tail) if event.worth > Worth::Call && access.is_inlined() => {
                self.inline((index, event), (*direction, access), tail, sharing)
            }
            (Action::Plain(direction, access), _) if self.style == Style::Calls => {
                m.call_in_module(*direction, access, site, self.riders.of(event))
            }
            (Action::Plain(direction, access), _) => m.call_access(*direction, access, site),
            (Action::Update(access), _) => [Direction::Read, Direction::Write]
                .into_iter()
                .try_for_each(|direction| self.part(event, (direction, access))),
            (Action::CompareExchange(access), Some(tail)) => self.compare_exchange(event, access, tail),
            (Action::Range(direction, pointer, bytes), _) => {
                let hook = match direction {
                    Direction::Read => hooks::READ_RANGE,
                    Direction::Write => hooks::WRITE_RANGE,
                };
                let arguments = [(*pointer).into(), m.widen(*bytes)?.into(), m.global_site(site)?.into()];
                m.call_beside(hook, *bytes, &arguments)
            }
            (Action::Copy(to, from, bytes), _) => {
                let arguments = [(*to).into(), (*from).into(), m.widen(*bytes)?.into(), m.global_site(site)?.into()];
                m.call_beside(hooks::COPY, *bytes, &arguments)
            }
            (Action::Masked(direction, lane, mask), tail) => {
                let left = self.ask_lanes((index, event), tail)?;
                m.masked(*direction, lane, left.map_or_else(|| m.mask_bits(*mask), Ok)?, site)
            }
            (Action::Packed(direction, pointer, lane, mask), _) => m.packed(*direction, *pointer, *lane, *mask, site),
            (Action::Scattered(direction, pointers, bytes, align, mask), tail) => {
                let left = self.ask_lanes((index, event), tail)?.map(|bits| m.lanes_of(bits)).transpose()?;
                m.scattered(*direction, *pointers, (*bytes, *align), left.unwrap_or(*mask), site, tail)
            }
            (Action::Library(effect), _) => m.library(event.inst, *effect, event.when, site),
            (Action::Allocation(allocator), _) => m.allocation(event.inst, *allocator, site),
            (Action::Creation | Action::Moves(_), _) => self.note_call(site),
            (Action::Dies(pointer, bytes, align), tail) => m.dies(&self.prologue, *pointer, *bytes, *align, tail),
            (Action::DiesWhole(pointer, count, element), _) => {
                let bytes = m.builder.build_int_mul(m.widen(*count)?, m.c64(*element), "")?;
                // Few vectors live where an array of variable length dies.
                m.call_directly(hooks::CLEAR, &[(*pointer).into(), bytes.into()]).map(drop)
            }
            (Action::CompareExchange(_), None) => Ok(()),
        }
    }

    /// Asks active lanes at once, if that is worth it; goes on with those that are not settled.
    fn ask_lanes(
        &self,
        (index, event): (usize, &Event<'ctx>),
        tail: Option<BasicBlock<'ctx>>,
    ) -> Emitted<Option<IntValue<'ctx>>> {
        let (Some(lanes), Some(tail), m) = (self.lanes.get(&index), tail, self.module) else { return Ok(None) };
        m.ask_lanes(&self.prologue, lanes, m.site(event.site), tail)
    }

    /// The code for an access that is inlined.
    fn inline(
        &mut self,
        (index, event): (usize, &Event<'ctx>),
        (direction, access): (Direction, &Access<'ctx>),
        tail: Option<BasicBlock<'ctx>>,
        sharing: Sharing,
    ) -> Emitted<()> {
        // A group of one, or one whose members are all at one place.
        let alone = match sharing {
            Sharing::Alone => true,
            Sharing::Leads(first, end) => (first, end) == (0, access.bytes as i64),
            Sharing::Follows(leader) => !self.shifts.contains_key(&leader),
        };
        let shift = match alone && inline::looks_itself(access) {
            true => None,
            false => Some(self.shift((direction, access), index, sharing)?),
        };
        let ask = self.memos.get(&index).map_or(Ask::Events, |place| Ask::Memo(*place));
        let ask = if self.guarded.contains(&index) { Ask::Guarded } else { ask };
        if let Some(marks) = self.marks.filter(|_| self.repeats.begins.contains(&index)) {
            self.module.begin_repeats(marks)?;
        }
        let (prologue, site, repeat) = (&self.prologue, event.site.0, self.marked(index)?);
        let append = self.appends.get(&index).copied();
        let mut inlined = Inlined { prologue, access, shift, site, ask, repeat, append };
        if let Some((bundle, is_first)) = self.bundles.around(index) {
            let mark = self.bundle_marks.zip(bundle.mark);
            let mark = mark.map(|(marks, number)| self.module.offset(marks, number.into())).transpose()?;
            match mark {
                _ if is_first => return self.module.inline_bundle(&inlined, &bundle.reads, mark),
                None => return Ok(()),
                Some(mark) => {
                    if let Some(tail) = tail.filter(|_| self.branches_to_bundle(index, event)) {
                        self.module.skip_unless_marked(mark, tail)?;
                    }
                    inlined.repeat = Some(Marked::Again(mark));
                }
            }
        }
        self.access(direction, &inlined)
    }

    fn access(&self, direction: Direction, inlined: &Inlined<'_, 'ctx>) -> Emitted<()> {
        match direction {
            Direction::Read => self.module.inline_read(inlined),
            Direction::Write => self.module.inline_write(inlined),
        }
    }

    /// One of the two accesses of an instruction that reads and writes.
    fn part(&self, event: &Event<'ctx>, (direction, access): (Direction, &Access<'ctx>)) -> Emitted<()> {
        let m = self.module;
        if event.worth == Worth::Call || !access.is_inlined() {
            return m.call_access(direction, access, m.site(event.site));
        }
        let shift = match inline::looks_itself(access) {
            true => None,
            false => Some(m.shift(&self.prologue, (direction, access), None)?),
        };
        let (prologue, site) = (&self.prologue, event.site.0);
        self.access(direction, &Inlined { prologue, access, shift, site, ask: Ask::Events, repeat: None, append: None })
    }

    /// The memos are empty where a nest begins and where it ends.
    fn scopes(&self, memos: &Memos<'ctx>) -> Emitted<()> {
        let (Some(header), m) = (self.prologue.header, self.module) else { return Ok(()) };
        let at = |point: InstructionValue<'ctx>| {
            m.builder.position_before(&point);
            llvm::set_location(&m.builder, llvm::debug::of(point).map(|l| l.raw));
        };
        for scope in &memos.scopes {
            at(scope.entry);
            m.forget_memos(header, memos.is_pure, (scope.memos, true))?;
            let before = if scope.open { Some(m.open_nest(header, memos.is_pure)?) } else { None };
            for &exit in &scope.exits {
                at(exit);
                if let Some(before) = before {
                    m.builder.build_store(m.offset(header, offset::CALLED)?, before)?;
                }
                m.forget_memos(header, memos.is_pure, (scope.memos, false))?;
            }
        }
        // What a signal handler calls, or who jumped out of one, is in no nest.
        for &call in &memos.closed_calls {
            at(call);
            m.builder.build_store(m.offset(header, offset::CALLED)?, m.c64(u64::MAX))?;
        }
        llvm::set_location(&m.builder, None);
        Ok(())
    }

    /// The shift for event `index`: its own, or that of the event that leads its group.
    fn shift(
        &mut self,
        (direction, access): (Direction, &Access<'ctx>),
        index: usize,
        sharing: Sharing,
    ) -> Emitted<IntValue<'ctx>> {
        let window = match sharing {
            Sharing::Follows(leader) => match self.shifts.get(&leader) {
                Some(leader) => return Ok(*leader),
                None => None,
            },
            Sharing::Leads(first, end) => Some((first, end)),
            Sharing::Alone => None,
        };
        let shift = self.module.shift(&self.prologue, (direction, access), window)?;
        self.shifts.insert(index, shift);
        Ok(shift)
    }

    fn compare_exchange(&mut self, event: &Event<'ctx>, access: &Access<'ctx>, tail: BasicBlock<'ctx>) -> Emitted<()> {
        let m = self.module;
        let exchanged = llvm::result(event.inst).into_struct_value();
        debug_assert!(exchanged.get_type().count_fields() == 2, "cmpxchg gives {{value, success}}");
        let success = m.builder.build_extract_value(exchanged.as_aggregate_value_enum(), 1, "")?.into_int_value();
        self.part(event, (Direction::Read, access))?;
        let write = m.block_after(m.here()?);
        m.branch(success, write, tail, Likely::Mostly)?;
        m.builder.position_at_end(write);
        self.part(event, (Direction::Write, access))
    }

    /// The runtime asks the thread where it is.
    fn note_call(&self, site: Site<'ctx>) -> Emitted<()> {
        let header = self.prologue.header.ok_or(PassError::Invalid("no header".into()))?;
        let number = self.module.global_site(site)?;
        self.module.builder.build_store(self.module.offset(header, offset::CALL_SITE)?, number)?;
        Ok(())
    }
}

/// Whether a read with a mark is skipped by a branch: the assembly of those with many cells does not do it.
fn needs_branch(event: &Event<'_>) -> bool {
    matches!(event.action, Action::Plain(_, access) if !inline::looks_at_mark(&access))
}

fn needs_control_block(plan: &Plan<'_>, style: Style, tables: &Tables, found: &Optimised<'_>) -> bool {
    let memos = &found.memos;
    let inlines = |access: &Access<'_>, event: &Event<'_>| event.worth > Worth::Call && access.is_inlined();
    let needs = |event: &Event<'_>| match &event.action {
        Action::Plain(_, access) | Action::Update(access) | Action::CompareExchange(access) => inlines(access, event),
        Action::Dies(_, bytes, _) => style == Style::Inline && super::lifetime::is_inlined(*bytes),
        Action::Creation | Action::Moves(_) => true,
        _ => false,
    };
    let mut visited = plan.entry_region.into_iter().chain(plan.entrances.iter().map(|e| e.region));
    let nests = !memos.scopes.is_empty() || !memos.windows.called.is_empty() || !memos.closed_calls.is_empty();
    nests || !found.lanes.is_empty() || plan.events.iter().any(needs) || visited.any(|region| tables.has_site(region))
}
