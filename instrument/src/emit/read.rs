//! The inlined read.

use super::prologue::Prologue;
use super::translate::{Shape, Translation};
use super::{Emitted, Likely, ModuleEmitter};
use crate::access::{Access, Direction};
use crate::error::PassError;
use crate::tables::SiteId;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{IntValue, VectorValue};
use std::mem::offset_of;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::{EVENT_SITE_FACTOR, EVENT_SLOTS, offset};

/// Where the pieces of a sequence go.
#[derive(Clone, Copy)]
pub struct Exits<'ctx> {
    /// The cold call.
    pub slow: BasicBlock<'ctx>,
    /// Done.
    pub done: BasicBlock<'ctx>,
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A read; the builder is at the end of an open block and is left at the end of another that needs a terminator, unless
    /// `done` is given: then the sequence ends by branching there.
    pub fn read(
        &self,
        prologue: &Prologue<'ctx>,
        access: &Access<'ctx>,
        translation: &Translation<'ctx>,
        site: SiteId,
        done: BasicBlock<'ctx>,
    ) -> Emitted<()> {
        let exits = Exits { slow: self.slow_call(Direction::Read, access, site, done)?, done };
        self.require_cells(translation, exits.slow)?;
        let shape = Shape::of(access.bytes, access.align);
        match shape.cells {
            1 => {
                let cell = self.builder.build_load(self.i32, translation.cells, "")?.into_int_value();
                self.relaxed_value(cell, 4);
                self.own_or_event(prologue, cell, 1, site, exits)
            }
            2 => self.read_two(prologue, translation, access.align >= 8, site, exits),
            lanes => self.read_lanes(prologue, translation, lanes, site, exits),
        }
    }

    /// Two cells in one load. Both the same: as one. Otherwise both may still be this thread's, from two lines.
    fn read_two(
        &self,
        prologue: &Prologue<'ctx>,
        translation: &Translation<'ctx>,
        aligned: bool,
        site: SiteId,
        exits: Exits<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let both = b.build_load(self.i64, translation.cells, "")?.into_int_value();
        if aligned {
            self.relaxed_value(both, 8);
        } else if let Some(load) = both.as_instruction() {
            let set = load.set_alignment(4);
            debug_assert!(set.is_ok(), "a load has an alignment");
        }
        let low = b.build_int_truncate(both, self.i32, "")?;
        let high = b.build_int_truncate(b.build_right_shift(both, self.c64(32), false, "")?, self.i32, "")?;
        let same = self.compare(IntPredicate::EQ, low, high)?;
        let here = self.here()?;
        let equal = self.block_after(here);
        let mixed = self.block_after(equal);
        self.branch(same, equal, mixed, Likely::Mostly)?;
        b.position_at_end(mixed);
        let both_own = b.build_and(self.is_own(prologue, low)?, self.is_own(prologue, high)?, "")?;
        self.branch(both_own, exits.done, exits.slow, Likely::Mostly)?;
        b.position_at_end(equal);
        self.own_or_event(prologue, low, 2, site, exits)
    }

    /// Four cells or more in one vector.
    fn read_lanes(
        &self,
        prologue: &Prologue<'ctx>,
        translation: &Translation<'ctx>,
        lanes: u32,
        site: SiteId,
        exits: Exits<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let (base, span) = prologue.own_lanes.ok_or(PassError::Invalid("no own lanes".into()))?;
        let ty = self.i32.vec_type(lanes);
        let loaded = b.build_load(ty, translation.cells, "")?;
        if let Some(load) = inkwell::values::BasicValue::as_instruction_value(&loaded) {
            let set = load.set_alignment(4);
            debug_assert!(set.is_ok(), "a load has an alignment");
        }
        let cells = loaded.into_vector_value();
        let distance = b.build_int_sub(cells, self.splat(base, lanes)?, "")?;
        let own = b.build_int_compare(IntPredicate::SLT, distance, self.splat(span, lanes)?, "")?;
        let check = self.block_after(self.here()?);
        self.branch(self.all(own)?, exits.done, check, Likely::Mostly)?;
        b.position_at_end(check);
        let first = b.build_extract_element(cells, self.c32(0), "")?.into_int_value();
        let equal = b.build_int_compare(IntPredicate::EQ, cells, self.splat(first, lanes)?, "")?;
        let event = self.block_after(check);
        self.branch(self.all(equal)?, event, exits.slow, Likely::Mostly)?;
        b.position_at_end(event);
        self.count_event(prologue, first, lanes, site, exits)
    }

    /// `count` cells with the same content.
    fn own_or_event(
        &self,
        prologue: &Prologue<'ctx>,
        cell: IntValue<'ctx>,
        count: u32,
        site: SiteId,
        exits: Exits<'ctx>,
    ) -> Emitted<()> {
        let own = self.is_own(prologue, cell)?;
        let check = self.block_after(self.here()?);
        self.branch(own, exits.done, check, Likely::Mostly)?;
        self.builder.position_at_end(check);
        self.count_event(prologue, cell, count, site, exits)
    }

    fn is_own(&self, prologue: &Prologue<'ctx>, cell: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let (base, span) = prologue.own.ok_or(PassError::Invalid("no own range".into()))?;
        self.compare(IntPredicate::ULT, self.builder.build_int_sub(cell, base, "")?, span)
    }

    /// The event cache: if this read is known there, counts it.
    fn count_event(
        &self,
        prologue: &Prologue<'ctx>,
        cell: IntValue<'ctx>,
        count: u32,
        site: SiteId,
        exits: Exits<'ctx>,
    ) -> Emitted<()> {
        let header = prologue.header.ok_or(PassError::Invalid("no header".into()))?;
        let b = &self.builder;
        let events = self.load_constant(self.ptr, header, offset::EVENTS, "")?.into_pointer_value();
        let number = self.widen(self.global_site(site)?)?;
        let high = b.build_left_shift(number, self.c64(32), "")?;
        let key = b.build_or(high, self.widen(cell)?, "")?;
        let salt = self.load_base(offset_of!(ModuleBases, site_salt))?;
        let own_salt = self.c32(site.0.wrapping_mul(EVENT_SITE_FACTOR));
        let mixed = b.build_int_add(b.build_int_add(cell, salt, "")?, own_salt, "")?;
        let index = self.widen(b.build_and(mixed, self.c32(EVENT_SLOTS as u32 - 1), "")?)?;
        let slot = self.offset_by(events, b.build_int_mul(index, self.c64(offset::SLOT_SIZE), "")?)?;
        let known = self.load_int(self.i64, slot, offset::SLOT_KEY)?;
        let hit = self.block_after(self.here()?);
        self.branch(self.compare(IntPredicate::NE, known, key)?, exits.slow, hit, Likely::Rarely)?;
        b.position_at_end(hit);
        let counter = b.build_load(self.ptr, self.offset(slot, offset::SLOT_COUNTER)?, "")?.into_pointer_value();
        let before = self.load_int(self.i64, counter, offset::COUNTER_RAR)?;
        let after = b.build_int_add(before, self.c64(u64::from(count)), "")?;
        let limit = self.load_int(self.i64, counter, offset::COUNTER_NEXT)?;
        let store = self.block_after(hit);
        self.branch(self.compare(IntPredicate::UGE, after, limit)?, exits.slow, store, Likely::Rarely)?;
        b.position_at_end(store);
        b.build_store(self.offset(counter, offset::COUNTER_RAR)?, after)?;
        b.build_unconditional_branch(exits.done)?;
        Ok(())
    }

    /// The global number of a site.
    pub fn global_site(&self, site: SiteId) -> Emitted<IntValue<'ctx>> {
        let base = self.load_base(offset_of!(ModuleBases, site_base))?;
        Ok(self.builder.build_int_add(base, self.c32(site.0), "")?)
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
