//! Writes in the archive's functions (those in the program's code are in [`super::inline`]), and calls for accesses.

use super::prologue::Prologue;
use super::read::Exits;
use super::translate::{Shape, Translation};
use super::{Emitted, ModuleEmitter, Site};
use crate::access::{Access, Direction, powers};
use crate::llvm;

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
                if access.align >= 8 { self.relaxed(store, 8) } else { llvm::align(&store, GRANULE) }
            }
            // Without vector registers, which would have to be kept for the caller.
            4 => {
                let both = self.in_both_halves(id)?;
                self.require_cells(translation, exits.slow)?;
                for first in [0, 2 * GRANULE] {
                    let store = b.build_store(self.offset(translation.cells, first)?, both)?;
                    if access.align >= 8 { self.relaxed(store, 8) } else { llvm::align(&store, GRANULE) }
                }
            }
            lanes => {
                let all: Vec<_> =
                    powers(lanes.into()).map(|(_, part)| self.splat(id, part as u32)).collect::<Emitted<_>>()?;
                self.require_cells(translation, exits.slow)?;
                for ((first, _), part) in powers(lanes.into()).zip(all) {
                    llvm::align(&b.build_store(self.offset(translation.cells, first * GRANULE)?, part)?, GRANULE);
                }
            }
        }
        if let Some(last) = translation.last {
            self.relaxed(b.build_store(last.cell, id)?, 4);
        }
        b.build_unconditional_branch(exits.done)?;
        Ok(())
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
