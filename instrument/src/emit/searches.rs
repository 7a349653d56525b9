//! Tells the runtime, where the copy of a search is left, how far it got.

use super::questions::Question;
use super::{Emitted, ModuleEmitter};
use crate::llvm;
use crate::optimise::searches::Search;
use inkwell::values::FunctionValue;
use threadtalk_abi::hooks;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Makes the calls of all searches of a function.
    pub fn tell_searches(&self, function: FunctionValue<'ctx>, searches: &[Search<'ctx>]) -> Emitted<()> {
        if searches.is_empty() {
            return Ok(());
        }
        let questions = searches.iter().map(question).collect::<Emitted<Vec<_>>>()?;
        let room = self.room(function, &questions)?;
        for (search, question) in searches.iter().zip(&questions) {
            self.builder.position_before(&search.ask);
            let (table, [values, bases]) = self.put(question, room)?;
            for exit in &search.exits {
                self.builder.position_before(&exit.at);
                llvm::set_location(&self.builder, llvm::debug::of(exit.at).map(|l| l.raw));
                let executed = self.c32(exit.executed as u32);
                let count = self.c32(question.rows());
                let arguments = [table, count.into(), exit.iterations.into(), executed.into(), values, bases];
                self.call_directly(hooks::SEARCHED, &arguments)?;
            }
            llvm::set_location(&self.builder, None);
        }
        Ok(())
    }
}

fn question<'ctx>(search: &Search<'ctx>) -> Emitted<Question<'ctx>> {
    let mut question = Question::default();
    search.accesses.iter().try_for_each(|access| question.add_access(access, (0, 0)))?;
    Ok(question)
}
