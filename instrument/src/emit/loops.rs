//! Asks the runtime, before a loop that has a plain copy, whether the copy may run.

use super::questions::Question;
use super::{Emitted, ModuleEmitter};
use crate::error::PassError;
use crate::llvm;
use crate::optimise::whole_loops::Offer;
use crate::optimise::windows;
use inkwell::IntPredicate;
use inkwell::module::Linkage;
use inkwell::values::{AsValueRef, BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue};
use threadtalk_abi::hooks;
use threadtalk_abi::loops;
use threadtalk_abi::thread::offset;
use threadtalk_abi::window::SHORTEST_ASKED;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Makes the decision of each offered loop.
    pub fn offer_loops(&self, function: FunctionValue<'ctx>, offers: &mut [Offer<'ctx>]) -> Emitted<()> {
        if offers.is_empty() {
            return Ok(());
        }
        let questions = offers.iter().map(question).collect::<Emitted<Vec<_>>>()?;
        let room = self.room(function, &questions)?;
        offers.iter_mut().zip(&questions).try_for_each(|(offer, question)| self.offer(room, offer, question))
    }

    fn offer(&self, room: PointerValue<'ctx>, offer: &mut Offer<'ctx>, question: &Question<'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let here = offer.branch.get_parent().ok_or(PassError::Invalid("branch without block".into()))?;
        let ways = llvm::successors_of(offer.branch);
        let [plain, hooked] = ways[..] else { return Err(PassError::Invalid("a decision has two ways".into())) };
        let ask = self.block_after(here);

        b.position_before(&offer.branch);
        // Where the function has the thread's control block, its credit is added (`is_asked`).
        let long = self.compare(IntPredicate::UGE, offer.iterations, self.c64(SHORTEST_ASKED))?;
        llvm::redirect(offer.branch, self.if_feasible(offer, long)?, ask);

        b.position_at_end(ask);
        llvm::set_location(b, llvm::debug::of(offer.branch).map(|l| l.raw));
        let strays = if offer.strays { loops::STRAYS } else { 0 };
        let count = self.c32(question.rows() | loops::CREDIT | strays);
        let (table, [values, bases]) = self.put(question, room)?;
        let credit = self.new_credit();
        let arguments = [table, count.into(), offer.iterations.into(), values, bases, credit.into()];
        let call = self.call_directly(hooks::LOOP, &arguments)?;
        offer.question = call.try_as_basic_value().basic().and_then(|v| v.as_instruction_value());
        let settled = call.try_as_basic_value().basic().ok_or(PassError::Invalid("the hook has a result".into()))?;
        let settled = self.compare(IntPredicate::NE, settled.into_int_value(), self.c32(0))?;
        b.build_conditional_branch(settled, plain, hooked)?;
        llvm::set_location(b, None);
        Ok(())
    }

    /// A byte of the module's data for the credit of a loop ([`threadtalk_abi::credit`]).
    fn new_credit(&self) -> PointerValue<'ctx> {
        let byte = self.context.i8_type();
        let global = self.module.add_global(byte, None, "threadtalk.credit");
        global.set_initializer(&byte.const_zero());
        global.set_linkage(Linkage::Private);
        global.as_pointer_value()
    }

    /// Whether a loop has iterations enough, with its credit, to be asked about.
    pub(super) fn is_asked(&self, header: PointerValue<'ctx>, offer: &Offer<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let question = offer.question.ok_or(PassError::Invalid("an offer without a question".into()))?;
        let credit = llvm::operand(question.as_value_ref(), CREDIT);
        // SAFETY: the question's operand is the pointer that `new_credit` made.
        let credit = unsafe { PointerValue::new(credit) };
        let credit = b.build_load(self.context.i8_type(), credit, "")?;
        if let Some(load) = credit.as_instruction_value() {
            self.mark_control(load);
        }
        let enough = b.build_int_add(offer.iterations, self.widen(credit.into_int_value())?, "")?;
        self.compare(IntPredicate::UGE, enough, self.load_int(self.i64, header, offset::LEAST_ASKED)?)
    }

    /// Lets a loop that does not look into windows be asked about by its credit, too.
    pub fn ask_by_credit(&self, header: PointerValue<'ctx>, offer: &Offer<'ctx>) -> Emitted<()> {
        self.builder.position_before(&offer.branch);
        let asked = self.is_asked(header, offer)?;
        llvm::set_condition(offer.branch, self.if_feasible(offer, asked)?);
        Ok(())
    }

    /// A condition for the plain copy, with what its description depends on.
    pub(super) fn if_feasible(&self, offer: &Offer<'ctx>, condition: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let feasible = offer.feasible.map(|feasible| self.builder.build_and(condition, feasible, "")).transpose()?;
        Ok(feasible.unwrap_or(condition))
    }
}

fn question<'ctx>(offer: &Offer<'ctx>) -> Emitted<Question<'ctx>> {
    let mut question = Question::default();
    let groups = windows::in_groups(&offer.accesses).enumerate();
    for (group, access) in groups.flat_map(|(number, accesses)| accesses.iter().map(move |access| (number, access))) {
        let window = offer.groups.as_ref().and_then(|groups| Some((offer.number + group, groups.get(group)?.strided)));
        let strided = window.filter(|w| w.1).map_or(0, |_| loops::STRIDED);
        question.add_access(access, (strided, window.map_or(0, |w| w.0 as u32 + 1)))?;
    }
    Ok(question)
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

/// The credit among them.
const CREDIT: u32 = 5;
