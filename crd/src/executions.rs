//! How often lines that write were executed, where control flow was counted.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use threadtalk_abi::module::site_flags::LIBRARY;
use threadtalk_profile::Profile;

use crate::imbalance::profile::observed::{Block, Observed};
use crate::model::Position;
use crate::regions::{PROGRAM, RegionId, Tree, is_loop};

/// Executions of the blocks that write.
pub struct Executions {
    of_region: BTreeMap<RegionId, Vec<Written>>,
    /// Functions with a block in a region.
    functions: BTreeMap<RegionId, BTreeSet<u32>>,
    /// Of each function, executions of the block with a store that was executed most.
    most: BTreeMap<u32, u64>,
}

/// A block with a store.
struct Written {
    block: Block,
    times: u64,
}

impl Executions {
    /// Those of a profile; none if control flow was not counted.
    pub fn of(profile: &Profile) -> Option<Self> {
        if profile.modules().iter().all(|module| module.functions.is_empty()) {
            return None;
        }
        let observed = Observed::of(profile);
        observed.has_control().then(|| Self::new(observed))
    }

    fn new(observed: Observed) -> Self {
        let mut times = vec![0u64; observed.blocks.len()];
        for (block, count) in observed.by_thread.iter().flatten() {
            let sum = &mut times[*block as usize];
            *sum = sum.saturating_add(*count);
        }
        let mut all = Self { of_region: BTreeMap::new(), functions: BTreeMap::new(), most: BTreeMap::new() };
        for (block, times) in observed.blocks.into_iter().zip(times) {
            all.functions.entry(block.region).or_default().insert(block.function);
            if block.contents.stores > 0 {
                let most = all.most.entry(block.function).or_default();
                *most = times.max(*most);
                all.of_region.entry(block.region).or_default().push(Written { block, times });
            }
        }
        all
    }

    /// How often all threads together executed the writes of a region at a line: of several blocks with a store that
    /// hold the line, the one that was executed most. None if there is no such block.
    pub fn at(&self, region: RegionId, position: &Position) -> Option<u64> {
        let line = position.line?;
        let blocks = self.of_region.get(&region)?.iter();
        blocks.filter(|b| b.block.stores_at(&position.file, line)).map(|b| b.times).max()
    }

    /// How often all threads together executed the writes of a region at most, where no block holds their line: one
    /// that ends in inlined code has the file, lines and region of that. Takes the region and those around it.
    pub fn at_most(&self, mut around: impl Iterator<Item = RegionId>) -> Option<u64> {
        let functions = around.find_map(|region| self.functions.get(&region))?;
        functions.iter().filter_map(|function| self.most.get(function).copied()).max()
    }
}

/// How often lines that write were executed at most, by what was counted.
pub struct Most<'a> {
    profile: &'a Profile,
    tree: &'a Tree,
    executions: Option<&'a Executions>,
    /// Entries of each region.
    entries: BTreeMap<RegionId, u64>,
    /// Of each region, the most values of others that one of its lines read; once somebody asks.
    reads: OnceCell<BTreeMap<RegionId, u64>>,
}

/// Elements that one execution of a load reads, mostly: a pointer, a `double`, a `size_t`.
const READ_AT_ONCE: u64 = 2;

impl<'a> Most<'a> {
    /// Of a profile; with executions, where control flow was counted.
    pub fn of(profile: &'a Profile, tree: &'a Tree, executions: Option<&'a Executions>) -> Self {
        let mut entries: BTreeMap<RegionId, u64> = BTreeMap::new();
        for visit in profile.visits() {
            let sum = entries.entry(tree.node(visit.region)).or_default();
            *sum = sum.saturating_add(visit.count);
        }
        Self { profile, tree, executions, entries, reads: OnceCell::new() }
    }

    /// Executions of a site by all threads together; none if nothing bounds them.
    pub fn at(&self, site: u32, region: RegionId) -> Option<u64> {
        let Some(executions) = self.executions else { return self.entered(site, region) };
        self.written(site, region).or_else(|| executions.at_most(self.around(site, region)))
    }

    /// Executions of the writes at the line of a site, which is that of its block; none if no block is known to be it.
    pub fn written(&self, site: u32, region: RegionId) -> Option<u64> {
        let of = self.profile.site(site)?;
        self.executions?.at(region, &Position::new(&of.file, of.line))
    }

