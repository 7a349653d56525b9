//! Asks the runtime, before a nest of loops that can be described as a whole, whether it may run without hooks.

use super::{Emitted, Likely, ModuleEmitter};
use crate::access::Direction;
use crate::error::PassError;
use crate::llvm;
use crate::optimise::tiles::{Tile, Tiled};
use crate::optimise::whole_loops::Offer;
use inkwell::IntPredicate;
use inkwell::values::{FunctionValue, IntValue, PointerValue};
use std::mem::{offset_of, size_of};
use threadtalk_abi::hooks;
use threadtalk_abi::loops::{self, NEST_ITERATIONS, NestAccess, Step};
use threadtalk_abi::module::ModuleBases;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Makes the question of each nest, and lets its innermost loops follow the answer. Returns the answers.
    pub fn ask_nests(
        &self,
        function: FunctionValue<'ctx>,
        nests: &[&Tiled<'ctx>],
        offers: &[Offer<'ctx>],
    ) -> Emitted<Vec<IntValue<'ctx>>> {
        let Some(most) = nests.iter().map(|n| n.tiles.len()).max() else { return Ok(Vec::new()) };
        let list = self.list::<NestAccess>(function, most)?;
        let mut answers = Vec::new();
        for nest in nests {
            let settled = self.ask_nest(list, nest)?;
            for offer in nest.offers.iter().filter_map(|&number| offers.get(number)) {
                self.follow(settled, offer)?;
            }
            answers.push(settled);
        }
        Ok(answers)
    }

    fn ask_nest(&self, list: PointerValue<'ctx>, nest: &Tiled<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let block = || nest.before.get_parent().ok_or(PassError::Invalid("a nest without preheader".into()));
        let head = block()?;
        llvm::split_before(nest.before).ok_or(PassError::Invalid("block cannot be split".into()))?;
        let enter = block()?;
        self.reopen(head)?;
        let location = llvm::debug::of(nest.before).map(|l| l.raw);
        llvm::set_location(b, location);
        let counts = nest.tiles.iter().map(|tile| tile.steps.map(|(_, count)| count));
        let mut most = self.c64(0);
        for [inner, middle, outer] in counts {
            let all = b.build_int_mul(b.build_int_mul(inner, middle, "")?, outer, "")?;
            most = b.build_select(self.compare(IntPredicate::UGT, all, most)?, all, most, "")?.into_int_value();
        }
        let (least, end) = NEST_ITERATIONS;
        let beyond = b.build_int_sub(most, self.c64(least), "")?;
        let fits = self.compare(IntPredicate::ULT, beyond, self.c64(end - least))?;
        let ask = self.block_after(head);
        let worth = llvm::frozen(b, b.build_and(nest.feasible, fits, "")?);
        self.branch(worth, ask, enter, Likely::Mostly)?;

        b.position_at_end(ask);
        for (i, tile) in nest.tiles.iter().enumerate() {
            let at = self.offset(list, (i * size_of::<NestAccess>()) as u64)?;
            self.describe_tile(at, tile, (nest.number + i) as u64)?;
        }
        let call = self.call_directly(hooks::NEST, &[list.into(), self.c32(nest.tiles.len() as u32).into()])?;
        let settled = call.try_as_basic_value().basic().ok_or(PassError::Invalid("the hook has a result".into()))?;
        let settled = self.compare(IntPredicate::NE, settled.into_int_value(), self.c32(0))?;
        b.build_unconditional_branch(enter)?;

        b.position_before(&nest.before);
        llvm::set_location(b, location);
        let answer = b.build_phi(self.context.bool_type(), "")?;
        answer.add_incoming(&[(&self.context.bool_type().const_zero(), head), (&settled, ask)]);
        llvm::set_location(b, None);
        Ok(answer.as_basic_value().into_int_value())
    }

    /// A loop of the nest runs as its plain copy, without a look of its own.
    fn follow(&self, settled: IntValue<'ctx>, offer: &Offer<'ctx>) -> Emitted<()> {
        let head = offer.branch.get_parent().ok_or(PassError::Invalid("branch without block".into()))?;
        let decision = super::loops::decision(offer)?;
        let plain = llvm::successors_of(decision)[0];
        let look = llvm::split_before(offer.branch).ok_or(PassError::Invalid("block cannot be split".into()))?;
        self.reopen(head)?;
        llvm::set_location(&self.builder, llvm::debug::of(offer.branch).map(|l| l.raw));
        self.branch(settled, plain, look, Likely::Mostly)?;
        llvm::set_location(&self.builder, None);
        Ok(())
    }

    fn describe_tile(&self, at: PointerValue<'ctx>, tile: &Tile<'ctx>, number: u64) -> Emitted<()> {
        let b = &self.builder;
        let (flags, base) = match tile.direction {
            Direction::Read => (0, offset_of!(ModuleBases, site_base)),
            Direction::Write => (loops::WRITE, offset_of!(ModuleBases, write_site_base)),
        };
        let store = |field: usize, value: IntValue<'ctx>| -> Emitted<()> {
            b.build_store(self.offset(at, field as u64)?, value)?;
            Ok(())
        };
        let address = b.build_ptr_to_int(tile.address, self.i64, "")?;
        let address = b.build_int_add(address, self.c64(tile.first as u64), "")?;
        store(offset_of!(NestAccess, address), address)?;
        store(offset_of!(NestAccess, bytes), self.c64(tile.bytes | u64::from(flags) << 32))?;
        let site = b.build_int_add(self.load_base(base)?, self.c32(tile.site.0), "")?;
        store(offset_of!(NestAccess, site), b.build_or(self.widen(site)?, self.c64((number + 1) << 32), "")?)?;
        for (i, (stride, count)) in tile.steps.iter().enumerate() {
            let step = offset_of!(NestAccess, steps) + i * size_of::<Step>();
            store(step + offset_of!(Step, stride), *stride)?;
            store(step + offset_of!(Step, count), *count)?;
        }
        Ok(())
    }
}

const _: () = assert!(
    offset_of!(NestAccess, flags) == offset_of!(NestAccess, bytes) + 4
        && offset_of!(NestAccess, window) == offset_of!(NestAccess, site) + 4,
    "two fields are stored as one word"
);
