//! The functions that instrumented modules call, for the runtime's archive: see [`super::thunks`].

use super::memos::{FORGET, FORGET_CALLED, recall_name};
use super::registers::Registers;
use super::thunks::{Alignment, KEPT, access_name, keeper_name, sized_hook};
use super::{Emitted, ModuleEmitter};
use crate::access::Direction;
use threadtalk_abi::{GRANULE, hooks};

/// Sizes of accesses that have hooks of their own.
const SIZES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Defines all of them in the module, for each kind of registers.
    pub fn define_functions(&self) -> Emitted<()> {
        Registers::ALL.into_iter().try_for_each(|registers| self.define_set(registers))
    }

    /// Nothing in them is of one module.
    pub fn drop_bases(&self) {
        // SAFETY: the functions take global numbers, so that nothing uses the variable.
        unsafe { self.bases.delete() }
    }

    fn define_set(&self, registers: Registers) -> Emitted<()> {
        for (name, called) in [(FORGET, false), (FORGET_CALLED, true)] {
            self.forget_body(self.new_function(name, self.forget_type(), registers), called)?;
        }
        for hook in KEPT {
            self.keeper_body(self.new_function(&keeper_name(hook), self.hook_type(hook), registers), hook)?;
        }
        self.define_gates(&keeper_name(hooks::LEARN), registers, None)?;
        for (direction, bytes) in SIZES.into_iter().flat_map(|b| [(Direction::Read, b), (Direction::Write, b)]) {
            let hook = sized_hook(direction, bytes)?;
            self.keeper_body(self.new_function(&keeper_name(hook), self.hook_type(hook), registers), hook)?;
            if direction == Direction::Write {
                self.define_gates(&keeper_name(hook), registers, None)?;
            }
            for alignment in alignments(bytes) {
                let name = access_name(hook, alignment);
                let function = self.new_function(&name, self.hook_type(hook), registers);
                self.access_body(function, hook, (direction, false), (bytes, alignment))?;
                if direction == Direction::Read {
                    self.define_gates(&name, registers, hooks::again(bytes).filter(|_| alignment.is_whole(bytes)))?;
                    let name = recall_name(hook, alignment);
                    let function = self.new_function(&name, self.recall_type(), registers);
                    self.access_body(function, hook, (direction, true), (bytes, alignment))?;
                    self.define_gates(&name, registers, None)?;
                }
            }
        }
        Ok(())
    }
}

/// The alignments that [`Alignment::of`] gives accesses of a size.
fn alignments(bytes: u64) -> impl Iterator<Item = Alignment> {
    let possible = move |alignment: &Alignment| match alignment {
        Alignment::Natural => true,
        Alignment::Granules => bytes > GRANULE,
        Alignment::Any => bytes > 1,
    };
    [Alignment::Natural, Alignment::Granules, Alignment::Any].into_iter().filter(possible)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Whatever an access looks like, there is a function for it.
    #[test]
    fn each_size_has_the_alignments_that_accesses_of_it_can_have() {
        for bytes in SIZES {
            let has: BTreeSet<_> = alignments(bytes).map(Alignment::suffix).collect();
            let needed = (0..7).map(|log2| Alignment::known(bytes, 1 << log2).suffix()).collect();
            assert_eq!(has, needed, "{bytes}");
        }
    }
}