    /// Executions of a site that nothing bounds, at least: of a region that a loop repeats they are taken to be any
    /// number. Others may have no block of their own, nor entries that are counted, as a lambda that is inlined into
    /// the function that calls it: of them the values of other threads tell that one of their lines reads.
    pub fn at_least(&self, site: u32, region: RegionId) -> u64 {
        if self.repeats(site, region) {
            return u64::MAX;
        }
        let reads = self.reads.get_or_init(|| self.most_read());
        reads.get(&region).map_or(0, |reads| reads / READ_AT_ONCE)
    }

    /// The region of a site and those around it, then those of the loop that it was inlined into.
    fn around(&self, site: u32, region: RegionId) -> impl Iterator<Item = RegionId> + '_ {
        let up = |from| std::iter::successors(Some(from), |id: &RegionId| self.tree.nodes[*id as usize].parent);
        let caller = self.profile.caller_loop(site).map(|region| self.tree.node(region));
        up(region).chain(caller.into_iter().flat_map(up)).filter(|id| *id != PROGRAM)
    }

    fn repeats(&self, site: u32, region: RegionId) -> bool {
        is_loop(self.tree.nodes[region as usize].kind) || self.profile.caller_loop(site).is_some()
    }

    /// Entries of a region are executions of its lines unless it is a loop. Those that were inlined are not counted.
    fn entered(&self, site: u32, region: RegionId) -> Option<u64> {
        self.entries.get(&region).copied().filter(|_| !self.repeats(site, region))
    }

    fn most_read(&self) -> BTreeMap<RegionId, u64> {
        let mut most: BTreeMap<RegionId, u64> = BTreeMap::new();
        let mut of_site: BTreeMap<u32, u64> = BTreeMap::new();
        for event in self.profile.events() {
            let sum = of_site.entry(event.reader_site).or_default();
            *sum = sum.saturating_add(event.raw).saturating_add(event.rar);
        }
        // What a function of the C library reads has any length.
        let is_load = |site: u32| self.profile.site(site).is_some_and(|site| site.flags & LIBRARY == 0);
        for (site, reads) in of_site.into_iter().filter(|(site, _)| is_load(*site)) {
            if let Some(region) = self.tree.of_site(self.profile, site) {
                let entry = most.entry(region).or_default();
                *entry = reads.max(*entry);
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imbalance::pbv::Contents;
    use std::sync::Arc;

    #[test]
    fn writes_are_counted_over_threads_in_their_region_and_line() {
        let file: Option<Arc<str>> = Some("p.c".into());
        let block = |region, line, end_line, stores| Block {
            function: 0,
            region,
            file: file.clone(),
            line,
            end_line,
            contents: Contents { stores, ..Contents::default() },
        };
        let observed = Observed {
            blocks: vec![block(1, 4, 6, 2), block(1, 6, 6, 1), block(1, 7, 7, 0), block(2, 6, 6, 1)],
            by_thread: vec![vec![(0, 10), (1, 5), (2, 99), (3, 70)], vec![(0, 20), (1, 50)]],
            ..Observed::default()
        };
        let executions = Executions::new(observed);
        let at = |region, line| executions.at(region, &Position { file: file.clone(), line });
        assert_eq!([at(1, Some(4)), at(1, Some(6)), at(2, Some(6))], [Some(30), Some(55), Some(70)]);
        // A block that only reads, a line that no block has, another region, an unknown line.
        assert_eq!([at(1, Some(7)), at(1, Some(8)), at(3, Some(6)), at(1, None)], [None; 4]);
        assert_eq!(executions.at(1, &Position { file: Some("q.c".into()), line: Some(4) }), None);
    }

    #[test]
    fn writes_in_blocks_of_inlined_code_are_bounded_by_their_function() {
        let block = |function, region, stores| Block {
            function,
            region,
            file: Some("header.h".into()),
            line: 1,
            end_line: 2,
            contents: Contents { stores, ..Contents::default() },
        };
        let observed = Observed {
            blocks: vec![block(0, 1, 0), block(0, 5, 2), block(0, 6, 1), block(1, 7, 1)],
            by_thread: vec![vec![(0, 900), (1, 40), (2, 30), (3, 70)]],
            ..Observed::default()
        };
        let executions = Executions::new(observed);
        // Region 2 stands in region 1 and has no block of its own.
        assert_eq!(executions.at_most([2, 1].into_iter()), Some(40));
        assert_eq!(executions.at_most([3].into_iter()), None);
    }
}
