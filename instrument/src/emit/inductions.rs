//! Copies of loops' variables that the code generator's loop optimisations cannot look through.

use super::{Emitted, ModuleEmitter};
use crate::llvm;
use crate::optimise::inductions::Induction;
use inkwell::values::{AsValueRef, BasicValueEnum};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Lets what is computed from the variables be computed from copies.
    ///
    /// A `freeze` does not do: LLVM moves those of loops' variables out of the loop. So numbers are rotated by no bits,
    /// and no bits of pointers masked out, which instruction selection drops.
    pub fn hide(&self, inductions: &[Induction<'ctx>]) -> Emitted<()> {
        for Induction { phi, uses } in inductions {
            let Some(point) = llvm::behind_phis(*phi) else { continue };
            self.builder.position_before(&point);
            llvm::set_location(&self.builder, None);
            let copy = match llvm::result(*phi) {
                BasicValueEnum::IntValue(number) => {
                    let (ty, none) = (number.get_type(), number.get_type().const_zero());
                    self.intrinsic("llvm.fshl", &[ty.into()], &[number.into(), number.into(), none.into()])?
                }
                BasicValueEnum::PointerValue(pointer) => {
                    let (ty, all) = (pointer.get_type(), self.i64.const_all_ones());
                    self.intrinsic("llvm.ptrmask", &[ty.into(), self.i64.into()], &[pointer.into(), all.into()])?
                }
                _ => continue,
            };
            uses.iter().for_each(|&(user, operand)| llvm::set_operand(user, operand, copy.as_value_ref()));
        }
        Ok(())
    }
}
