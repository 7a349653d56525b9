//! From the address of an access to the address of its cells.

use super::prologue::Prologue;
use super::{Emitted, Likely, ModuleEmitter};
use crate::access::Access;
use crate::error::PassError;
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
    /// What to add to get from a granule to its cell. Dominates everything that the access dominates, so that accesses
    /// nearby can use it too. 0: there are no cells, what lies at `cells` is the program's data. Where `odd` holds, what lies there is no
    /// thread's own.
    pub shift: IntValue<'ctx>,
    /// The first cell.
    pub cells: PointerValue<'ctx>,
    /// The cells are not in one stretch, or are one more than the size of the access says; `None` if that cannot be.
    pub odd: Option<IntValue<'ctx>>,
}

/// How the granules of an access can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Granules, if the access is regular.
    pub cells: u32,
    /// `address & 3` must not be above this, or the access touches one granule more; `None` = it never does.
    pub last_offset: Option<u64>,
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
        Shape { cells: bytes.div_ceil(GRANULE) as u32, last_offset, round: bytes < GRANULE && align < GRANULE }
    }
}

/// Whether the bytes from `first` to `end` around an address that is a multiple of `align` can lie in two chunks, other than
/// by an access that touches a granule too many.
fn may_straddle(first: i64, end: i64, align: u64) -> bool {
    let in_granule = first == 0 && end <= GRANULE as i64;
    !in_granule && (first < 0 || end as u64 > align)
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Computes the translation at the builder's place. `window`: bytes before and behind the address that are to be translated too,
    /// as (first, end).
    pub fn translate(
        &self,
        prologue: &Prologue<'ctx>,
        access: &Access<'ctx>,
        window: Option<(i64, i64)>,
    ) -> Emitted<Translation<'ctx>> {
        let directory = prologue.directory.ok_or(PassError::Invalid("no directory".into()))?;
        let b = &self.builder;
        let address = b.build_ptr_to_int(access.pointer, self.i64, "")?;
        let chunk = b.build_right_shift(address, self.c64(u64::from(CHUNK_SHIFT)), false, "")?;
        // SAFETY: the directory covers the whole address space.
        let entry = unsafe { b.build_gep(self.i64, directory, &[chunk], "")? };
        let shift = b.build_load(self.i64, entry, "")?.into_int_value();
        self.relaxed_value(shift, 8);
        let (first, end) = window.unwrap_or((0, access.bytes as i64));
        if !may_straddle(first, end, access.align) {
            return self.translated(access, shift, None);
        }
        let from = b.build_int_add(address, self.c64(first as u64), "")?;
        let within = b.build_and(from, self.c64(CHUNK_BYTES - 1), "")?;
        let last = CHUNK_BYTES - (end - first) as u64;
        let straddles = self.compare(IntPredicate::UGT, within, self.c64(last))?;
        self.translated(access, self.aside(from, straddles, shift)?, Some(straddles))
    }

    /// The translation of an access, given that of its window.
    pub fn translated(
        &self,
        access: &Access<'ctx>,
        shift: IntValue<'ctx>,
        odd: Option<IntValue<'ctx>>,
    ) -> Emitted<Translation<'ctx>> {
        let b = &self.builder;
        let shape = Shape::of(access.bytes, access.align);
        let address = b.build_ptr_to_int(access.pointer, self.i64, "")?;
        let (mut shift, mut odd) = (shift, odd);
        if let Some(last) = shape.last_offset {
            let within = b.build_and(address, self.c64(GRANULE - 1), "")?;
            let more = self.compare(IntPredicate::UGT, within, self.c64(last))?;
            shift = self.aside(address, more, shift)?;
            odd = Some(odd.map_or(Ok(more), |odd| b.build_or(odd, more, ""))?);
        }
        let granule = if shape.round { b.build_and(address, self.c64(!(GRANULE - 1)), "")? } else { address };
        let cells = b.build_int_to_ptr(b.build_int_add(granule, shift, "")?, self.ptr, "")?;
        Ok(Translation { shift, cells, odd })
    }

    /// Branches to `slow` unless there are cells that can be written; goes on in a new block.
    pub fn require_cells(&self, translation: &Translation<'ctx>, slow: BasicBlock<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let mut fails = self.compare(IntPredicate::EQ, translation.shift, self.c64(0))?;
        if let Some(odd) = translation.odd {
            fails = b.build_or(odd, fails, "")?;
        }
        let next = self.block_after(self.here()?);
        self.branch(fails, slow, next, Likely::Rarely)?;
        b.position_at_end(next);
        Ok(())
    }

    /// If `odd` holds, a shift from the address to cells that are nobody's own, so that a read needs no test for it.
    fn aside(&self, address: IntValue<'ctx>, odd: IntValue<'ctx>, shift: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let nobodys = b.build_ptr_to_int(self.nobodys_cells().as_pointer_value(), self.i64, "")?;
        let aside = b.build_int_sub(b.build_int_add(nobodys, self.c64(GRANULE), "")?, address, "")?;
        Ok(b.build_select(odd, aside, shift, "")?.into_int_value())
    }

    /// As many cells as accesses that share a translation can reach, with a state that does not exist. One for all modules.
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
                        || (may_straddle(0, bytes as i64, align) && address & 0xffff > 0x10000 - bytes);
                    let case = format!("{bytes} at {address:#x}/{align}");
                    assert_eq!(irregular, cells != u64::from(shape.cells) || straddles, "{case}");
                    assert!(irregular || shape.round || address % 4 == 0, "{case}");
                }
            }
        }
    }

    #[test]
    fn aligned_accesses_need_no_test() {
        assert_eq!(Shape::of(4, 4), Shape { cells: 1, last_offset: None, round: false });
        assert_eq!(Shape::of(8, 8), Shape { cells: 2, last_offset: None, round: false });
        assert_eq!(Shape::of(1, 1), Shape { cells: 1, last_offset: None, round: true });
        assert!(
            !may_straddle(0, 8, 8) && !may_straddle(0, 4, 1) && !may_straddle(0, 16, 16) && !may_straddle(4, 16, 16)
        );
        assert!(may_straddle(0, 8, 4) && may_straddle(-4, 4, 8) && may_straddle(0, 24, 16));
    }
}
