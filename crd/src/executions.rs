//! How often lines that write were executed, where control flow was counted.

use std::collections::BTreeMap;
use threadtalk_profile::Profile;

use crate::imbalance::profile::observed::{Block, Observed};
use crate::model::Position;
use crate::regions::RegionId;

/// Executions of the blocks that write, by region.
pub struct Executions {
    of_region: BTreeMap<RegionId, Vec<Written>>,
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
        let mut of_region: BTreeMap<RegionId, Vec<Written>> = BTreeMap::new();
        for (block, times) in observed.blocks.into_iter().zip(times).filter(|(block, _)| block.contents.stores > 0) {
            of_region.entry(block.region).or_default().push(Written { block, times });
        }
        Self { of_region }
    }

    /// How often all threads together executed the writes of a region at a line: of several blocks with a store that
    /// hold the line, the one that was executed most. None if there is no such block.
    pub fn at(&self, region: RegionId, position: &Position) -> Option<u64> {
        let line = position.line?;
        let blocks = self.of_region.get(&region)?.iter();
        blocks.filter(|b| b.block.stores_at(&position.file, line)).map(|b| b.times).max()
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
}
