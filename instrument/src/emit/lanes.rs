//! Masked accesses, gathers and scatters in the program's code: all active lanes are asked at once.
//!
//! Loops with conditions have them where the target has masks (AVX2, AVX-512), and loops over members of structures or
//! through indices. Handed to a hook, or asked lane by lane, they took 10 to 60 times as long as the loop.

use super::prologue::Prologue;
use super::{Emitted, Likely, ModuleEmitter, Site};
use crate::access::{Access, Direction};
use crate::error::PassError;
use crate::optimise::lanes::{Lanes, Places};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue, VectorValue};
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};

/// What is loaded to tell whether lanes are own: one or two cells of each.
struct Cells<'ctx> {
    /// The cells; of lanes that are not active, own ones.
    states: VectorValue<'ctx>,
    /// From data to cells: one number, or one of each lane. 0: there are none, and what was loaded is the program's
    /// data.
    shift: Shift<'ctx>,
}

#[derive(Clone, Copy)]
enum Shift<'ctx> {
    Common(IntValue<'ctx>),
    Each(VectorValue<'ctx>),
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Asks active lanes; the builder is at the end of an open block. What is settled ends at `done`; goes on in a new
    /// block with the lanes that are not, bit i = lane i, or `None` if those are all active ones.
    pub fn ask_lanes(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        site: Site<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Emitted<Option<IntValue<'ctx>>> {
        match lanes.direction {
            Direction::Read => self.read_active(prologue, lanes, site, done).map(Some),
            Direction::Write => self.write_active(prologue, lanes, site, done).map(|()| None),
        }
    }

    /// A read: lanes that hold own values or none are no events. The others are settled state by state, as long as each
    /// is quiet or the event cache knows it.
    fn read_active(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        site: Site<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let own = if lanes.bytes > GRANULE { prologue.own_pair } else { prologue.own };
        let (base, foreign) = own.ok_or(PassError::Invalid("no own range".into()))?;
        let (base, foreign) = (self.splat(base, lanes.count())?, self.splat(foreign, lanes.count())?);
        let Cells { states, shift } = self.active_cells(prologue, lanes, base)?;
        let zero = states.get_type().const_zero();
        let others = b.build_and(b.build_xor(states, base, "")?, foreign, "")?;
        let others = b.build_int_compare(IntPredicate::NE, others, zero, "")?;
        let is_own = self.none(others)?;
        let check = self.block_after(self.here()?);
        let rest = self.block_after(check);
        self.branch(is_own, done, check, Likely::Mostly)?;

        b.position_at_end(check);
        let unmapped = match shift {
            Shift::Common(shift) => self.compare(IntPredicate::EQ, shift, self.c64(0))?,
            Shift::Each(shifts) => self.is_missing(shifts, others)?,
        };
        let all = self.mask_bits(others)?;
        self.leave_if(unmapped, rest)?;
        let written = b.build_int_compare(IntPredicate::NE, states, zero, "")?;
        let written = self.mask_bits(b.build_and(others, written, "")?)?;
        let (left, unsettled) = self.settle_states(prologue, lanes, site, (states, written), done)?;
        b.build_unconditional_branch(rest)?;

        b.position_at_end(rest);
        let unknown = b.build_phi(all.get_type(), "")?;
        unknown.add_incoming(&[(&all, check), (&left, unsettled)]);
        Ok(unknown.as_basic_value().into_int_value())
    }

    /// Goes through the states of the lanes whose bits are set, and counts what is known of each. Goes on in a new
    /// block with one that is not settled: the lanes that are left, and the block.
    fn settle_states(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        site: Site<'ctx>,
        (states, written): (VectorValue<'ctx>, IntValue<'ctx>),
        done: BasicBlock<'ctx>,
    ) -> Emitted<(IntValue<'ctx>, BasicBlock<'ctx>)> {
        let b = &self.builder;
        let before = self.here()?;
        let each = self.block_after(before);
        let unsettled = self.block_after(each);
        let settled = self.block_after(unsettled);
        let (bits, pair) = (written.get_type(), lanes.bytes > GRANULE);
        let is_none = self.compare(IntPredicate::EQ, written, bits.const_zero())?;
        self.branch(is_none, done, each, Likely::Usually)?;

        b.position_at_end(each);
        let turn = b.build_phi(bits, "")?;
        let left = turn.as_basic_value().into_int_value();
        let never_none = self.context.bool_type().const_all_ones();
        let first = self.intrinsic("llvm.cttz", &[bits.into()], &[left.into(), never_none.into()])?;
        let first = b.build_extract_element(states, self.widen(first.into_int_value())?, "")?.into_int_value();
        let state = if pair { b.build_int_truncate(first, self.i32, "")? } else { first };
        let whole = if pair { self.in_both_halves(state)? } else { state };
        if pair {
            self.leave_if(self.compare(IntPredicate::NE, first, whole)?, unsettled)?;
        }
        let alike = b.build_int_compare(IntPredicate::EQ, states, self.splat(whole, lanes.count())?, "")?;
        let alike = b.build_and(self.mask_bits(alike)?, left, "")?;
        let next = b.build_xor(left, alike, "")?;
        let header = prologue.header.ok_or(PassError::Invalid("no header".into()))?;
        self.leave_if(self.is_quiet(header, state)?, settled)?;
        let alike = self.intrinsic("llvm.ctpop", &[bits.into()], &[alike.into()])?.into_int_value();
        let granules = b.build_int_mul(self.widen(alike)?, self.c64(lanes.bytes / GRANULE), "")?;
        self.count_known(prologue, (state, site), granules, (unsettled, settled))?;

        b.position_at_end(settled);
        turn.add_incoming(&[(&written, before), (&next, settled)]);
        self.branch(self.compare(IntPredicate::EQ, next, bits.const_zero())?, done, each, Likely::Mostly)?;
        b.position_at_end(unsettled);
        Ok((left, unsettled))
    }

    /// A write leaves its id in the cells of active lanes.
    fn write_active(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        site: Site<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let slow = self.block_after(self.here()?);
        let id = b.build_int_add(self.id_of_writes(prologue)?, site.number(), "")?;
        let id = if lanes.bytes > GRANULE { self.in_both_halves(id)? } else { id };
        let ids = self.splat(id, lanes.count())?;
        let align = self.c32(lanes.align.min(lanes.bytes) as u32);
        match lanes.places {
            Places::From(pointer) => {
                let shift = self.common_shift(prologue, lanes, pointer)?;
                self.leave_if(self.compare(IntPredicate::EQ, shift, self.c64(0))?, slow)?;
                let cells = self.moved(pointer, shift)?;
                let arguments = [ids.into(), cells.into(), align.into(), lanes.mask.into()];
                self.call_intrinsic("llvm.masked.store", &[ids.get_type().into(), self.ptr.into()], &arguments)?;
            }
            Places::Each(pointers) => {
                let shifts = self.shifts(prologue, lanes, pointers)?;
                self.leave_if(self.is_missing(shifts, lanes.mask)?, slow)?;
                let cells = self.each_moved(pointers, shifts)?;
                let arguments = [ids.into(), cells.into(), align.into(), lanes.mask.into()];
                let types = [ids.get_type().into(), cells.get_type().into()];
                self.call_intrinsic("llvm.masked.scatter", &types, &arguments)?;
            }
        }
        b.build_unconditional_branch(done)?;
        b.position_at_end(slow);
        Ok(())
    }

    /// The cells of active lanes, and of the others `own`.
    ///
    /// Where there are none, the program's data are taken for them: of active lanes, which it is about to read.
    fn active_cells(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        own: VectorValue<'ctx>,
    ) -> Emitted<Cells<'ctx>> {
        let align = self.c32(lanes.align.min(lanes.bytes) as u32);
        let (name, cells, shift): (_, BasicValueEnum<'ctx>, _) = match lanes.places {
            Places::From(pointer) => {
                let shift = self.common_shift(prologue, lanes, pointer)?;
                ("llvm.masked.load", self.moved(pointer, shift)?.into(), Shift::Common(shift))
            }
            Places::Each(pointers) => {
                let shifts = self.shifts(prologue, lanes, pointers)?;
                ("llvm.masked.gather", self.each_moved(pointers, shifts)?.into(), Shift::Each(shifts))
            }
        };
        let arguments = [cells.into(), align.into(), lanes.mask.into(), own.into()];
        let states = self.intrinsic(name, &[own.get_type().into(), cells.get_type()], &arguments)?.into_vector_value();
        Ok(Cells { states, shift })
    }

    /// From data to cells, of lanes behind each other.
    fn common_shift(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        pointer: PointerValue<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let bytes = lanes.bytes * u64::from(lanes.count());
        self.shift(prologue, (lanes.direction, &Access { pointer, bytes, align: lanes.align }), None)
    }

    fn moved(&self, pointer: PointerValue<'ctx>, shift: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let address = self.builder.build_int_add(self.number_of(pointer)?, shift, "")?;
        Ok(self.builder.build_int_to_ptr(address, self.ptr, "")?)
    }

    /// From data to cells, of each lane; of those that are not active 0.
    fn shifts(
        &self,
        prologue: &Prologue<'ctx>,
        lanes: &Lanes<'ctx>,
        pointers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let b = &self.builder;
        let directory = b.build_ptr_to_int(prologue.directory_of(lanes.direction)?, self.i64, "")?;
        let number = |n| self.splat(self.c64(n), lanes.count());
        let addresses = self.addresses(pointers)?;
        let chunks = b.build_right_shift(addresses, number(CHUNK_SHIFT.into())?, false, "")?;
        let entries = b.build_left_shift(chunks, number(3)?, "")?;
        let entries = b.build_int_add(entries, self.splat(directory, lanes.count())?, "")?;
        let entries = b.build_int_to_ptr(entries, pointers.get_type(), "")?;
        let none = addresses.get_type().const_zero();
        let arguments = [entries.into(), self.c32(8).into(), lanes.mask.into(), none.into()];
        let types = [none.get_type().into(), entries.get_type().into()];
        Ok(self.intrinsic("llvm.masked.gather", &types, &arguments)?.into_vector_value())
    }

    fn each_moved(&self, pointers: VectorValue<'ctx>, shifts: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let cells = self.builder.build_int_add(self.addresses(pointers)?, shifts, "")?;
        Ok(self.builder.build_int_to_ptr(cells, pointers.get_type(), "")?)
    }

    fn addresses(&self, pointers: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let numbers = self.i64.vec_type(pointers.get_type().get_size());
        Ok(self.builder.build_ptr_to_int(pointers, numbers, "")?)
    }

    /// Whether there are no cells for some of these lanes.
    fn is_missing(&self, shifts: VectorValue<'ctx>, lanes: VectorValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let missing = b.build_int_compare(IntPredicate::EQ, shifts, shifts.get_type().const_zero(), "")?;
        Ok(b.build_not(self.none(b.build_and(missing, lanes, "")?)?, "")?)
    }

    /// Whether no lane is set.
    fn none(&self, lanes: VectorValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let bits = self.mask_bits(lanes)?;
        self.compare(IntPredicate::EQ, bits, bits.get_type().const_zero())
    }
}
