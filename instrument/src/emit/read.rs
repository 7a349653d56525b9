//! Reads in the archive's functions, as [`threadtalk_abi::thread`] describes them; those in the program's code are in
//! [`super::inline`]. What comes after the own test: the event cache here, memos in [`super::memos`].

use super::memos::Known;
use super::prologue::Prologue;
use super::translate::{Shape, Translation};
use super::{Emitted, Likely, ModuleEmitter, Site};
use crate::access::Access;
use crate::error::PassError;
use crate::llvm;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use std::mem::offset_of;
use threadtalk_abi::GRANULE;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::{EVENT_SITE_FACTOR, EVENT_SLOTS, QUIETS, offset};

/// Where the pieces of a sequence go.
#[derive(Clone, Copy)]
pub struct Exits<'ctx> {
    /// The cold call.
    pub slow: BasicBlock<'ctx>,
    /// The cold call for cells in different states.
    pub mixed: BasicBlock<'ctx>,
    /// Done.
    pub done: BasicBlock<'ctx>,
}

/// What becomes of a state that the event cache knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail<'ctx> {
    /// The read is counted.
    Events,
    /// And the memo takes it over, with its share of what may be counted: behind reads with memos.
    Refill(PointerValue<'ctx>, IntValue<'ctx>),
}

/// A read to be emitted.
#[derive(Clone, Copy)]
pub struct Read<'p, 'ctx> {
    /// The function's values.
    pub prologue: &'p Prologue<'ctx>,
    /// What is read.
    pub access: &'p Access<'ctx>,
    /// Where its cells are.
    pub translation: &'p Translation<'ctx>,
    /// Where in the source.
    pub site: Site<'ctx>,
    /// Where to go on.
    pub exits: Exits<'ctx>,
}

/// A counter that need not be asked yet.
pub(super) struct NotDue<'ctx> {
    before: IntValue<'ctx>,
    after: IntValue<'ctx>,
    next: IntValue<'ctx>,
}

