//! The death of a stack variable.

use super::prologue::Prologue;
use super::{Emitted, Likely, ModuleEmitter};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::PointerValue;
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE, hooks};

/// Larger variables are cleared by the hook.
const INLINE_BYTES: u64 = 64;

/// Whether a variable of this size is cleared inline.
pub fn is_inlined(bytes: u64) -> bool {
    bytes <= INLINE_BYTES
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Clears the cells of a variable, if it has cells: between the builder's block and `tail`, or by a call.
    pub fn dies(
        &self,
        prologue: &Prologue<'ctx>,
        pointer: PointerValue<'ctx>,
        bytes: u64,
        align: u64,
        tail: Option<BasicBlock<'ctx>>,
    ) -> Emitted<()> {
        let (Some(tail), Some(directory)) = (tail, prologue.directory) else {
            return self.call(hooks::CLEAR, &[pointer.into(), self.c64(bytes).into()]).map(drop);
        };
        let b = &self.builder;
        let bytes = bytes.next_multiple_of(GRANULE);
        let address = b.build_ptr_to_int(pointer, self.i64, "")?;
        let here = self.here()?;
        let clear = self.block_after(here);
        if align < bytes.next_power_of_two() {
            let inside = self.block_after(here);
            let within = b.build_and(address, self.c64(CHUNK_BYTES - 1), "")?;
            let straddles = self.compare(IntPredicate::UGT, within, self.c64(CHUNK_BYTES - bytes))?;
            let function = here.get_parent();
            let slow = function.map_or(clear, |f| self.context.append_basic_block(f, ""));
            self.branch(straddles, slow, inside, Likely::Rarely)?;
            b.position_at_end(slow);
            self.call(hooks::CLEAR, &[pointer.into(), self.c64(bytes).into()])?;
            b.build_unconditional_branch(tail)?;
            b.position_at_end(inside);
        }
        let chunk = b.build_right_shift(address, self.c64(u64::from(CHUNK_SHIFT)), false, "")?;
        // SAFETY: the directory covers the whole address space.
        let entry = unsafe { b.build_gep(self.i64, directory, &[chunk], "")? };
        let shift = b.build_load(self.i64, entry, "")?.into_int_value();
        self.relaxed_value(shift, 8);
        self.branch(self.compare(IntPredicate::EQ, shift, self.c64(0))?, tail, clear, Likely::Rarely)?;
        b.position_at_end(clear);
        let cells = b.build_int_to_ptr(b.build_int_add(address, shift, "")?, self.ptr, "")?;
        b.build_memset(cells, GRANULE as u32, self.context.i8_type().const_zero(), self.c64(bytes))?;
        b.build_unconditional_branch(tail)?;
        Ok(())
    }
}
