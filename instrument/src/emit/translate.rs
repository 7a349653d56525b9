//! From the address of an access to the address of its cells.

use super::prologue::Prologue;
use super::{Emitted, ModuleEmitter};
use crate::access::{Access, Direction};
use crate::llvm;
use inkwell::GlobalVisibility;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::module::Linkage;
use inkwell::values::{GlobalValue, IntValue, PointerValue};
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};

/// Bytes of the largest stretch that is translated at once: what one access can touch, or a group of them.
pub const WINDOW: i64 = 1024;

/// A translated address.
#[derive(Clone, Copy, Debug)]
pub struct Translation<'ctx> {
    /// From data to cells: see [`ModuleEmitter::shift`].
    pub shift: IntValue<'ctx>,
    /// The first cell.
    pub cells: PointerValue<'ctx>,
    /// If the access may touch a granule more than [`Shape::cells`] says: that one, or the last of the others.
    pub last: Option<Last<'ctx>>,
}

/// The cell of the last byte of an access whose address may lie inside a granule, or the third of three cells.
#[derive(Clone, Copy, Debug)]
pub struct Last<'ctx> {
    /// The cell.
    pub cell: PointerValue<'ctx>,
    /// 1 if it is one more, 0 if it is among the others (64 bits). Of three cells the third: always 1.
    pub more: IntValue<'ctx>,
}

/// How the granules of an access can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Granules, without the one more of a ragged access, or the third of three.
    pub cells: u32,
    /// It may touch one granule more.
    pub ragged: bool,
    /// It touches one granule more: two are compared in one number.
    pub third: bool,
    /// The address may lie inside a granule: round down.
    pub round: bool,
}

impl Shape {
    /// The shape of an access of `bytes` (a power of two, or whole granules) at an address that is a multiple of
    /// `align`.
    pub fn of(bytes: u64, align: u64) -> Self {
        let ragged = align < bytes && align < GRANULE;
        let (cells, third) = match bytes.div_ceil(GRANULE) as u32 {
            3 => (2, true),
            cells => (cells, false),
        };
        Shape { cells, ragged, third, round: align < GRANULE }
    }
}

