//! Masked accesses, gather and scatter, handed to a hook or lane by lane. Those in loops are asked by
//! [`super::lanes`] first.

use super::{Emitted, Likely, ModuleEmitter, Site};
use crate::access::{Access, Direction};
use crate::error::PassError;
use crate::llvm;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use std::num::NonZeroU32;
use threadtalk_abi::hooks;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A masked load or store of the lanes whose bits are set.
    pub fn masked(
        &self,
        direction: Direction,
        lane: &Access<'ctx>,
        lanes: IntValue<'ctx>,
        site: Site<'ctx>,
    ) -> Emitted<()> {
        let hook = match direction {
            Direction::Read => hooks::READ_MASKED,
            Direction::Write => hooks::WRITE_MASKED,
        };
        let lanes = self.widen(lanes)?;
        let arguments =
            [lane.pointer.into(), self.c64(lane.bytes).into(), lanes.into(), self.global_site(site)?.into()];
        self.call(hook, &arguments).map(drop)
    }

    /// An expanding load or compressing store: a range of as many lanes as are active.
    pub fn packed(
        &self,
        direction: Direction,
        pointer: PointerValue<'ctx>,
        lane: u64,
        mask: VectorValue<'ctx>,
        site: Site<'ctx>,
    ) -> Emitted<()> {
        let hook = match direction {
            Direction::Read => hooks::READ_RANGE,
            Direction::Write => hooks::WRITE_RANGE,
        };
        let bits = self.widen(self.mask_bits(mask)?)?;
        let active = self.intrinsic("llvm.ctpop", &[self.i64.into()], &[bits.into()])?.into_int_value();
        let bytes = self.builder.build_int_mul(active, self.c64(lane), "")?;
        self.call(hook, &[pointer.into(), bytes.into(), self.global_site(site)?.into()]).map(drop)
    }

    /// A gather or scatter: one call for each active lane. Goes on at `tail`, if it is given: where some lanes may not
    /// be active.
    pub fn scattered(
        &self,
        direction: Direction,
        pointers: VectorValue<'ctx>,
        (bytes, align): (u64, u64),
        mask: VectorValue<'ctx>,
        site: Site<'ctx>,
        tail: Option<BasicBlock<'ctx>>,
    ) -> Emitted<()> {
        let b = &self.builder;
        for lane in 0..pointers.get_type().get_size() {
            let next = match llvm::is_all_ones(mask) {
                true => None,
                false => {
                    let active = b.build_extract_element(mask, self.c32(lane), "")?.into_int_value();
                    let here = self.here()?;
                    let next = self.block_after(here);
                    let access = self.block_after(here);
                    self.branch(active, access, next, Likely::Mostly)?;
                    b.position_at_end(access);
                    Some(next)
                }
            };
            let pointer = b.build_extract_element(pointers, self.c32(lane), "")?.into_pointer_value();
            self.call_access(direction, &Access { pointer, bytes, align }, site)?;
            if let Some(next) = next {
                b.build_unconditional_branch(next)?;
                b.position_at_end(next);
            }
        }
        if let Some(tail) = tail {
            b.build_unconditional_branch(tail)?;
        }
        Ok(())
    }

    /// The mask of which bit i says whether lane i is active.
    pub(super) fn lanes_of(&self, bits: IntValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let mask = self.context.bool_type().vec_type(bits.get_type().get_bit_width());
        Ok(self.builder.build_bit_cast(bits, mask, "")?.into_vector_value())
    }

    /// Bit i = lane i is active.
    pub(super) fn mask_bits(&self, mask: VectorValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let lanes = NonZeroU32::new(llvm::vector_len(mask.get_type())).unwrap_or(NonZeroU32::MIN);
        let ty = self.context.custom_width_int_type(lanes).map_err(|e| PassError::Invalid(e.to_string()))?;
        Ok(self.builder.build_bit_cast(mask, ty, "")?.into_int_value())
    }
}
