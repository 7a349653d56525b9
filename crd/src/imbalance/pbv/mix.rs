//! Executed instructions by category and memory operations by class of block (Harmony, section 5.2, Figures 8 and 9).

use serde::Serialize;
use std::collections::BTreeMap;

use super::{Class, class};

/// The categories of instructions of Harmony's Figure 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Loads and stores.
    Memory,
    /// Computation of addresses.
    Address,
    /// Integer arithmetic.
    Integer,
    /// Floating point arithmetic.
    FloatingPoint,
    /// Comparisons.
    Comparison,
    /// Conditional transfers of control.
    Conditional,
    /// Unconditional transfers of control: jumps, calls, returns.
    Unconditional,
    /// Atomics, fences, calls of synchronisation.
    Synchronisation,
}

/// What one execution of a block executes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Instructions of each category.
    pub instructions: BTreeMap<Category, u32>,
    /// Loads.
    pub loads: u32,
    /// Stores.
    pub stores: u32,
}

/// What the blocks of a class executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mix {
    /// Blocks in the class.
    pub blocks: u64,
    /// Executions of them.
    pub executions: u64,
    /// Instructions.
    pub instructions: u64,
    /// Share of each category in these, 0 to 1; all together 1, or empty if no instruction was executed.
    pub shares: BTreeMap<Category, f64>,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

/// The classes and all of them together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpcodeMix {
    /// Each class that has a block.
    pub classes: BTreeMap<Class, Mix>,
    /// The whole program.
    pub all: Mix,
}

impl OpcodeMix {
    /// Share of each category in each class: the `opcode_mix` of `threadtalk.imbalance/1`.
    pub fn shares(&self) -> BTreeMap<Class, &BTreeMap<Category, f64>> {
        self.classes.iter().map(|(&class, mix)| (class, &mix.shares)).collect()
    }
}

/// Mix of every class, from vector and contents of each block.
pub fn mix<'a>(blocks: impl IntoIterator<Item = (&'a [u64], &'a Contents)>) -> OpcodeMix {
    let mut sums: BTreeMap<Class, Sum> = BTreeMap::new();
    let mut all = Sum::default();
    for (counts, contents) in blocks {
        for sum in [sums.entry(class(counts)).or_default(), &mut all] {
            sum.add(counts.iter().sum(), contents);
        }
    }
    OpcodeMix { classes: sums.into_iter().map(|(class, sum)| (class, sum.finish())).collect(), all: all.finish() }
}

#[derive(Default)]
struct Sum {
    mix: Mix,
    instructions: BTreeMap<Category, u64>,
}

impl Sum {
    fn add(&mut self, executions: u64, contents: &Contents) {
        self.mix.blocks += 1;
        self.mix.executions += executions;
        self.mix.loads += executions * u64::from(contents.loads);
        self.mix.stores += executions * u64::from(contents.stores);
        for (&category, &count) in &contents.instructions {
            *self.instructions.entry(category).or_default() += executions * u64::from(count);
        }
    }

    fn finish(self) -> Mix {
        let total: u64 = self.instructions.values().sum();
        let share = |count: u64| count as f64 / total as f64;
        let shares = self.instructions.into_iter().filter(|_| total > 0).map(|(c, n)| (c, share(n))).collect();
        Mix { instructions: total, shares, ..self.mix }
    }
}
