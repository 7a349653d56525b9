//! The marks of reads that come again: see [`crate::optimise::repeats`].

use super::{Emitted, Likely, ModuleEmitter};
use crate::error::PassError;
use crate::optimise::bundles;
use crate::optimise::repeats::{MARKS, Repeat};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, PointerValue};

/// A read that comes again in its segment, and the byte that is its mark.
#[derive(Clone, Copy)]
pub enum Marked<'ctx> {
    /// The first one: sets the mark if the value is not own.
    First(PointerValue<'ctx>),
    /// A later one: looks at the cells only if the mark is set.
    Again(PointerValue<'ctx>),
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Room for a function's marks in its frame: a signal handler has its own.
    pub(super) fn marks(&self, function: FunctionValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let entry = function.get_first_basic_block().and_then(|b| b.get_first_instruction());
        self.builder.position_before(&entry.ok_or(PassError::Invalid("empty function".into()))?);
        Ok(self.builder.build_alloca(self.i64, "threadtalk.marks")?)
    }

    /// No mark is set from here on.
    pub(super) fn begin_repeats(&self, marks: PointerValue<'ctx>) -> Emitted<()> {
        const { assert!(MARKS == 8 && bundles::MARKS == 8, "a byte each of the number that is stored") };
        self.builder.build_store(marks, self.c64(0))?;
        Ok(())
    }

    /// The mark of a read.
    pub(super) fn marked(&self, marks: PointerValue<'ctx>, repeat: Repeat) -> Emitted<Marked<'ctx>> {
        Ok(match repeat {
            Repeat::First(number) => Marked::First(self.offset(marks, number.into())?),
            Repeat::Again(number) => Marked::Again(self.offset(marks, number.into())?),
        })
    }

    /// Goes to `tail` unless the mark is set; the builder is at the end of an open block then.
    pub(super) fn skip_unless_marked(&self, mark: PointerValue<'ctx>, tail: BasicBlock<'ctx>) -> Emitted<()> {
        let set = self.load_int(self.context.i8_type(), mark, 0)?;
        let clear = self.compare(IntPredicate::EQ, set, self.context.i8_type().const_zero())?;
        let open = self.block_after(self.here()?);
        self.branch(clear, tail, open, Likely::Mostly)?;
        self.builder.position_at_end(open);
        Ok(())
    }
}