impl<'ctx> NotDue<'ctx> {
    /// How many it may get, from what it had, before it is asked.
    pub(super) fn until(&self, module: &ModuleEmitter<'_, 'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &module.builder;
        Ok(b.build_int_sub(b.build_int_sub(self.next, self.before, "")?, module.c64(1), "")?)
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A read; the builder is at the end of an open block. All ways end at the exits.
    ///
    /// Where there are no cells, the program's data are taken for them: what it is about to read, so it can be read.
    /// If they look like own ids, the read is done, and rightly so: nobody has written there, and it is no event. If
    /// not, the event cache must not be asked with them.
    pub fn read(&self, read: &Read<'_, 'ctx>, detail: Detail<'ctx>) -> Emitted<()> {
        match Shape::of(read.access.bytes, read.access.align).cells {
            1 => self.read_one(read, detail),
            2 => self.read_two(read, detail),
            4 => self.read_four(read, detail),
            lanes => self.read_lanes(read, lanes, detail),
        }
    }

    fn read_one(&self, read: &Read<'_, 'ctx>, detail: Detail<'ctx>) -> Emitted<()> {
        let cell = self.builder.build_load(self.i32, read.translation.cells, "")?.into_int_value();
        self.relaxed_value(cell, 4);
        let (base, foreign) = read.prologue.own.ok_or(PassError::Invalid("no own range".into()))?;
        let (last, others) =
            self.with_last(read.prologue, read.translation, self.foreign_bits(cell, base, foreign)?)?;
        self.leave_if_own(read, others, Some(cell), detail)?;
        self.equal_event(read, (cell, None, last), detail)
    }

    /// Two cells in one load.
    fn read_two(&self, read: &Read<'_, 'ctx>, detail: Detail<'ctx>) -> Emitted<()> {
        let both = self.load_pair(read.translation.cells, read.access.align)?;
        let (base, foreign) = read.prologue.own_pair.ok_or(PassError::Invalid("no own pair".into()))?;
        let (last, others) =
            self.with_last(read.prologue, read.translation, self.foreign_bits(both, base, foreign)?)?;
        self.leave_if_own(read, others, Some(both), detail)?;
        let (low, high) = self.halves(both)?;
        self.equal_event(read, (low, Some(self.compare(IntPredicate::EQ, low, high)?), last), detail)
    }

    /// Four cells in two loads: without vector registers, which would have to be kept for the caller.
    fn read_four(&self, read: &Read<'_, 'ctx>, detail: Detail<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let ([first, second], others) = self.foreign_pairs(read.prologue, read.translation.cells, read.access.align)?;
        let (last, others) = self.with_last(read.prologue, read.translation, others)?;
        self.leave_if_own(read, others, None, detail)?;
        let (low, high) = self.halves(first)?;
        let halves = self.compare(IntPredicate::EQ, low, high)?;
        let equal = b.build_and(self.compare(IntPredicate::EQ, first, second)?, halves, "")?;
        self.equal_event(read, (low, Some(equal), last), detail)
    }

    /// Eight cells or more in vectors.
    fn read_lanes(&self, read: &Read<'_, 'ctx>, lanes: u32, detail: Detail<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let own = read.prologue.own.ok_or(PassError::Invalid("no own range".into()))?;
        let (parts, others) = self.foreign_parts(read.translation.cells, lanes, own)?;
        let any = self.intrinsic("llvm.vector.reduce.or", &[others.get_type().into()], &[others.into()])?;
        let any = any.into_int_value();
        let (last, others) = self.with_last(read.prologue, read.translation, any)?;
        self.leave_if_own(read, others, None, detail)?;
        let first = b.build_extract_element(parts[0], self.c32(0), "")?.into_int_value();
        self.equal_event(read, (first, Some(self.all_are(&parts, first)?), last), detail)
    }

    /// Whether all cells have one content.
    fn all_are(&self, parts: &[VectorValue<'ctx>], cell: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let mut all: Option<VectorValue<'ctx>> = None;
        for part in parts {
            let content = self.splat(cell, part.get_type().get_size())?;
            let equal = b.build_int_compare(IntPredicate::EQ, *part, content, "")?;
            all = Some(all.map(|all| b.build_and(all, equal, "")).transpose()?.unwrap_or(equal));
        }
        self.all(all.ok_or(PassError::Invalid("no cells".into()))?)
    }

    /// The two cells of a number.
    pub(super) fn halves(&self, pair: IntValue<'ctx>) -> Emitted<(IntValue<'ctx>, IntValue<'ctx>)> {
        let b = &self.builder;
        let low = b.build_int_truncate(pair, self.i32, "")?;
        let high = b.build_right_shift(pair, self.c64(32), false, "")?;
        Ok((low, b.build_int_truncate(high, self.i32, "")?))
    }

    /// Two cells in one number.
    pub(super) fn load_pair(&self, cells: PointerValue<'ctx>, align: u64) -> Emitted<IntValue<'ctx>> {
        let both = self.builder.build_load(self.i64, cells, "")?.into_int_value();
        match align >= 8 {
            true => self.relaxed_value(both, 8),
            false => llvm::align(&both, GRANULE),
        }
        Ok(both)
    }

    /// Four cells, and the foreign bits of all of them.
    ///
    /// In two numbers: two writes of 8 bytes have often left them, the lanes of a vector that the program puts
    /// together. A load of all four would wait until both are in the cache.
    pub(super) fn foreign_pairs(
        &self,
        prologue: &Prologue<'ctx>,
        cells: PointerValue<'ctx>,
        align: u64,
    ) -> Emitted<([IntValue<'ctx>; 2], IntValue<'ctx>)> {
        let b = &self.builder;
        let (base, foreign) = prologue.own_pair.ok_or(PassError::Invalid("no own pair".into()))?;
        let first = self.load_pair(cells, align)?;
        let second = self.load_pair(self.offset(cells, 2 * GRANULE)?, align)?;
        let differ = b.build_or(b.build_xor(first, base, "")?, b.build_xor(second, base, "")?, "")?;
        Ok(([first, second], b.build_and(differ, foreign, "")?))
    }

    /// A thread's ids are those that differ from its first one in no bit of `foreign`: 0 if all cells are its own; for
    /// one cell or two in one number.
    pub(super) fn foreign_bits(
        &self,
        cells: IntValue<'ctx>,
        base: IntValue<'ctx>,
        foreign: IntValue<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        Ok(self.builder.build_and(self.builder.build_xor(cells, base, "")?, foreign, "")?)
    }

    /// Adds the last cell of a ragged access to the foreign bits of the others; also gives its content.
    pub(super) fn with_last(
        &self,
        prologue: &Prologue<'ctx>,
        translation: &Translation<'ctx>,
        others: IntValue<'ctx>,
    ) -> Emitted<(Option<IntValue<'ctx>>, IntValue<'ctx>)> {
        let Some(last) = translation.last else { return Ok((None, others)) };
        let b = &self.builder;
        let cell = b.build_load(self.i32, last.cell, "")?.into_int_value();
        self.relaxed_value(cell, 4);
        let (base, foreign) = prologue.own.ok_or(PassError::Invalid("no own range".into()))?;
        let bits = self.foreign_bits(cell, base, foreign)?;
        let bits = if others.get_type() == self.i64 { self.widen(bits)? } else { bits };
        Ok((Some(cell), b.build_or(others, bits, "")?))
    }

    /// Counts an event of cells that all have the content `cell`: those that `equal` compared, and the last one.
    fn equal_event(
        &self,
        read: &Read<'_, 'ctx>,
        (cell, equal, last): (IntValue<'ctx>, Option<IntValue<'ctx>>, Option<IntValue<'ctx>>),
        detail: Detail<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let last = last.map(|last| self.compare(IntPredicate::EQ, last, cell)).transpose()?;
        let equal = match (equal, last) {
            (Some(equal), Some(last)) => Some(b.build_and(equal, last, "")?),
            (equal, last) => equal.or(last),
        };
        if let Some(equal) = equal {
            let event = self.block_after(self.here()?);
            self.branch(b.build_not(equal, "")?, read.exits.mixed, event, Likely::Rarely)?;
            b.position_at_end(event);
        }
        self.count_event(read, cell, self.granules(read)?, detail)
    }

    /// How many granules are read.
    pub(super) fn granules(&self, read: &Read<'_, 'ctx>) -> Emitted<IntValue<'ctx>> {
        let count = self.c64(u64::from(Shape::of(read.access.bytes, read.access.align).cells));
        match read.translation.last {
            Some(last) => Ok(self.builder.build_int_add(count, last.more, "")?),
            None => Ok(count),
        }
    }

    /// Own values are done; for the rest goes on in a new block. `cells`: one or two in one number, which may be in a
    /// state that the thread knows to be quiet.
    fn leave_if_own(
        &self,
        read: &Read<'_, 'ctx>,
        others: IntValue<'ctx>,
        cells: Option<IntValue<'ctx>>,
        detail: Detail<'ctx>,
    ) -> Emitted<()> {
        let own = self.compare(IntPredicate::EQ, others, others.get_type().const_zero())?;
        // A memo that sees quiet values all the time takes their state over, if it is not settled here.
        let asks = detail == Detail::Events && read.translation.last.is_none();
        let check = self.block_after(self.here()?);
        self.branch(own, read.exits.done, check, Likely::Mostly)?;
        self.builder.position_at_end(check);
        if let (Some(cells), Some(header), true) = (cells, read.prologue.header, asks) {
            let equal = self.is_quiet(header, cells)?;
            let counted = self.block_after(check);
            self.branch(equal, read.exits.done, counted, Likely::Mostly)?;
            self.builder.position_at_end(counted);
        }
        let mapped = self.block_after(self.here()?);
        let unmapped = self.compare(IntPredicate::EQ, read.translation.shift, self.c64(0))?;
        self.branch(unmapped, read.exits.slow, mapped, Likely::Rarely)?;
        self.builder.position_at_end(mapped);
        Ok(())
    }

    /// Whether the thread knows that reads of the state of one cell, or of two in one number, are no events.
    pub(super) fn is_quiet(&self, header: PointerValue<'ctx>, cells: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let place = self.builder.build_and(self.widen(cells)?, self.c64(QUIETS as u64 - 1), "")?;
        let place = self.builder.build_int_mul(place, self.c64(8), "")?;
        let known = self.load_int(cells.get_type(), self.offset_by(header, place)?, offset::QUIETS)?;
        self.compare(IntPredicate::EQ, cells, known)
    }

    /// Where the event cache counts reads at a site of cells in this state; goes on at `slow` if it does not know it.
    pub(super) fn known_event(
        &self,
        prologue: &Prologue<'ctx>,
        (cell, site): (IntValue<'ctx>, Site<'ctx>),
        slow: BasicBlock<'ctx>,
    ) -> Emitted<PointerValue<'ctx>> {
        let header = prologue.header.ok_or(PassError::Invalid("no header".into()))?;
        let b = &self.builder;
        let events = b.build_load(self.ptr, self.offset(header, offset::EVENTS)?, "")?.into_pointer_value();
        let number = self.widen(self.global_site(site)?)?;
        let high = b.build_left_shift(number, self.c64(32), "")?;
        let key = b.build_or(high, self.widen(cell)?, "")?;
        let own_salt = b.build_int_mul(site.number(), self.c32(EVENT_SITE_FACTOR), "")?;
        let salted = match site {
            Site::InModule(_) => b.build_int_add(cell, self.load_base(offset_of!(ModuleBases, site_salt))?, "")?,
            Site::Global(_) => cell,
        };
        let mixed = b.build_int_add(salted, own_salt, "")?;
        let index = self.widen(b.build_and(mixed, self.c32(EVENT_SLOTS as u32 - 1), "")?)?;
        let slot = self.offset_by(events, b.build_int_mul(index, self.c64(offset::SLOT_SIZE), "")?)?;
        let known = self.load_int(self.i64, slot, offset::SLOT_KEY)?;
        self.leave_if(self.compare(IntPredicate::NE, known, key)?, slow)?;
        Ok(b.build_load(self.ptr, self.offset(slot, offset::SLOT_COUNTER)?, "")?.into_pointer_value())
    }

    /// The event cache: if this read is known there, counts it.
    fn count_event(
        &self,
        read: &Read<'_, 'ctx>,
        cell: IntValue<'ctx>,
        count: IntValue<'ctx>,
        detail: Detail<'ctx>,
    ) -> Emitted<()> {
        let (at, exits) = ((cell, read.site), read.exits);
        let Detail::Refill(memo, share) = detail else {
            return self.count_known(read.prologue, at, count, (exits.slow, exits.done));
        };
        let counter = self.known_event(read.prologue, at, exits.slow)?;
        let states = self.in_both_halves(cell)?;
        let known = Known { states: [states; 2], counter, second: None };
        self.refill((memo, share), (&known, count), exits)
    }

    /// Counts `count` granules in the event cache, if it knows reads at this site of cells in this state.
    pub(super) fn count_known(
        &self,
        prologue: &Prologue<'ctx>,
        at: (IntValue<'ctx>, Site<'ctx>),
        count: IntValue<'ctx>,
        (slow, done): (BasicBlock<'ctx>, BasicBlock<'ctx>),
    ) -> Emitted<()> {
        let counter = self.known_event(prologue, at, slow)?;
        let counted = self.not_due(counter, count, slow)?;
        self.builder.build_store(self.offset(counter, offset::COUNTER_RAR)?, counted.after)?;
        self.builder.build_unconditional_branch(done)?;
        Ok(())
    }

    /// A counter that gets `count` more without being asked; goes on at `slow` if it has to be.
    pub(super) fn not_due(
        &self,
        counter: PointerValue<'ctx>,
        count: IntValue<'ctx>,
        slow: BasicBlock<'ctx>,
    ) -> Emitted<NotDue<'ctx>> {
        let before = self.load_int(self.i64, counter, offset::COUNTER_RAR)?;
        let after = self.builder.build_int_add(before, count, "")?;
        let next = self.load_int(self.i64, counter, offset::COUNTER_NEXT)?;
        self.leave_if(self.compare(IntPredicate::UGE, after, next)?, slow)?;
        Ok(NotDue { before, after, next })
    }

    /// The global number of a site.
    pub fn global_site(&self, site: Site<'ctx>) -> Emitted<IntValue<'ctx>> {
        match site {
            Site::Global(number) => Ok(number),
            Site::InModule(index) => {
                let base = self.load_base(offset_of!(ModuleBases, site_base))?;
                Ok(self.builder.build_int_add(base, index, "")?)
            }
        }
    }

    /// The block that the builder is in.
    pub fn here(&self) -> Emitted<BasicBlock<'ctx>> {
        self.builder.get_insert_block().ok_or(PassError::Invalid("builder has no place".into()))
    }

    /// Whether all lanes are true.
    fn all(&self, lanes: VectorValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        Ok(self.intrinsic("llvm.vector.reduce.and", &[lanes.get_type().into()], &[lanes.into()])?.into_int_value())
    }
}
