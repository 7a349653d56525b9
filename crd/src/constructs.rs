//! In which constructs of OpenMP code ran, and on which threads: where it stands is not enough, as a function is called
//! from anywhere.

use crate::regions::{RegionId, Tree};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::Profile;

/// Runs of regions, as the threads' call trees tell.
pub struct Constructs<'a> {
    tree: &'a Tree,
    /// Threads, and the construct that each was in; none: outside of all.
    runs: BTreeMap<RegionId, BTreeSet<(u32, Option<RegionId>)>>,
}

impl<'a> Constructs<'a> {
    /// Of a run with times; without them nothing is known but where code stands.
    pub fn of(profile: &Profile, tree: &'a Tree) -> Self {
        let mut known = Constructs { tree, runs: BTreeMap::new() };
        let mut around: HashMap<u32, Option<RegionId>> = HashMap::new();
        for node in profile.nodes() {
            let region = tree.node(node.region);
            let outside = || node.parent.and_then(|parent| around.get(&parent).copied().flatten());
            let construct = known.standing_in(region).or_else(outside);
            around.insert(node.id, construct);
            known.runs.entry(region).or_default().insert((node.thread, construct));
        }
        known
    }

    /// Whether threads may be in both regions at once. Two constructs have a barrier between them, and who is outside
    /// of one that it takes part in has left it with all others.
    pub fn may_meet(&self, regions: [RegionId; 2]) -> bool {
        let [Some(first), Some(second)] = regions.map(|region| self.runs_of(region)) else { return true };
        first.iter().any(|a| second.iter().any(|b| self.meet(a, b)))
    }

    fn meet(&self, a: &(u32, Option<RegionId>), b: &(u32, Option<RegionId>)) -> bool {
        match (a, b) {
            ((_, Some(a)), (_, Some(b))) => self.is_inside(*a, *b) || self.is_inside(*b, *a),
            ((_, None), (_, None)) => true,
            ((thread, None), (_, Some(construct))) | ((_, Some(construct)), (thread, None)) => {
                let team = self.runs.get(construct);
                team.is_none_or(|team| team.iter().all(|(member, _)| member != thread))
            }
        }
    }

    /// The threads and constructs of code that stands in a region; `None` if neither is known.
    fn runs_of(&self, region: RegionId) -> Option<BTreeSet<(u32, Option<RegionId>)>> {
        if let Some(construct) = self.standing_in(region) {
            return Some(BTreeSet::from([(u32::MAX, Some(construct))]));
        }
        // What is short has no times of its own.
        self.around(region).find_map(|region| self.runs.get(&region)).cloned()
    }

    fn around(&self, from: RegionId) -> impl Iterator<Item = RegionId> + '_ {
        std::iter::successors(Some(from), |id| self.tree.nodes[*id as usize].parent)
    }

    fn standing_in(&self, region: RegionId) -> Option<RegionId> {
        self.around(region).find(|id| is_construct(self.tree.nodes[*id as usize].kind))
    }

    fn is_inside(&self, inner: RegionId, outer: RegionId) -> bool {
        self.around(inner).any(|id| id == outer)
    }
}

fn is_construct(kind: RegionKind) -> bool {
    use RegionKind::*;
    matches!(kind, OmpParallel | OmpFor | OmpSections | OmpSingle | OmpTaskloop | OmpDistribute)
}
