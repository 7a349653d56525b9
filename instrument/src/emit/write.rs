//! The inlined write, and the cold calls of reads and writes.

use super::prologue::Prologue;
use super::translate::{Shape, Translation};
use super::{Emitted, ModuleEmitter};
use crate::access::{Access, Direction};
use crate::error::PassError;
use crate::tables::SiteId;
use inkwell::basic_block::BasicBlock;
use inkwell::values::InstructionValue;
use threadtalk_abi::hooks;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A write; ends by branching to `done`.
    pub fn write(
        &self,
        prologue: &Prologue<'ctx>,
        access: &Access<'ctx>,
        translation: &Translation<'ctx>,
        site: SiteId,
        done: BasicBlock<'ctx>,
    ) -> Emitted<()> {
        let slow = self.slow_call(Direction::Write, access, site, done)?;
        self.require_cells(translation, slow)?;
        let b = &self.builder;
        let slot = prologue.write_slot.ok_or(PassError::Invalid("no write slot".into()))?;
        let id = b.build_load(self.i32, slot, "")?.into_int_value();
        let id = b.build_int_add(id, self.c32(site.0), "")?;
        match Shape::of(access.bytes, access.align).cells {
            1 => self.relaxed(b.build_store(translation.cells, id)?, 4),
            2 => {
                let id = self.widen(id)?;
                let both = b.build_or(b.build_left_shift(id, self.c64(32), "")?, id, "")?;
                let store = b.build_store(translation.cells, both)?;
                if access.align >= 8 { self.relaxed(store, 8) } else { granule_aligned(store) }
            }
            lanes => granule_aligned(b.build_store(translation.cells, self.splat(id, lanes)?)?),
        }
        b.build_unconditional_branch(done)?;
        Ok(())
    }

    /// A cold block that calls the hook for an access and branches to `done`.
    pub fn slow_call(
        &self,
        direction: Direction,
        access: &Access<'ctx>,
        site: SiteId,
        done: BasicBlock<'ctx>,
    ) -> Emitted<BasicBlock<'ctx>> {
        let here = self.here()?;
        let function = here.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let slow = self.context.append_basic_block(function, "");
        self.builder.position_at_end(slow);
        self.call_access(direction, access, site)?;
        self.builder.build_unconditional_branch(done)?;
        self.builder.position_at_end(here);
        Ok(slow)
    }

    /// Calls the hook for an access of known size.
    pub fn call_access(&self, direction: Direction, access: &Access<'ctx>, site: SiteId) -> Emitted<()> {
        let site = self.global_site(site)?.into();
        let pointer = access.pointer.into();
        let (sized, range) = match direction {
            Direction::Read => (hooks::read(access.bytes), hooks::READ_RANGE),
            Direction::Write => (hooks::write(access.bytes), hooks::WRITE_RANGE),
        };
        match sized {
            Some(hook) => self.call(hook, &[pointer, site])?,
            None => self.call(range, &[pointer, self.c64(access.bytes).into(), site])?,
        };
        Ok(())
    }
}

fn granule_aligned(store: InstructionValue<'_>) {
    let set = store.set_alignment(4);
    debug_assert!(set.is_ok(), "a store has an alignment");
}
