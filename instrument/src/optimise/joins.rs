//! Blocks that always run one after the other, however control gets from one to the other: what is behind an `if`, and
//! what was before it.

use super::segment::synchronises;
use crate::llvm;
use inkwell::basic_block::BasicBlock;
use std::collections::{HashMap, HashSet};

/// Blocks between the two, at most: conditions of a few comparisons. Keeps the work linear.
const MOST_BETWEEN: usize = 12;

/// Of some blocks, those that always run next.
pub struct Joins<'ctx> {
    before: HashMap<BasicBlock<'ctx>, BasicBlock<'ctx>>,
}

impl<'ctx> Joins<'ctx> {
    /// Finds them for `blocks`, all those with events of a function.
    pub fn find(blocks: &[BasicBlock<'ctx>]) -> Self {
        let with_events: HashSet<_> = blocks.iter().copied().collect();
        let joins = blocks.iter().filter_map(|&block| Some((next(block, &with_events)?, block)));
        Joins { before: joins.collect() }
    }

    /// The block with events that always runs before this one, and behind which this one always runs. Nothing in
    /// between synchronises or has events.
    pub fn before(&self, block: BasicBlock<'ctx>) -> Option<BasicBlock<'ctx>> {
        self.before.get(&block).copied()
    }
}

/// Takes blocks that are reached only from `block` for as long as ways are apart. If they meet in a block with events,
/// which nothing else leads to, that is the next one. None of them can begin a loop: a way back would lead there, too.
fn next<'ctx>(block: BasicBlock<'ctx>, with_events: &HashSet<BasicBlock<'ctx>>) -> Option<BasicBlock<'ctx>> {
    let mut taken = vec![block];
    let mut ahead = ways(block)?;
    loop {
        let at = ahead.iter().position(|to| llvm::is_reached_only_from(*to, &taken))?;
        let found = ahead.swap_remove(at);
        if with_events.contains(&found) {
            return ahead.is_empty().then_some(found);
        }
        if taken.len() > MOST_BETWEEN || found.get_instructions().any(synchronises) {
            return None;
        }
        taken.push(found);
        for to in ways(found)? {
            if !ahead.contains(&to) {
                ahead.push(to);
            }
        }
    }
}

/// Where a block leads; `None` if it ends the function.
fn ways<'ctx>(block: BasicBlock<'ctx>) -> Option<Vec<BasicBlock<'ctx>>> {
    let mut ways = llvm::successors(block);
    ways.sort_unstable_by_key(|to| to.as_mut_ptr());
    ways.dedup();
    (!ways.is_empty()).then_some(ways)
}
