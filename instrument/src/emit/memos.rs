//! Reads that compare with the state that they saw last: see [`threadtalk_abi::memo`].
//!
//! Four instructions where the event cache takes fourteen. What the memo does not know goes to a function of the
//! runtime's archive (`threadtalk.recall8`), which looks into the event cache and, if the state is there, lets the memo
//! take it over.

use super::read::{Exits, Read};
use super::thunks::{Alignment, PRESERVE_ALL};
use super::{Emitted, Likely, ModuleEmitter};
use crate::error::PassError;
use inkwell::IntPredicate;
use inkwell::types::FunctionType;
use inkwell::values::{FunctionValue, IntValue, PointerValue};
use threadtalk_abi::GRANULE;
use threadtalk_abi::hooks::Hook;
use threadtalk_abi::memo::{MOST_PENDING, NO_STATE, PACKED_NUMBER, PACKED_SHARE};
use threadtalk_abi::thread::offset;
use threadtalk_abi::window::NUMBERS;

/// A memo that shares a counter is not asked again sooner. Of the least sampling period it is two.
const LEAST_GRANTED: u64 = 32;
/// Name of the function that empties memos.
pub(super) const FORGET: &str = "threadtalk.forget";
/// And of the one that does so in functions that nests may call.
pub(super) const FORGET_CALLED: &str = "threadtalk.forget_called";

