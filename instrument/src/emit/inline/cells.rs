//! Cells in LLVM's values, and what assembly compares of them.

use super::super::assembly::Assembly;
use super::super::translate::{Shape, Translation};
use super::{Inlined, invalid};
use crate::access::powers;
use crate::emit::{Emitted, ModuleEmitter};
use crate::error::PassError;
use crate::llvm;
use inkwell::IntPredicate;
use inkwell::types::VectorType;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use threadtalk_abi::GRANULE;

/// Loaded cells.
pub(super) enum Loaded<'ctx> {
    One(IntValue<'ctx>),
    Two(IntValue<'ctx>),
    /// Where two and two of four are.
    Pairs([PointerValue<'ctx>; 2]),
    Lanes(Vec<VectorValue<'ctx>>),
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// The cells, and a number that is 0 if all of them are the thread's own.
    pub(super) fn load_cells(
        &self,
        access: &Inlined<'_, 'ctx>,
        translation: &Translation<'ctx>,
    ) -> Emitted<(Loaded<'ctx>, IntValue<'ctx>)> {
        let b = &self.builder;
        let (base, foreign) = access.prologue.own.ok_or(PassError::Invalid("no own range".into()))?;
        let at = translation.cells;
        match Shape::of(access.access.bytes, access.access.align).cells {
            1 => {
                let cell = b.build_load(self.i32, at, "")?.into_int_value();
                self.relaxed_value(cell, 4);
                Ok((Loaded::One(cell), self.foreign_bits(cell, base, foreign)?))
            }
            2 => {
                let (base, foreign) = access.prologue.own_pair.ok_or(PassError::Invalid("no own pair".into()))?;
                let both = self.load_pair(at, access.access.align)?;
                Ok((Loaded::Two(both), self.foreign_bits(both, base, foreign)?))
            }
            4 => {
                let (_, others) = self.foreign_pairs(access.prologue, at, access.access.align)?;
                Ok((Loaded::Pairs([at, self.offset(at, 2 * GRANULE)?]), others))
            }
            lanes => {
                let (parts, others) = self.foreign_parts(at, lanes, (base, foreign))?;
                let zero = others.get_type().const_zero();
                let differ = b.build_int_compare(IntPredicate::NE, others, zero, "")?;
                let bits = llvm::vector_len(differ.get_type());
                let bits = self.context.custom_width_int_type(bits.try_into().map_err(|_| invalid("no cells"))?);
                let bits = bits.map_err(|e| PassError::Invalid(e.to_string()))?;
                let mask = b.build_bit_cast(differ, bits, "")?.into_int_value();
                Ok((Loaded::Lanes(parts), b.build_int_z_extend(mask, self.i32, "")?))
            }
        }
    }

    /// Eight cells or more in vectors of one length, and the foreign bits of all of them.
    pub(in crate::emit) fn foreign_parts(
        &self,
        cells: PointerValue<'ctx>,
        lanes: u32,
        (base, foreign): (IntValue<'ctx>, IntValue<'ctx>),
    ) -> Emitted<(Vec<VectorValue<'ctx>>, VectorValue<'ctx>)> {
        let b = &self.builder;
        let pieces = self.pieces_of_vectors(lanes)?;
        let width = pieces[0].1;
        let (base, foreign) = (self.splat(base, width)?, self.splat(foreign, width)?);
        let mut parts = Vec::new();
        let mut others: Option<VectorValue<'ctx>> = None;
        for (first, part) in pieces {
            let ty = self.i32.vec_type(part);
            let loaded = b.build_load(ty, self.offset(cells, first)?, "")?.into_vector_value();
            llvm::align(&loaded, GRANULE);
            let repeated: Vec<_> = (0..width).map(|lane| self.c32(lane % part)).collect();
            let spread = match part == width {
                true => loaded,
                false => b.build_shuffle_vector(loaded, ty.get_poison(), VectorType::const_vector(&repeated), "")?,
            };
            let distance = b.build_xor(spread, base, "")?;
            let bits = b.build_and(distance, foreign, "")?;
            others = Some(others.map(|others| b.build_or(others, bits, "")).transpose()?.unwrap_or(bits));
            parts.push(spread);
        }
        Ok((parts, others.ok_or(invalid("no cells"))?))
    }

    /// Cells in registers of the caller's vectors: bytes before each of them, and its lanes.
    pub(super) fn pieces_of_vectors(&self, lanes: u32) -> Emitted<Vec<(u64, u32)>> {
        let most = if self.has_avx()? { 8 } else { 4 };
        let whole = (0..lanes / most).map(|n| (u64::from(n * most) * GRANULE, most));
        let rest = lanes / most * most;
        let parts =
            powers(u64::from(lanes % most)).map(|(first, part)| ((u64::from(rest) + first) * GRANULE, part as u32));
        Ok(whole.chain(parts).collect())
    }

    /// Compares all cells with a state (memory or a general register), leaves the last comparison's flags, and goes to
    /// the call if another one failed. Works in outputs 1 and 2.
    pub(super) fn compare_parts(
        &self,
        a: &mut Assembly<'ctx>,
        parts: &[VectorValue<'ctx>],
        state: &str,
    ) -> Emitted<()> {
        let avx = self.has_avx()?;
        let wide = parts[0].get_type().get_size() == 8;
        if avx {
            a.line(format!("vmovd {state}, ${{1:x}}"));
            a.line("vpshufd $$0, ${1:x}, ${1:x}");
            if wide {
                a.line("vinsertf128 $$1, ${1:x}, ${1:t}, ${1:t}");
            }
        } else {
            a.line(format!("movd {state}, $1"));
            a.line("pshufd $$0, $1, $1");
        }
        for (i, part) in parts.iter().enumerate() {
            let part = a.vector(*part);
            if i > 0 {
                a.line("jne 2f");
            }
            if avx {
                // Without AVX2 integers of 256 bits cannot be compared; equal bits are equal if none differs.
                a.line(format!("vxorps ${part}, $1, $2"));
                a.line("vptest $2, $2");
            } else {
                a.line("movdqa $1, $2");
                a.line(format!("pcmpeqd ${part}, $2"));
                a.line("pmovmskb $2, %edi");
                a.line("cmpl $$0xffff, %edi");
            }
        }
        Ok(())
    }
}
