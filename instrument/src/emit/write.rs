//! The inlined write, and the cold calls of reads and writes.

use super::prologue::{Prologue, WriteId};
use super::read::Exits;
use super::translate::{Shape, Translation};
use super::{Emitted, Likely, ModuleEmitter, Site};
use crate::access::{Access, Direction, powers};
use crate::error::PassError;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{InstructionValue, IntValue};
use threadtalk_abi::{GRANULE, hooks};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A write; all ways end at the exits. `guarded`: what is not the thread's own is left to the runtime, which may
    /// have to forget windows.
    pub fn write(
        &self,
        prologue: &Prologue<'ctx>,
        access: &Access<'ctx>,
        translation: &Translation<'ctx>,
        site: Site<'ctx>,
        exits: Exits<'ctx>,
        guarded: bool,
    ) -> Emitted<()> {
        // Before the branch: instruction selection shares it with other writes of the same line only if it dominates
        // them.
        let b = &self.builder;
        let id = self.id_of_writes(prologue)?;
        let id = b.build_int_add(id, site.number(), "")?;
        match Shape::of(access.bytes, access.align).cells {
            1 => {
                self.require_cells(translation, exits.slow)?;
                self.require_own(prologue, translation, 1, (guarded, exits.slow))?;
                self.relaxed(b.build_store(translation.cells, id)?, 4);
            }
            2 => {
                let both = self.in_both_halves(id)?;
                self.require_cells(translation, exits.slow)?;
                self.require_own(prologue, translation, 2, (guarded, exits.slow))?;
                let store = b.build_store(translation.cells, both)?;
                if access.align >= 8 { self.relaxed(store, 8) } else { granule_aligned(store) }
            }
            lanes => {
                let all: Vec<_> =
                    powers(lanes.into()).map(|(_, part)| self.splat(id, part as u32)).collect::<Emitted<_>>()?;
                self.require_cells(translation, exits.slow)?;
                self.require_own(prologue, translation, lanes, (guarded, exits.slow))?;
                for ((first, _), part) in powers(lanes.into()).zip(all) {
                    granule_aligned(b.build_store(self.offset(translation.cells, first * GRANULE)?, part)?);
                }
            }
        }
        if let Some(last) = translation.last {
            self.relaxed(b.build_store(last.cell, id)?, 4);
        }
        b.build_unconditional_branch(exits.done)?;
        Ok(())
    }

    /// If the write is guarded: branches to `slow` unless its cells are the thread's own; goes on in a new block.
    fn require_own(
        &self,
        prologue: &Prologue<'ctx>,
        translation: &Translation<'ctx>,
        cells: u32,
        (guarded, slow): (bool, BasicBlock<'ctx>),
    ) -> Emitted<()> {
        if !guarded {
            return Ok(());
        }
        let b = &self.builder;
        let (base, foreign) = prologue.own.ok_or(PassError::Invalid("no own range".into()))?;
        let any = match cells {
            1 => {
                let cell = b.build_load(self.i32, translation.cells, "")?.into_int_value();
                self.relaxed_value(cell, 4);
                self.foreign_bits(cell, base, foreign)?
            }
            2 => {
                let (base, foreign) = prologue.own_pair.ok_or(PassError::Invalid("no own pair".into()))?;
                let both = b.build_load(self.i64, translation.cells, "")?.into_int_value();
                super::read::granule_aligned(both);
                self.foreign_bits(both, base, foreign)?
            }
            lanes => self.foreign_lanes(translation.cells, lanes, (base, foreign))?.1,
        };
        let mut own = self.compare(IntPredicate::EQ, any, any.get_type().const_zero())?;
        if let Some(last) = translation.last {
            let cell = b.build_load(self.i32, last.cell, "")?.into_int_value();
            self.relaxed_value(cell, 4);
            let bits = self.foreign_bits(cell, base, foreign)?;
            own = b.build_and(own, self.compare(IntPredicate::EQ, bits, self.c32(0))?, "")?;
        }
        let next = self.block_after(self.here()?);
        self.branch(own, next, slow, Likely::Usually)?;
        b.position_at_end(next);
        Ok(())
    }

    /// A cold block that calls the hook of a write and branches to `done`: what the inlined code did not do, the
    /// function for such writes could not do either.
    pub fn write_call(
        &self,
        access: &Access<'ctx>,
        site: Site<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Emitted<BasicBlock<'ctx>> {
        self.cold_block(done, || match hooks::write(access.bytes) {
            Some(hook) => self.call(hook, &[access.pointer.into(), self.global_site(site)?.into()]).map(drop),
            None => self.call_access(Direction::Write, access, site),
        })
    }

    /// A cold block that calls the function for a read, or those for its parts, and branches to `done`.
    pub fn read_call(
        &self,
        access: &Access<'ctx>,
        site: Site<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Emitted<BasicBlock<'ctx>> {
        self.cold_block(done, || {
            for (first, bytes) in powers(access.bytes) {
                let pointer = if first == 0 { access.pointer } else { self.offset(access.pointer, first)? };
                let align = access.align.min(1 << first.trailing_zeros().min(63));
                self.call_access(Direction::Read, &Access { pointer, bytes, align }, site)?;
            }
            Ok(())
        })
    }

    /// A block beside the one that is being written, with what `emit` puts there, which branches to `done`.
    fn cold_block(&self, done: BasicBlock<'ctx>, emit: impl FnOnce() -> Emitted<()>) -> Emitted<BasicBlock<'ctx>> {
        let here = self.here()?;
        let function = here.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let slow = self.context.append_basic_block(function, "");
        self.builder.position_at_end(slow);
        emit()?;
        self.builder.build_unconditional_branch(done)?;
        self.builder.position_at_end(here);
        Ok(slow)
    }

    /// What the function's writes leave in cells, before their sites are added.
    pub fn id_of_writes(&self, prologue: &Prologue<'ctx>) -> Emitted<IntValue<'ctx>> {
        match prologue.write_id {
            Some(WriteId::Slot(slot)) => Ok(self.builder.build_load(self.i32, slot, "")?.into_int_value()),
            Some(WriteId::Value(id)) => Ok(id),
            None => Err(PassError::Invalid("no write id".into())),
        }
    }

    /// Calls the function or hook for an access of known size.
    pub fn call_access(&self, direction: Direction, access: &Access<'ctx>, site: Site<'ctx>) -> Emitted<()> {
        if hooks::read(access.bytes).is_some() {
            return self.call_access_function(direction, access, site);
        }
        let hook = match direction {
            Direction::Read => hooks::READ_RANGE,
            Direction::Write => hooks::WRITE_RANGE,
        };
        let arguments = [access.pointer.into(), self.c64(access.bytes).into(), self.global_site(site)?.into()];
        self.call(hook, &arguments).map(drop)
    }
}

/// Cells of several granules are aligned as one.
pub(super) fn granule_aligned(store: InstructionValue<'_>) {
    let set = store.set_alignment(4);
    debug_assert!(set.is_ok(), "a store has an alignment");
}
