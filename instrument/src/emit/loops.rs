//! Asks the runtime, before a loop that has a plain copy, whether the copy may run.

use super::{Emitted, ModuleEmitter};
use crate::access::Direction;
use crate::error::PassError;
use crate::llvm;
use crate::optimise::whole_loops::{Offer, OfferedAccess};
use inkwell::IntPredicate;
use inkwell::values::{AsValueRef, BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue};
use std::mem::{offset_of, size_of};
use threadtalk_abi::hooks;
use threadtalk_abi::loops::{self, Access};
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::window::SHORTEST_ASKED;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Makes the decision of each offered loop.
    pub fn offer_loops(&self, function: FunctionValue<'ctx>, offers: &mut [Offer<'ctx>]) -> Emitted<()> {
        let Some(most) = offers.iter().map(|o| o.accesses.len()).max() else { return Ok(()) };
        let list = self.list::<Access>(function, most)?;
        offers.iter_mut().try_for_each(|offer| self.offer(list, offer))
    }

    /// Room for a list of so many descriptions in the function's frame.
    pub(super) fn list<T>(&self, function: FunctionValue<'ctx>, most: usize) -> Emitted<PointerValue<'ctx>> {
        let entry = function.get_first_basic_block().and_then(|b| b.get_first_instruction());
        self.builder.position_before(&entry.ok_or(PassError::Invalid("empty function".into()))?);
        let words = (most * size_of::<T>() / 8) as u32;
        Ok(self.builder.build_alloca(self.i64.array_type(words), "")?)
    }

    fn offer(&self, list: PointerValue<'ctx>, offer: &mut Offer<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let here = offer.branch.get_parent().ok_or(PassError::Invalid("branch without block".into()))?;
        let ways = llvm::successors_of(offer.branch);
        let [plain, hooked] = ways[..] else { return Err(PassError::Invalid("a decision has two ways".into())) };
        let ask = self.block_after(here);

        b.position_before(&offer.branch);
        let long = self.compare(IntPredicate::UGE, offer.iterations, self.c64(SHORTEST_ASKED))?;
        llvm::redirect(offer.branch, long, ask);

        b.position_at_end(ask);
        llvm::set_location(b, llvm::debug::of(offer.branch).map(|l| l.raw));
        for (i, access) in offer.accesses.iter().enumerate() {
            let leaders = offer.accesses.iter().take(i + 1).map(|a| a.strand.leader);
            let group = leaders.collect::<Vec<_>>().chunk_by(|a, b| a == b).count() - 1;
            let window =
                offer.groups.as_ref().and_then(|groups| Some((offer.number + group, groups.get(group)?.strided)));
            self.describe(self.offset(list, (i * size_of::<Access>()) as u64)?, access, window)?;
        }
        let count = self.c32(offer.accesses.len() as u32 | if offer.strays { loops::STRAYS } else { 0 });
        let call = self.call_directly(hooks::LOOP, &[list.into(), count.into(), offer.iterations.into()])?;
        offer.question = call.try_as_basic_value().basic().and_then(|v| v.as_instruction_value());
        let settled = call.try_as_basic_value().basic().ok_or(PassError::Invalid("the hook has a result".into()))?;
        let settled = self.compare(IntPredicate::NE, settled.into_int_value(), self.c32(0))?;
        b.build_conditional_branch(settled, plain, hooked)?;
        llvm::set_location(b, None);
        Ok(())
    }

    /// `window`: the number of the access's group, and whether it is strided.
    fn describe(
        &self,
        at: PointerValue<'ctx>,
        access: &OfferedAccess<'ctx>,
        window: Option<(usize, bool)>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let (flags, base) = match access.strand.direction {
            Direction::Read => (0, offset_of!(ModuleBases, site_base)),
            Direction::Write => (loops::WRITE, offset_of!(ModuleBases, write_site_base)),
        };
        let flags = flags | window.filter(|w| w.1).map_or(0, |_| loops::STRIDED);
        let site = b.build_int_add(self.load_base(base)?, self.c32(access.strand.site.0), "")?;
        let store = |field: usize, value: IntValue<'ctx>| -> Emitted<()> {
            b.build_store(self.offset(at, field as u64)?, value)?;
            Ok(())
        };
        let address = b.build_ptr_to_int(access.address, self.i64, "")?;
        let address = b.build_int_add(address, self.c64(access.strand.first as u64), "")?;
        store(offset_of!(Access, address), address)?;
        store(offset_of!(Access, stride), access.stride)?;
        store(offset_of!(Access, bytes), self.c64(access.strand.bytes | u64::from(flags) << 32))?;
        let number = window.map_or(0, |w| w.0 as u64 + 1);
        store(offset_of!(Access, site), b.build_or(self.widen(site)?, self.c64(number << 32), "")?)
    }
}

/// The branch behind an offer's question: to the plain copy, or to the other one.
pub(super) fn decision<'ctx>(offer: &Offer<'ctx>) -> Emitted<InstructionValue<'ctx>> {
    let ask = offer.question.and_then(|question| question.get_parent());
    let decision = ask.and_then(|block| block.get_terminator());
    decision.ok_or(PassError::Invalid("an offer without a question".into()))
}

/// Tells the runtime that these questions are asked inside nests, or by loops with windows.
pub fn place_in_nests<'ctx>(module: &ModuleEmitter<'_, 'ctx>, questions: &[InstructionValue<'ctx>], flag: u32) {
    for question in questions {
        if let Some(count) = llvm::constant(llvm::operand(question.as_value_ref(), COUNT)) {
            question.set_operand(COUNT, module.c32(count as u32 | flag));
        }
    }
}

/// The number of accesses among the hook's arguments.
const COUNT: u32 = 1;

const _: () = assert!(
    offset_of!(Access, flags) == offset_of!(Access, bytes) + 4
        && offset_of!(Access, window) == offset_of!(Access, site) + 4,
    "two fields are stored as one word"
);