/// Whether the bytes from `first` to `end` around an address that is a multiple of `align` can lie in two chunks.
pub fn may_straddle(first: i64, end: i64, align: u64) -> bool {
    first < 0 || end as u64 > align
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Computes at the builder's place what to add to get from a granule to its cell. It dominates everything that the
    /// access dominates, so that accesses nearby can use it too. `window`: bytes before and behind the address that are
    /// to be translated too, as (first, end). Reads and writes have directories of their own.
    ///
    /// 0: there are no cells, what lies there is the program's data. Where the cells are not in one stretch, a write
    /// gets 0 as well, and a read what leads to cells that are no thread's own, so that it needs no test for it.
    pub fn shift(
        &self,
        prologue: &Prologue<'ctx>,
        (direction, access): (Direction, &Access<'ctx>),
        window: Option<(i64, i64)>,
    ) -> Emitted<IntValue<'ctx>> {
        let directory = prologue.directory_of(direction)?;
        let b = &self.builder;
        let address = self.number_of(access.pointer)?;
        let chunk = b.build_right_shift(address, self.c64(u64::from(CHUNK_SHIFT)), false, "")?;
        // SAFETY: the directory covers the whole address space.
        let entry = unsafe { b.build_gep(self.i64, directory, &[chunk], "")? };
        let shift = b.build_load(self.i64, entry, "")?.into_int_value();
        self.relaxed_value(shift, 8);
        let (first, end) = window.unwrap_or((0, access.bytes as i64));
        if !may_straddle(first, end, access.align) {
            return Ok(shift);
        }
        let from = if first == 0 { address } else { b.build_int_add(address, self.c64(first as u64), "")? };
        let within = b.build_and(from, self.c64(CHUNK_BYTES - 1), "")?;
        let last = CHUNK_BYTES - (end - first) as u64;
        let straddles = self.compare(IntPredicate::UGT, within, self.c64(last))?;
        let instead = match direction {
            Direction::Read => self.aside(from)?,
            Direction::Write => self.c64(0),
        };
        Ok(b.build_select(straddles, instead, shift, "")?.into_int_value())
    }

    /// The translation of an access that lies in the stretch of a shift.
    pub fn translated(&self, access: &Access<'ctx>, shift: IntValue<'ctx>) -> Emitted<Translation<'ctx>> {
        let b = &self.builder;
        let address = self.number_of(access.pointer)?;
        let shape = Shape::of(access.bytes, access.align);
        let inside = self.c64(!(GRANULE - 1));
        let granule = if shape.round { b.build_and(address, inside, "")? } else { address };
        let cell =
            |granule| -> Emitted<_> { Ok(b.build_int_to_ptr(b.build_int_add(granule, shift, "")?, self.ptr, "")?) };
        let mut last = None;
        if shape.ragged {
            let byte = b.build_int_add(address, self.c64(access.bytes - 1), "")?;
            let end = b.build_and(byte, inside, "")?;
            let others = b.build_int_add(granule, self.c64(u64::from(shape.cells - 1) * GRANULE), "")?;
            let more = self.widen(self.compare(IntPredicate::NE, end, others)?)?;
            last = Some(Last { cell: cell(end)?, more });
        }
        if shape.third {
            let third = b.build_int_add(granule, self.c64(2 * GRANULE), "")?;
            last = Some(Last { cell: cell(third)?, more: self.c64(1) });
        }
        Ok(Translation { shift, cells: cell(granule)?, last })
    }

    /// An address as a number of which LLVM's loop optimisations do not know how it came about. They would look for the
    /// best of all ways to compute the cells' addresses along with the data's, which takes a tenth of the time that a
    /// file of loops takes to compile, and cannot succeed: what is to be added changes from chunk to chunk.
    pub(super) fn number_of(&self, pointer: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let number = self.builder.build_ptr_to_int(pointer, self.i64, "")?;
        Ok(llvm::frozen(&self.builder, number))
    }

    /// Branches to `slow` unless there are cells that can be written; goes on in a new block.
    pub fn require_cells(&self, translation: &Translation<'ctx>, slow: BasicBlock<'ctx>) -> Emitted<()> {
        self.leave_if(self.compare(IntPredicate::EQ, translation.shift, self.c64(0))?, slow)
    }

    /// A shift from the address to cells that are nobody's own.
    fn aside(&self, address: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let nobodys = self.nobodys_cells().as_pointer_value().const_to_int(self.i64);
        let first = nobodys.const_add(self.c64(GRANULE));
        Ok(self.builder.build_int_sub(first, address, "")?)
    }

    /// As many cells as accesses that share a translation can reach, with a state that does not exist. One for all
    /// modules.
    fn nobodys_cells(&self) -> GlobalValue<'ctx> {
        const NAME: &str = "threadtalk.nobodys";
        if let Some(known) = self.module.get_global(NAME) {
            return known;
        }
        let cells = (WINDOW as u64 / GRANULE) as u32 + 3;
        let ones = vec![self.i32.const_all_ones(); cells as usize];
        let global = self.module.add_global(self.i32.array_type(cells), None, NAME);
        global.set_initializer(&self.i32.const_array(&ones));
        global.set_constant(true);
        global.set_linkage(Linkage::LinkOnceODR);
        global.set_visibility(GlobalVisibility::Hidden);
        global.set_alignment(8);
        global
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
    use super::{Shape, may_straddle};

    /// The shapes must agree with counting granules and chunks for each offset that the alignment allows.
    #[test]
    fn shapes_agree_with_counting() {
        for align in [1u64, 2, 4, 8, 16, 32, 64] {
            for bytes in (1u64..=64).filter(|b| b.is_power_of_two() || b % 4 == 0 && align >= 4) {
                let shape = Shape::of(bytes, align);
                for address in (0x1ffc0u64..0x20040).filter(|a| a % align == 0) {
                    let last = address + bytes - 1;
                    let cells = last / 4 - address / 4 + 1;
                    let more = last / 4 != address / 4 + u64::from(shape.cells) - 1;
                    let case = format!("{bytes} at {address:#x}/{align}");
                    assert_eq!(cells, u64::from(shape.cells) + u64::from(more), "{case}");
                    assert!(shape.ragged || shape.third || !more, "{case}");
                    assert!(more || !shape.third, "{case}");
                    assert!(shape.round || address % 4 == 0, "{case}");
                    assert!(may_straddle(0, bytes as i64, align) || last >> 16 == address >> 16, "{case}");
                }
            }
        }
    }

    #[test]
    fn aligned_accesses_need_no_test() {
        let plain = Shape { cells: 1, ragged: false, third: false, round: false };
        assert_eq!(Shape::of(4, 4), plain);
        assert_eq!(Shape::of(8, 8), Shape { cells: 2, ..plain });
        assert_eq!(Shape::of(1, 1), Shape { round: true, ..plain });
        assert_eq!(Shape::of(2, 2), Shape { round: true, ..plain });
        assert!(!may_straddle(0, 8, 8) && !may_straddle(0, 1, 1) && !may_straddle(4, 16, 16));
        assert!(may_straddle(0, 8, 4) && may_straddle(-4, 4, 8) && may_straddle(0, 24, 16) && may_straddle(0, 4, 1));
    }
}
