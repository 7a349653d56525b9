//! Writes in the archive's functions (those in the program's code are in [`super::inline`]), and calls for accesses.

use super::prologue::{Prologue, WriteId};
use super::read::Exits;
use super::translate::{Shape, Translation};
use super::{Emitted, ModuleEmitter, Site};
use crate::access::{Access, Direction, powers};
use crate::error::PassError;
use inkwell::values::{InstructionValue, IntValue};
use threadtalk_abi::{GRANULE, hooks};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A write; all ways end at the exits.
    pub fn write(
        &self,
        prologue: &Prologue<'ctx>,
        access: &Access<'ctx>,
        translation: &Translation<'ctx>,
        site: Site<'ctx>,
        exits: Exits<'ctx>,
    ) -> Emitted<()> {
        // Before the branch: instruction selection shares it with other writes of the same line only if it dominates
        // them.
        let b = &self.builder;
        let id = self.id_of_writes(prologue)?;
        let id = b.build_int_add(id, site.number(), "")?;
        match Shape::of(access.bytes, access.align).cells {
            1 => {
                self.require_cells(translation, exits.slow)?;
                self.relaxed(b.build_store(translation.cells, id)?, 4);
            }
            2 => {
                let both = self.in_both_halves(id)?;
                self.require_cells(translation, exits.slow)?;
                let store = b.build_store(translation.cells, both)?;
                if access.align >= 8 { self.relaxed(store, 8) } else { granule_aligned(store) }
            }
            lanes => {
                let all: Vec<_> =
                    powers(lanes.into()).map(|(_, part)| self.splat(id, part as u32)).collect::<Emitted<_>>()?;
                self.require_cells(translation, exits.slow)?;
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
