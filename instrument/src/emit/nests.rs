//! Asks the runtime, before a nest of loops that can be described as a whole, whether it may run without hooks.

use super::questions::{Question, Row};
use super::{Emitted, Likely, ModuleEmitter};
use crate::access::Direction;
use crate::error::PassError;
use crate::llvm;
use crate::optimise::tiles::{Tile, Tiled};
use crate::optimise::whole_loops::Offer;
use crate::tables::SiteId;
use inkwell::IntPredicate;
use inkwell::values::{AsValueRef, FunctionValue, IntValue, PointerValue};
use threadtalk_abi::hooks;
use threadtalk_abi::loops::{FIXED, NEST_ITERATIONS, STEPS};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Makes the question of each nest, and lets its innermost loops follow the answer. Returns the answers.
    pub fn ask_nests(
        &self,
        function: FunctionValue<'ctx>,
        nests: &[&Tiled<'ctx>],
        offers: &[Offer<'ctx>],
    ) -> Emitted<Vec<IntValue<'ctx>>> {
        if nests.is_empty() {
            return Ok(Vec::new());
        }
        let questions = nests.iter().map(|nest| self.question(nest)).collect::<Emitted<Vec<_>>>()?;
        let room = self.room(function, &questions)?;
        let mut answers = Vec::new();
        for (nest, question) in nests.iter().zip(&questions) {
            let settled = self.ask_nest(room, nest, question)?;
            for offer in nest.offers.iter().filter_map(|&number| offers.get(number)) {
                self.follow(settled, offer)?;
            }
            answers.push(settled);
        }
        Ok(answers)
    }

    fn question(&self, nest: &Tiled<'ctx>) -> Emitted<Question<'ctx>> {
        let mut question = Question::default();
        for (i, tile) in nest.tiles.iter().enumerate() {
            let &Tile { direction, site, bytes, address, first, steps } = tile;
            let window = (nest.number + i) as u32 + 1;
            question.begin(&Row { direction, site, bytes, flags: 0, window, address, first })?;
            for (stride, count) in steps {
                question.add(stride);
                question.add(count);
            }
        }
        for &(address, bytes) in &nest.fixed {
            let (direction, site) = (Direction::Read, SiteId(0));
            question.begin(&Row { direction, site, bytes, flags: FIXED, window: 0, address, first: 0 })?;
            for _ in 0..STEPS {
                question.add(self.c64(0));
                question.add(self.c64(1));
            }
        }
        Ok(question)
    }

    fn ask_nest(
        &self,
        room: PointerValue<'ctx>,
        nest: &Tiled<'ctx>,
        question: &Question<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let block = || nest.before.get_parent().ok_or(PassError::Invalid("a nest without preheader".into()));
        let head = block()?;
        llvm::split_before(nest.before).ok_or(PassError::Invalid("block cannot be split".into()))?;
        let enter = block()?;
        self.reopen(head)?;
        let location = llvm::debug::of(nest.before).map(|l| l.raw);
        llvm::set_location(b, location);
        let mut most: Option<IntValue<'ctx>> = None;
        for product in products(&nest.tiles) {
            let mut all = (product.constant > 1).then(|| self.c64(product.constant));
            for &count in &product.counts {
                all = Some(all.map_or(Ok(count), |all| b.build_int_mul(all, count, ""))?);
            }
            let all = all.unwrap_or(self.c64(1));
            most = Some(match most {
                Some(most) => {
                    let larger = self.compare(IntPredicate::UGT, all, most)?;
                    b.build_select(larger, all, most, "")?.into_int_value()
                }
                None => all,
            });
        }
        let most = most.unwrap_or(self.c64(0));
        let (least, end) = NEST_ITERATIONS;
        let beyond = b.build_int_sub(most, self.c64(least), "")?;
        let fits = self.compare(IntPredicate::ULT, beyond, self.c64(end - least))?;
        let ask = self.block_after(head);
        let worth = llvm::frozen(b, b.build_and(nest.feasible, fits, "")?);
        self.branch(worth, ask, enter, Likely::Mostly)?;

        b.position_at_end(ask);
        let (table, [values, bases]) = self.put(question, room)?;
        let call = self.call_directly(hooks::NEST, &[table, self.c32(question.rows()).into(), values, bases])?;
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
}

/// How often a tile is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Product<Count> {
    constant: u64,
    counts: Vec<Count>,
}

impl<Count: PartialEq + Copy> Product<Count> {
    /// Whether it is no larger than the other one: each of its counts is one of the other's, and what those have beside
    /// them is 1 at least. A remainder's count may be 0: the nest may then seem smaller than it is, and not be asked
    /// about.
    fn is_part_of(&self, other: &Self) -> bool {
        let mut rest = other.counts.clone();
        let mut all_in = self.counts.iter().map(|count| {
            let place = rest.iter().position(|other| other == count);
            place.map(|place| rest.swap_remove(place))
        });
        self.constant <= other.constant && all_in.all(|count| count.is_some())
    }
}

/// The products of which one is the largest. Tiles of a nest mostly have the same counts, or some of them.
fn products<'ctx>(tiles: &[Tile<'ctx>]) -> Vec<Product<IntValue<'ctx>>> {
    let all = tiles.iter().map(|tile| {
        let mut product = Product { constant: 1, counts: Vec::new() };
        for (_, count) in tile.steps {
            match llvm::constant(count.as_value_ref()) {
                Some(constant) => product.constant = product.constant.saturating_mul(constant),
                None => product.counts.push(count),
            }
        }
        product
    });
    largest(all)
}

fn largest<Count: PartialEq + Copy>(all: impl Iterator<Item = Product<Count>>) -> Vec<Product<Count>> {
    let mut out: Vec<Product<Count>> = Vec::new();
    for product in all {
        if !out.iter().any(|other| product.is_part_of(other)) {
            out.retain(|other| !other.is_part_of(&product));
            out.push(product);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(constant: u64, counts: &str) -> Product<char> {
        Product { constant, counts: counts.chars().collect() }
    }

    #[test]
    fn products_that_are_part_of_others_are_left_out() {
        let left = |all: &[(u64, &str)]| largest(all.iter().map(|(constant, counts)| product(*constant, counts)));
        assert_eq!(left(&[(1, "a"), (1, "ab"), (1, "ba"), (1, "b"), (1, "")]), [product(1, "ab")]);
        assert_eq!(left(&[(1, "ab"), (1, "bc")]), [product(1, "ab"), product(1, "bc")]);
        assert_eq!(left(&[(1, "aa"), (1, "ab"), (1, "a")]), [product(1, "aa"), product(1, "ab")]);
        assert_eq!(left(&[(16, "a"), (4, "ab"), (2, "a")]), [product(16, "a"), product(4, "ab")]);
        assert_eq!(left(&[(4, ""), (1, "")]), [product(4, "")]);
    }
}