/// What the event cache knows of a read's cells.
pub(super) struct Known<'ctx> {
    /// The first two and the next two.
    pub states: [IntValue<'ctx>; 2],
    /// Where their state counts.
    pub counter: PointerValue<'ctx>,
    /// Where the other half of them counts, if they are in two states.
    pub second: Option<PointerValue<'ctx>>,
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// What a read took although there was not so much left, the function behind it gives back first of all: the read
    /// itself subtracts and looks at the carry.
    pub(super) fn give_back(&self, memo: PointerValue<'ctx>, count: IntValue<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let left = self.load_int(self.i64, memo, offset::MEMO_LEFT)?;
        let taken = b.build_right_shift(left, self.c64(63), true, "")?;
        let back = b.build_and(taken, count, "")?;
        b.build_store(self.offset(memo, offset::MEMO_LEFT)?, b.build_int_add(left, back, "")?)?;
        Ok(())
    }

    /// The memo takes over a state that counts in `counter`, and counts the present read.
    ///
    /// All memos of one site may count in one counter. Together they must not pass the next sample by much, so each
    /// gets a share of what is left until then: one in `2^share`, but enough for [`LEAST_GRANTED`] granules.
    pub(super) fn refill(
        &self,
        (memo, share): (PointerValue<'ctx>, IntValue<'ctx>),
        (known, count): (&Known<'ctx>, IntValue<'ctx>),
        exits: Exits<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        self.settle(memo)?;
        let mut until = self.not_due(known.counter, count, exits.slow)?.until(self)?;
        if let Some(second) = known.second {
            let other = self.not_due(second, count, exits.slow)?.until(self)?;
            until = self.intrinsic("llvm.umin", &[self.i64.into()], &[until.into(), other.into()])?.into_int_value();
        }
        let part = b.build_right_shift(until, share, false, "")?;
        let word = [self.i64.into()];
        let least = self.intrinsic("llvm.umax", &word, &[part.into(), self.c64(LEAST_GRANTED).into()])?;
        let most = self.intrinsic("llvm.umin", &word, &[until.into(), self.c64(MOST_PENDING).into()])?;
        let granted = self.intrinsic("llvm.umin", &word, &[least.into(), most.into()])?.into_int_value();
        b.build_store(self.offset(memo, offset::MEMO_STATES)?, known.states[0])?;
        b.build_store(self.offset(memo, offset::MEMO_NEXT_STATES)?, known.states[1])?;
        b.build_store(self.offset(memo, offset::MEMO_COUNTER)?, known.counter)?;
        b.build_store(self.offset(memo, offset::MEMO_SECOND)?, known.second.unwrap_or(known.counter))?;
        b.build_store(self.offset(memo, offset::MEMO_COUNTED)?, granted)?;
        b.build_store(self.offset(memo, offset::MEMO_LEFT)?, b.build_int_sub(granted, count, "")?)?;
        b.build_unconditional_branch(exits.done)?;
        Ok(())
    }

    /// The memo takes over two states of which each has half of the cells, and counts the present read; goes on at
    /// `mixed` if the cells are in more of them, or the event cache does not know both.
    pub(super) fn refill_pair(&self, read: &Read<'_, 'ctx>, memo: (PointerValue<'ctx>, IntValue<'ctx>)) -> Emitted<()> {
        let b = &self.builder;
        let (cells, align) = (read.translation.cells, read.access.align);
        let first = self.load_pair(cells, align)?;
        let (low, high) = self.halves(first)?;
        let (next, other) = match read.access.bytes {
            8 => (first, high),
            _ => {
                let next = self.load_pair(self.offset(cells, 2 * GRANULE)?, align)?;
                let (next_low, next_high) = self.halves(next)?;
                let equal = self.compare(IntPredicate::EQ, low, high)?;
                let next_equal = self.compare(IntPredicate::EQ, next_low, next_high)?;
                let by_half = b.build_and(equal, next_equal, "")?;
                let by_turns = self.compare(IntPredicate::EQ, first, next)?;
                let two = self.block_after(self.here()?);
                self.branch(b.build_or(by_half, by_turns, "")?, two, read.exits.mixed, Likely::Usually)?;
                b.position_at_end(two);
                (next, b.build_select(by_half, next_low, high, "")?.into_int_value())
            }
        };
        let exits = Exits { slow: read.exits.mixed, ..read.exits };
        let known = |state| self.known_event(read.prologue, (state, read.site), exits.slow);
        let (counter, second) = (known(low)?, known(other)?);
        let known = Known { states: [first, next], counter, second: Some(second) };
        self.refill(memo, (&known, self.granules(read)?), exits)
    }

    fn count_in(&self, counter: PointerValue<'ctx>, count: IntValue<'ctx>) -> Emitted<()> {
        let rar = self.builder.build_int_add(self.load_int(self.i64, counter, offset::COUNTER_RAR)?, count, "")?;
        self.builder.build_store(self.offset(counter, offset::COUNTER_RAR)?, rar)?;
        Ok(())
    }

    /// Tells the memo's counters what the memo has counted: see `settle` of the runtime.
    fn settle(&self, memo: PointerValue<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let counted = self.load_int(self.i64, memo, offset::MEMO_COUNTED)?;
        let left = self.load_int(self.i64, memo, offset::MEMO_LEFT)?;
        b.build_store(self.offset(memo, offset::MEMO_COUNTED)?, left)?;
        let counter = |place| self.builder.build_load(self.ptr, self.offset(memo, place)?, "").map_err(PassError::from);
        let (first, second) = (counter(offset::MEMO_COUNTER)?, counter(offset::MEMO_SECOND)?);
        let (first, second) = (first.into_pointer_value(), second.into_pointer_value());
        let all = b.build_int_sub(counted, left, "")?;
        self.count_in(first, all)?;
        // A branch: nests of short rows settle their memos row by row, and few memos have two states.
        let two = self.block_after(self.here()?);
        let done = self.block_after(two);
        self.branch(b.build_int_compare(IntPredicate::NE, first, second, "")?, two, done, Likely::Rarely)?;
        b.position_at_end(two);
        let half = b.build_right_shift(all, self.c64(1), true, "")?;
        self.count_in(second, half)?;
        self.count_in(first, b.build_int_neg(half, "")?)?;
        b.build_unconditional_branch(done)?;
        b.position_at_end(done);
        Ok(())
    }

    /// `(address, packed)`: see [`threadtalk_abi::memo::packed`].
    pub(super) fn recall_type(&self) -> FunctionType<'ctx> {
        self.context.void_type().fn_type(&[self.ptr.into(), self.i64.into()], false)
    }

    /// The memo that a packed number names, and its share.
    pub(super) fn unpack(
        &self,
        header: PointerValue<'ctx>,
        packed: IntValue<'ctx>,
    ) -> Emitted<(PointerValue<'ctx>, IntValue<'ctx>)> {
        let b = &self.builder;
        let number = b.build_right_shift(packed, self.c64(PACKED_NUMBER.into()), false, "")?;
        let number = b.build_and(number, self.c64((1 << (PACKED_SHARE - PACKED_NUMBER)) - 1), "")?;
        let place = b.build_int_mul(number, self.c64(offset::MEMO_SIZE), "")?;
        let memo = self.offset_by(self.offset(header, offset::MEMOS)?, place)?;
        let share = b.build_right_shift(packed, self.c64(PACKED_SHARE.into()), false, "")?;
        Ok((memo, share))
    }

    /// Empties the first `memos` memos, where a nest is entered or left. `called`: the nest may be part of a caller's.
    pub(super) fn forget_memos(
        &self,
        header: PointerValue<'ctx>,
        called: bool,
        (memos, entered): (u32, bool),
    ) -> Emitted<()> {
        let used = if entered { memos } else { 0 };
        let arguments = [header.into(), self.c64(u64::from(memos)).into(), self.c32(used).into()];
        let name = if called { FORGET_CALLED } else { FORGET };
        let call = self.builder.build_call(self.function_for(name, self.forget_type())?, &arguments, "")?;
        call.set_call_convention(PRESERVE_ALL);
        Ok(())
    }

    /// Lets the functions that a nest calls look into its windows. Returns what is stored where it ends. `called`: the
    /// nest may be part of a caller's.
    pub(super) fn open_nest(&self, header: PointerValue<'ctx>, called: bool) -> Emitted<IntValue<'ctx>> {
        let place = self.offset(header, offset::CALLED)?;
        let before = if called { self.load_int(self.i64, header, offset::CALLED)? } else { self.c64(u64::MAX) };
        self.builder.build_store(place, self.load_int(self.i64, header, offset::SHORTEST)?)?;
        Ok(before)
    }

    pub(super) fn forget_type(&self) -> FunctionType<'ctx> {
        let parameters = [self.ptr.into(), self.i64.into(), self.i32.into()];
        self.context.void_type().fn_type(&parameters, false)
    }

    /// The body of [`FORGET`], or of [`FORGET_CALLED`]: in a caller's nest, that keeps what the nest knows of memory,
    /// and that it has memos.
    pub(super) fn forget_body(&self, function: FunctionValue<'ctx>, called: bool) -> Emitted<()> {
        let b = &self.builder;
        let [header, memos, used] = function.get_params()[..] else {
            return Err(PassError::Invalid("three parameters".into()));
        };
        let [entry, outermost, inner, body, done] = [(); 5].map(|()| self.context.append_basic_block(function, ""));
        b.position_at_end(entry);
        let (header, used) = (header.into_pointer_value(), used.into_int_value());
        let is_called = if called {
            let open = self.load_int(self.i64, header, offset::CALLED)?;
            self.compare(IntPredicate::NE, open, self.c64(u64::MAX))?
        } else {
            self.context.bool_type().const_zero()
        };
        b.build_conditional_branch(is_called, inner, outermost)?;
        b.position_at_end(inner);
        let before = self.load_int(self.i32, header, offset::MEMOS_USED)?;
        let most = self.intrinsic("llvm.umax", &[self.i32.into()], &[before.into(), used.into()])?.into_int_value();
        b.build_store(self.offset(header, offset::MEMOS_USED)?, most)?;
        b.build_unconditional_branch(body)?;
        b.position_at_end(outermost);
        b.build_store(self.offset(header, offset::MEMOS_USED)?, used)?;
        b.build_store(self.offset(header, offset::RANGES)?, self.c64(0))?;
        let stamp = self.load_int(self.i64, header, offset::STAMP)?;
        b.build_store(self.offset(header, offset::STAMP)?, b.build_int_add(stamp, self.c64(NUMBERS), "")?)?;
        b.build_store(self.offset(header, offset::EVENTS_FIRST)?, self.c64(u64::MAX))?;
        b.build_store(self.offset(header, offset::EVENTS_END)?, self.c64(0))?;
        b.build_unconditional_branch(body)?;
        b.position_at_end(body);
        let number = b.build_phi(self.i64, "")?;
        let index = number.as_basic_value().into_int_value();
        let first = self.offset(header, offset::MEMOS)?;
        let memo = self.offset_by(first, b.build_int_mul(index, self.c64(offset::MEMO_SIZE), "")?)?;
        self.settle(memo)?;
        for states in [offset::MEMO_STATES, offset::MEMO_NEXT_STATES] {
            b.build_store(self.offset(memo, states)?, self.c64(NO_STATE))?;
        }
        b.build_store(self.offset(memo, offset::MEMO_LEFT)?, self.c64(0))?;
        b.build_store(self.offset(memo, offset::MEMO_COUNTED)?, self.c64(0))?;
        let next = b.build_int_add(index, self.c64(1), "")?;
        let end = self.here()?;
        number.add_incoming(&[(&self.c64(0), outermost), (&self.c64(0), inner), (&next, end)]);
        let more = self.compare(IntPredicate::ULT, next, memos.into_int_value())?;
        b.build_conditional_branch(more, body, done)?;
        b.position_at_end(done);
        b.build_return(None)?;
        Ok(())
    }
}

/// `threadtalk.recall8.granules`.
pub(super) fn recall_name(hook: Hook, alignment: Alignment) -> String {
    hook.name.replace("__threadtalk_read", "threadtalk.recall") + alignment.suffix()
}
