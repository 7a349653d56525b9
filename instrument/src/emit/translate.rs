//! From the address of an access to the address of its cells.

use super::prologue::Prologue;
use super::{Emitted, Likely, ModuleEmitter};
use crate::access::Access;
use crate::error::PassError;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{IntValue, PointerValue};
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};

/// A translated address. Its values dominate everything that the access dominates, so that a later access to the
/// same address can use them again.
#[derive(Clone, Copy, Debug)]
pub struct Translation<'ctx> {
    /// What to add; 0 = the chunk has no cells yet.
    pub shift: IntValue<'ctx>,
    /// The first cell, if there are cells.
    pub cells: PointerValue<'ctx>,
    /// The access touches a granule more than its size says, or two chunks; `None` if that cannot be.
    pub irregular: Option<IntValue<'ctx>>,
}

/// How the granules of an access can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Granules, if the access is regular.
    pub cells: u32,
    /// `address & 3` must not be above this, or the access touches one granule more; `None` = it never does.
    pub last_offset: Option<u64>,
    /// The access may touch two chunks.
    pub may_straddle: bool,
    /// The address may lie inside a granule: round down.
    pub round: bool,
}

impl Shape {
    /// The shape of an access of `bytes` (a power of two) at an address that is a multiple of `align`.
    pub fn of(bytes: u64, align: u64) -> Self {
        let last_offset = match bytes {
            1 => None,
            2 if align >= 2 => None,
            2 => Some(2),
            _ if align >= GRANULE => None,
            _ => Some(0),
        };
        Shape {
            cells: bytes.div_ceil(GRANULE) as u32,
            last_offset,
            may_straddle: bytes > GRANULE && align < bytes,
            round: bytes < GRANULE && align < GRANULE,
        }
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Computes the translation at the builder's place.
    pub fn translate(&self, prologue: &Prologue<'ctx>, access: &Access<'ctx>) -> Emitted<Translation<'ctx>> {
        let directory = prologue.directory.ok_or(PassError::Invalid("no directory".into()))?;
        let b = &self.builder;
        let shape = Shape::of(access.bytes, access.align);
        let address = b.build_ptr_to_int(access.pointer, self.i64, "")?;
        let chunk = b.build_right_shift(address, self.c64(u64::from(CHUNK_SHIFT)), false, "")?;
        // SAFETY: the directory covers the whole address space.
        let entry = unsafe { b.build_gep(self.i64, directory, &[chunk], "")? };
        let shift = b.build_load(self.i64, entry, "")?.into_int_value();
        self.relaxed_value(shift, 8);
        let granule = if shape.round { b.build_and(address, self.c64(!(GRANULE - 1)), "")? } else { address };
        let cells = b.build_int_to_ptr(b.build_int_add(granule, shift, "")?, self.ptr, "")?;
        Ok(Translation { shift, cells, irregular: self.irregular(address, access.bytes, shape)? })
    }

    /// Branches to `slow` unless the access has cells and is regular; goes on in a new block.
    pub fn require_cells(&self, translation: &Translation<'ctx>, slow: BasicBlock<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let mut fails = self.compare(IntPredicate::EQ, translation.shift, self.c64(0))?;
        if let Some(irregular) = translation.irregular {
            fails = b.build_or(irregular, fails, "")?;
        }
        let here = b.get_insert_block().ok_or(PassError::Invalid("builder has no place".into()))?;
        let next = self.block_after(here);
        self.branch(fails, slow, next, Likely::Rarely)?;
        b.position_at_end(next);
        Ok(())
    }

    fn irregular(&self, address: IntValue<'ctx>, bytes: u64, shape: Shape) -> Emitted<Option<IntValue<'ctx>>> {
        let b = &self.builder;
        let mut test = None;
        if let Some(last) = shape.last_offset {
            let within = b.build_and(address, self.c64(GRANULE - 1), "")?;
            test = Some(self.compare(IntPredicate::UGT, within, self.c64(last))?);
        }
        if shape.may_straddle {
            let within = b.build_and(address, self.c64(CHUNK_BYTES - 1), "")?;
            let straddles = self.compare(IntPredicate::UGT, within, self.c64(CHUNK_BYTES - bytes))?;
            test = Some(match test {
                Some(test) => b.build_or(test, straddles, "")?,
                None => straddles,
            });
        }
        Ok(test)
    }

    /// Makes the load that computed a value relaxed.
    pub fn relaxed_value(&self, loaded: IntValue<'ctx>, align: u32) {
        if let Some(load) = loaded.as_instruction() {
            self.relaxed(load, align);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    fn shape(cells: u32, last_offset: Option<u64>, may_straddle: bool, round: bool) -> Shape {
        Shape { cells, last_offset, may_straddle, round }
    }

    /// The tests must agree with counting granules and chunks for each offset that the alignment allows.
    #[test]
    fn shapes_agree_with_counting() {
        for bytes in [1u64, 2, 4, 8, 16, 32, 64] {
            for align in [1u64, 2, 4, 8, 16, 32, 64] {
                let shape = Shape::of(bytes, align);
                for address in (0x1ffc0u64..0x20040).filter(|a| a % align == 0) {
                    let last = address + bytes - 1;
                    let cells = last / 4 - address / 4 + 1;
                    let straddles = last >> 16 != address >> 16;
                    let irregular = shape.last_offset.is_some_and(|o| address & 3 > o)
                        || (shape.may_straddle && address & 0xffff > 0x10000 - bytes);
                    assert_eq!(
                        irregular,
                        cells != u64::from(shape.cells) || straddles,
                        "{bytes} at {address:#x}/{align}"
                    );
                    assert!(irregular || shape.round || address % 4 == 0, "{bytes} at {address:#x}/{align}");
                }
            }
        }
    }

    #[test]
    fn aligned_accesses_need_no_test() {
        assert_eq!(Shape::of(4, 4), shape(1, None, false, false));
        assert_eq!(Shape::of(8, 8), shape(2, None, false, false));
        assert_eq!(Shape::of(1, 1), shape(1, None, false, true));
        assert_eq!(Shape::of(16, 4), shape(4, None, true, false));
    }
}
