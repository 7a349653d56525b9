//! In which constructs of OpenMP code ran, and on which threads: where it stands is not enough, as a function is called
//! from anywhere.

use crate::callers::functions;
use crate::regions::{RegionId, Tree};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadtalk_abi::control::call_flags::FORK;
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::Profile;

/// Threads, and the construct that each was in; none: outside of all.
type Runs = BTreeSet<(u32, Option<RegionId>)>;

/// Runs of regions, as the threads' call trees tell.
pub struct Constructs<'a> {
    profile: &'a Profile,
    tree: &'a Tree,
    runs: BTreeMap<RegionId, Runs>,
    /// Regions that call a function, or that it was inlined into, where control flow was counted; once somebody asks.
    callers: OnceCell<BTreeMap<RegionId, BTreeSet<RegionId>>>,
}

impl<'a> Constructs<'a> {
    /// Of a run with times; without them nothing is known but where code stands.
    pub fn of(profile: &'a Profile, tree: &'a Tree) -> Self {
        let mut known = Constructs { profile, tree, runs: BTreeMap::new(), callers: OnceCell::new() };
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
                // A loop that is divided may have no times beside those of its parallel construct.
                let mut around = self.around(*construct).filter(|id| is_construct(self.tree.nodes[*id as usize].kind));
                let team = around.find_map(|id| self.runs.get(&id));
                team.is_none_or(|team| team.iter().all(|(member, _)| member != thread))
            }
        }
    }

    /// The threads and constructs of code that stands in a region; `None` if neither is known.
    fn runs_of(&self, region: RegionId) -> Option<Runs> {
        self.runs_from(region, &mut BTreeSet::new())
    }

    /// `passed`: callers that were asked already.
    fn runs_from(&self, region: RegionId, passed: &mut BTreeSet<RegionId>) -> Option<Runs> {
        if let Some(construct) = self.standing_in(region) {
            return Some(BTreeSet::from([(u32::MAX, Some(construct))]));
        }
        if let Some(runs) = self.around(region).find_map(|region| self.runs.get(&region)) {
            return Some(runs.clone());
        }
        // What is short or inlined has no times of its own, and runs where its callers do.
        let mut runs = Runs::new();
        let callers = self.callers.get_or_init(|| callers(self.profile, self.tree));
        for caller in self.around(region).filter_map(|region| callers.get(&region)).flatten() {
            if passed.insert(*caller) {
                runs.extend(self.runs_from(*caller, passed)?);
            }
        }
        (!runs.is_empty()).then_some(runs)
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

/// The callers of each function that are known: not those that call through a pointer, nor who makes threads of it.
fn callers(profile: &Profile, tree: &Tree) -> BTreeMap<RegionId, BTreeSet<RegionId>> {
    let mut named: HashMap<&str, BTreeSet<RegionId>> = HashMap::new();
    for (module, function) in functions(profile) {
        if let Some(region) = module.regions.get(function.region as usize) {
            let node = tree.node(module.bases.region_base + function.region);
            named.entry(&region.name).or_default().insert(node);
        }
    }
    let mut callers: BTreeMap<RegionId, BTreeSet<RegionId>> = BTreeMap::new();
    for (module, function) in functions(profile) {
        let node = |region: u32| tree.node(module.bases.region_base + region);
        for block in &function.blocks {
            callers.entry(node(block.region)).or_default().insert(node(function.region));
        }
        for call in function.calls.iter().filter(|call| call.flags & FORK == 0) {
            let Some(block) = function.blocks.get(call.block as usize) else { continue };
            for callee in named.get(&*call.callee).into_iter().flatten() {
                callers.entry(*callee).or_default().insert(node(block.region));
            }
        }
    }
    callers
}
