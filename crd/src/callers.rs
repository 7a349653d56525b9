//! Lines of the program that call functions of a library.
//!
//! What is inlined from a header of the system belongs to the line that calls it; the pass sees to that. What is not
//! inlined (`std::map`'s nodes, the steps of `std::sort`) has lines of its own, which mean nothing to who wrote the
//! program. The tables name the callee of each call, so the way back is known, through other functions of the library,
//! unless a function may be called through a pointer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use threadtalk_abi::control::{call_flags::FORK, function_flags};
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::{Call, Function, Module, Profile};

use crate::model::Position;
use crate::regions::{RegionId, Tree};

/// Lines beyond which it is not worth knowing them: the function serves everybody.
const MOST: usize = 3;

/// Who calls the functions of libraries.
pub struct Callers {
    /// By symbol. `None`: somebody who is not known, or too many.
    lines: HashMap<Arc<str>, Option<BTreeSet<Position>>>,
}

impl Callers {
    /// Those that the tables of a profile tell.
    pub fn of(profile: &Profile) -> Self {
        let mut lines = of_library(profile);
        let mut inside: HashMap<Arc<str>, HashSet<Arc<str>>> = HashMap::new();
        for (module, function) in functions(profile) {
            let caller = symbol(module, function).filter(|caller| lines.contains_key(caller));
            for call in &function.calls {
                match (lines.get_mut(&call.callee), &caller) {
                    (None, _) => {}
                    (Some(_), Some(caller)) => {
                        inside.entry(Arc::clone(caller)).or_default().insert(Arc::clone(&call.callee));
                    }
                    (Some(known), None) => add(known, position(function, call).as_ref().map(std::slice::from_ref)),
                }
            }
        }
        let mut changed: Vec<Arc<str>> = lines.keys().cloned().collect();
        while let Some(caller) = changed.pop() {
            let above = lines[&caller].clone();
            let above: Option<Vec<Position>> = above.map(|lines| lines.into_iter().collect());
            for callee in inside.get(&caller).into_iter().flatten() {
                let known = lines.get_mut(callee).expect("only functions of libraries are inside");
                let before = known.as_ref().map(BTreeSet::len);
                add(known, above.as_deref());
                if known.as_ref().map(BTreeSet::len) != before {
                    changed.push(Arc::clone(callee));
                }
            }
        }
        Self { lines }
    }

    /// The lines of the program that call the function of a library in which a region of a module stands. Empty: it is
    /// none, or they are not known.
    pub fn of_region(&self, module: &Module, region: u32) -> Vec<Position> {
        let parent = |region: &u32| module.regions[*region as usize].parent;
        let function = std::iter::successors(Some(region), parent).last().map(|root| &module.regions[root as usize]);
        let known = function.filter(|f| f.kind == RegionKind::Function).and_then(|f| self.lines.get(&f.name));
        known.into_iter().flatten().flatten().cloned().collect()
    }

    /// The same for the regions of the program's tree.
    pub fn by_region(&self, profile: &Profile, tree: &Tree) -> BTreeMap<RegionId, Vec<Position>> {
        let mut all: BTreeMap<RegionId, Vec<Position>> = BTreeMap::new();
        for module in profile.modules() {
            for region in 0..module.regions.len() as u32 {
                let lines = self.of_region(module, region);
                if !lines.is_empty() {
                    all.insert(tree.node(module.bases.region_base + region), lines);
                }
            }
        }
        all
    }

    /// The line of the program that calls it, if there is only one: what the function does is what that line means.
    pub fn only(&self, module: &Module, region: u32) -> Option<Position> {
        let mut lines = self.of_region(module, region);
        if lines.len() == 1 { lines.pop() } else { None }
    }
}

fn functions(profile: &Profile) -> impl Iterator<Item = (&Module, &Function)> {
    profile.modules().iter().flat_map(|module| module.functions.iter().map(move |function| (module, function)))
}

/// The functions of libraries without their callers, and those whose callers will not be known. A copy of each may be
/// in several modules.
fn of_library(profile: &Profile) -> HashMap<Arc<str>, Option<BTreeSet<Position>>> {
    let mut found = HashMap::new();
    for (module, function) in functions(profile).filter(|(_, f)| f.flags & function_flags::OF_LIBRARY != 0) {
        let Some(symbol) = symbol(module, function) else { continue };
        let known = found.entry(symbol).or_insert_with(|| Some(BTreeSet::new()));
        if function.flags & function_flags::ADDRESS_TAKEN != 0 {
            *known = None;
        }
    }
    let run_by_threads = functions(profile).flat_map(|(_, f)| &f.calls).filter(|call| call.flags & FORK != 0);
    run_by_threads.for_each(|call| {
        found.entry(Arc::clone(&call.callee)).and_modify(|known| *known = None);
    });
    found
}

fn symbol(module: &Module, function: &Function) -> Option<Arc<str>> {
    module.regions.get(function.region as usize).filter(|r| r.kind == RegionKind::Function).map(|r| Arc::clone(&r.name))
}

/// Where a call stands.
fn position(function: &Function, call: &Call) -> Option<Position> {
    let file = function.blocks.get(call.block as usize).map(|block| &block.file).filter(|file| !file.is_empty())?;
    (call.line > 0).then(|| Position { file: Some(Arc::clone(file)), line: Some(call.line) })
}

/// Adds further callers. `None`: they are not known.
fn add(known: &mut Option<BTreeSet<Position>>, further: Option<&[Position]>) {
    let Some(lines) = known else { return };
    match further {
        Some(further) => lines.extend(further.iter().cloned()),
        None => *known = None,
    }
    if known.as_ref().is_some_and(|lines| lines.len() > MOST) {
        *known = None;
    }
}
