//! What comes before a question in a nest: the loop looks into its windows ([`threadtalk_abi::window`]).

use super::assembly::Assembly;
use super::prologue::Prologue;
use super::{Emitted, Likely, ModuleEmitter};
use crate::access::Direction;
use crate::error::PassError;
use crate::llvm;
use crate::optimise::whole_loops::Offer;
use crate::optimise::windows::{Group, to_be_compared};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, InstructionValue, IntValue, PointerValue};
use std::mem::offset_of;
use threadtalk_abi::GRANULE;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::offset;
use threadtalk_abi::window::{
    self, APART, ASTRIDE, LINE_SHIFT, NUMBERS, PAGE_SHIFT, SHORTEST_ASKED, SPREAD, WINDOWS_LOG2,
};

/// How a loop looks into its windows.
pub struct Looking<'ctx> {
    /// What it asks if it does not find them.
    pub question: InstructionValue<'ctx>,
    /// Only while a nest runs that calls the function.
    pub called: bool,
    /// Other functions have loops in the nest.
    pub keyed: bool,
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Puts a look into the windows before a loop's question.
    pub fn look(
        &self,
        prologue: &Prologue<'ctx>,
        offer: &Offer<'ctx>,
        groups: &[Group<'ctx>],
        looking: Looking<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let header = prologue.header.ok_or(PassError::Invalid("no header".into()))?;
        let block = |inst: InstructionValue<'ctx>| inst.get_parent().ok_or(PassError::Invalid("no block".into()));
        let (here, ask) = (block(offer.branch)?, block(looking.question)?);
        let decision = ask.get_terminator().ok_or(PassError::Invalid("a question without a decision".into()))?;
        let [plain, hooked] = llvm::successors_of(decision)[..] else {
            return Err(PassError::Invalid("a decision has two ways".into()));
        };
        let enter = self.hooked_entry(header, offer, groups, hooked)?;
        llvm::redirect_other(decision, enter);
        let look = self.block_after(here);
        let count = self.block_after(look);
        b.position_before(&offer.branch);
        let shortest = if looking.called { offset::CALLED } else { offset::SHORTEST };
        let in_nest = self.compare(IntPredicate::UGE, offer.iterations, self.load_int(self.i64, header, shortest)?)?;
        llvm::redirect(offer.branch, self.if_feasible(offer, in_nest)?, look);
        // No window is looked for: it may be asked about all the same.
        let alone = self.block_after(here);
        llvm::redirect_other(offer.branch, alone);
        b.position_at_end(alone);
        llvm::set_location(b, llvm::debug::of(offer.branch).map(|l| l.raw));
        let asked = self.is_asked(header, offer)?;
        b.build_conditional_branch(self.if_feasible(offer, asked)?, ask, enter)?;

        b.position_at_end(look);
        llvm::set_location(b, llvm::debug::of(offer.branch).map(|l| l.raw));
        let mut all: Option<IntValue<'ctx>> = None;
        let mut windows = Vec::new();
        for (group, number) in groups.iter().zip(offer.number as u64..) {
            let window = self.find_window(header, group, (number, looking.keyed), offer.iterations)?;
            let found = b.build_is_not_null(window, "")?;
            all = Some(all.map(|others| b.build_and(others, found, "")).transpose()?.unwrap_or(found));
            windows.push(window);
        }
        let mut all = all.ok_or(PassError::Invalid("a loop without accesses".into()))?;
        for (one, other) in to_be_compared(groups) {
            let ((from, to), (other_from, other_to)) =
                (self.range(one, offer.iterations)?, self.range(other, offer.iterations)?);
            let below = self.compare(IntPredicate::ULE, to, other_from)?;
            let above = self.compare(IntPredicate::ULE, other_to, from)?;
            all = b.build_and(all, b.build_or(below, above, "")?, "")?;
        }
        self.branch(all, count, ask, Likely::Usually)?;

        b.position_at_end(count);
        self.count_windows(offer, groups, &windows)?;
        let saved = self.saved(offer)?;
        let settled = b.build_int_add(self.load_int(self.i64, header, offset::SETTLED)?, saved, "")?;
        b.build_store(self.offset(header, offset::SETTLED)?, settled)?;
        for (group, window) in groups.iter().zip(&windows).filter(|(g, _)| !g.writes.is_empty()) {
            self.fill_window(prologue, group, *window, offer.iterations)?;
        }
        b.build_unconditional_branch(plain)?;

        llvm::set_location(b, None);
        Ok(())
    }

    /// The way to a loop with hooks: forgets all windows if its writes may reach one with events.
    fn hooked_entry(
        &self,
        header: PointerValue<'ctx>,
        offer: &Offer<'ctx>,
        groups: &[Group<'ctx>],
        hooked: BasicBlock<'ctx>,
    ) -> Emitted<BasicBlock<'ctx>> {
        if groups.iter().all(|g| g.writes.is_empty()) {
            return Ok(hooked);
        }
        let b = &self.builder;
        let enter = self.context.prepend_basic_block(hooked, "");
        b.position_at_end(enter);
        llvm::set_location(b, llvm::debug::of(offer.branch).map(|l| l.raw));
        // Nothing else is asked where there are no windows with events.
        let end = self.load_int(self.i64, header, offset::EVENTS_END)?;
        let some = self.compare(IntPredicate::NE, end, self.c64(0))?;
        let compare = self.block_after(enter);
        self.branch(some, compare, hooked, Likely::Rarely)?;
        b.position_at_end(compare);
        let first = self.load_int(self.i64, header, offset::EVENTS_FIRST)?;
        // If it is not what its description says, its writes may reach anything.
        let mut any = match offer.feasible {
            Some(feasible) => b.build_not(feasible, "")?,
            None => self.context.bool_type().const_zero(),
        };
        for group in groups.iter().filter(|g| !g.writes.is_empty()) {
            let (from, to) = self.range(group, offer.iterations)?;
            let below = self.compare(IntPredicate::ULT, from, end)?;
            let above = self.compare(IntPredicate::ULT, first, to)?;
            any = b.build_or(any, b.build_and(below, above, "")?, "")?;
        }
        let forget = self.block_after(compare);
        self.branch(any, forget, hooked, Likely::Rarely)?;
        b.position_at_end(forget);
        let stamp = self.load_int(self.i64, header, offset::STAMP)?;
        b.build_store(self.offset(header, offset::STAMP)?, b.build_int_add(stamp, self.c64(NUMBERS), "")?)?;
        b.build_store(self.offset(header, offset::EVENTS_FIRST)?, self.c64(u64::MAX))?;
        b.build_store(self.offset(header, offset::EVENTS_END)?, self.c64(0))?;
        b.build_unconditional_branch(hooked)?;
        Ok(enter)
    }

    /// First byte and end of what a group accesses: in all iterations, or in the first one if it is strided.
    fn range(&self, group: &Group<'ctx>, iterations: IntValue<'ctx>) -> Emitted<(IntValue<'ctx>, IntValue<'ctx>)> {
        let b = &self.builder;
        let address = b.build_ptr_to_int(group.address, self.i64, "")?;
        let from = b.build_int_add(address, self.c64(group.first as u64), "")?;
        let reach = self.c64((group.end - group.first) as u64);
        if group.strided {
            return Ok((from, b.build_int_add(from, reach, "")?));
        }
        let steps = b.build_int_mul(iterations, group.stride, "")?;
        let rest = b.build_int_sub(reach, group.stride, "")?;
        Ok((from, b.build_int_add(b.build_int_add(from, steps, "")?, rest, "")?))
    }

    /// A group's window; null if it is not found, or if an event of what the loop reads there is to be sampled.
    ///
    /// One piece of assembly, as accesses are ([`super::inline`]): some twenty instructions of LLVM for each group were
    /// an eighth of what instrumenting a file of short loops added to its compile time.
    fn find_window(
        &self,
        header: PointerValue<'ctx>,
        group: &Group<'ctx>,
        (number, keyed): (u64, bool),
        iterations: IntValue<'ctx>,
    ) -> Emitted<PointerValue<'ctx>> {
        let counts = counts(group);
        let mut outputs = vec![("=&{di}", self.ptr.into())];
        if counts {
            outputs.push(("=&r", self.i64.into()));
        }
        let mut a = Assembly::new(outputs);
        let (from, to) = self.range(group, iterations)?;
        let (from, to) = (a.register(from), a.register(to));
        let shift = if group.strided { LINE_SHIFT } else { PAGE_SHIFT };
        a.line(format!("movq {from}, %rdi"));
        a.line(format!("shrq $${shift}, %rdi"));
        a.line(format!("addq $${}, %rdi", number * APART));
        a.line(format!("movabsq $${SPREAD}, %r11"));
        a.line("imulq %r11, %rdi");
        a.line(format!("shrq $${}, %rdi", 64 - WINDOWS_LOG2));
        a.line(format!("shlq $${}, %rdi", offset::WINDOW_SIZE.trailing_zeros()));
        let (table, stamp) = (a.field(header, offset::WINDOWS), a.field(header, offset::STAMP));
        a.line(format!("addq {table}, %rdi"));
        a.line(format!("movq {stamp}, %r11"));
        a.line(format!("addq $${number}, %r11"));
        for (field, value, fails) in [
            (offset::WINDOW_STAMP, "%r11", "jne"),
            (offset::WINDOW_FIRST, &from, "jb"),
            (offset::WINDOW_END, &to, "ja"),
        ] {
            a.line(format!("cmpq {field}(%rdi), {value}"));
            a.line(format!("{fails} 2f"));
        }
        let mut equal = Vec::new();
        if group.strided {
            equal.extend([(offset::WINDOW_STRIDE, group.stride), (offset::WINDOW_ITERATIONS, iterations)]);
        }
        if keyed || group.strided && !group.astride.is_empty() {
            let place = if group.strided { offset::WINDOW_CELLS } else { offset::WINDOW_GRANULES };
            equal.push((place, self.key(group)?));
        }
        for (field, value) in equal {
            let value = a.register(value);
            a.line(format!("cmpq {field}(%rdi), {value}"));
            a.line("jne 2f");
        }
        if counts {
            let granules = match group.strided {
                true => format!("{}(%rdi)", offset::WINDOW_GRANULES),
                false => a.register(self.granules_of(group, iterations)?),
            };
            a.line(format!("movq {}(%rdi), %r11", offset::WINDOW_COUNTER));
            a.line(format!("movq {granules}, ${{1:q}}"));
            a.line(format!("addq {}(%r11), ${{1:q}}", offset::COUNTER_RAR));
            a.line(format!("cmpq {}(%r11), ${{1:q}}", offset::COUNTER_NEXT));
            a.line("jae 2f");
        }
        a.line("jmp 1f");
        a.line("2:");
        a.line("xorl %edi, %edi");
        a.line("1:");
        Ok(self.assemble_for_result(a)?.into_pointer_value())
    }

    /// [`window::saved`].
    fn saved(&self, offer: &Offer<'ctx>) -> Emitted<IntValue<'ctx>> {
        let weight = window::weight(offer.accesses.len());
        if weight == 1 {
            return Ok(offer.iterations);
        }
        let b = &self.builder;
        let short = self.compare(IntPredicate::ULT, offer.iterations, self.c64(SHORTEST_ASKED))?;
        let saved = b.build_int_mul(offer.iterations, self.c64(weight), "")?;
        Ok(b.build_select(short, saved, offer.iterations, "")?.into_int_value())
    }

    /// How many granules a loop reads in a group that is not strided. Where it is wanted it is computed: a value for
    /// each group would need a register from the first look to the last count.
    fn granules_of(&self, group: &Group<'ctx>, iterations: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let mut each = self.c64(group.granules);
        for place in 0..GRANULE as i64 {
            let reads = group.astride.iter().filter(|first| (*first - place) % GRANULE as i64 == 0).count();
            if reads > 0 {
                let more = b.build_int_mul(self.is_astride(group, place)?, self.c64(reads as u64), "")?;
                each = b.build_int_add(each, more, "")?;
            }
        }
        Ok(b.build_int_mul(iterations, each, "")?)
    }

    /// 1 if what a group accesses at a distance begins inside a granule, else 0.
    fn is_astride(&self, group: &Group<'ctx>, distance: i64) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let address = b.build_ptr_to_int(group.address, self.i64, "")?;
        let first = b.build_int_add(address, self.c64(distance as u64), "")?;
        let inside = b.build_and(first, self.c64(GRANULE - 1), "")?;
        self.widen(self.compare(IntPredicate::NE, inside, self.c64(0))?)
    }

    /// What tells a group from those of other functions; and a strided one that begins inside granules from one that
    /// does not.
    fn key(&self, group: &Group<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let (site, direction) = group.site;
        let base = match direction {
            Direction::Read => offset_of!(ModuleBases, site_base),
            Direction::Write => offset_of!(ModuleBases, write_site_base),
        };
        let site = self.widen(b.build_int_add(self.load_base(base)?, self.c32(site.0), "")?)?;
        let key = b.build_or(site, self.c64(window::key(0, !group.writes.is_empty())), "")?;
        if !group.strided || group.astride.is_empty() {
            return Ok(key);
        }
        let astride = b.build_int_mul(self.is_astride(group, group.first)?, self.c64(ASTRIDE), "")?;
        Ok(b.build_or(key, astride, "")?)
    }

    /// Counts what the loop reads. Two groups may have one counter.
    fn count_windows(
        &self,
        offer: &Offer<'ctx>,
        groups: &[Group<'ctx>],
        windows: &[PointerValue<'ctx>],
    ) -> Emitted<()> {
        let b = &self.builder;
        for (group, window) in groups.iter().zip(windows).filter(|(group, _)| counts(group)) {
            let granules = match group.strided {
                true => self.load_int(self.i64, *window, offset::WINDOW_GRANULES)?,
                false => self.granules_of(group, offer.iterations)?,
            };
            let counter = self.offset(*window, offset::WINDOW_COUNTER)?;
            let counter = b.build_load(self.ptr, counter, "")?.into_pointer_value();
            let before = self.load_int(self.i64, counter, offset::COUNTER_RAR)?;
            let at = self.offset(counter, offset::COUNTER_RAR)?;
            b.build_store(at, b.build_int_add(before, granules, "")?)?;
        }
        Ok(())
    }

    /// Stores the ids that the writes of a group leave, iteration by iteration.
    fn fill_window(
        &self,
        prologue: &Prologue<'ctx>,
        group: &Group<'ctx>,
        window: PointerValue<'ctx>,
        iterations: IntValue<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let id = self.id_of_writes(prologue)?;
        let shift = self.load_int(self.i64, window, offset::WINDOW_CELLS)?;
        let address = b.build_ptr_to_int(group.address, self.i64, "")?;
        let start = llvm::frozen(b, b.build_int_add(address, shift, "")?);
        let mut ids = Vec::new();
        for write in &group.writes {
            let id = b.build_int_add(id, self.c32(write.site.0), "")?;
            ids.push((id, self.splat(id, write.bytes.div_ceil(GRANULE) as u32)?));
        }
        let before = self.here()?;
        let body = self.block_after(before);
        let done = self.block_after(body);
        b.build_unconditional_branch(body)?;
        b.position_at_end(body);
        let (at, rest) = (b.build_phi(self.i64, "")?, b.build_phi(self.i64, "")?);
        let here = at.as_basic_value().into_int_value();
        for (write, (id, ids)) in group.writes.iter().zip(ids) {
            let store = |distance: i64, ids: BasicValueEnum<'ctx>| -> Emitted<()> {
                let mut cells = b.build_int_add(here, self.c64(distance as u64), "")?;
                if !write.whole {
                    cells = b.build_and(cells, self.c64(!(GRANULE - 1)), "")?;
                }
                llvm::align(&b.build_store(b.build_int_to_ptr(cells, self.ptr, "")?, ids)?, GRANULE);
                Ok(())
            };
            store(write.first, ids.into())?;
            // What begins inside a granule ends in one more.
            if !write.whole && write.bytes >= GRANULE {
                store(write.first + write.bytes as i64 - 1, id.into())?;
            }
        }
        let next = b.build_int_add(here, group.stride, "")?;
        let less = b.build_int_sub(rest.as_basic_value().into_int_value(), self.c64(1), "")?;
        at.add_incoming(&[(&start, before), (&next, body)]);
        rest.add_incoming(&[(&iterations, before), (&less, body)]);
        b.build_conditional_branch(self.compare(IntPredicate::NE, less, self.c64(0))?, body, done)?;
        b.position_at_end(done);
        Ok(())
    }
}

/// Whether a group's reads are counted. What it writes is its thread's own, and no event.
fn counts(group: &Group<'_>) -> bool {
    group.granules > 0 && group.writes.is_empty()
}
