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
use threadtalk_profile::{Call, Function, Module, Profile, Region};

use crate::model::Position;
use crate::regions::{RegionId, Tree};

/// Lines beyond which it is not worth knowing them: the function serves everybody.
const MOST: usize = 3;

/// Lines that call a function. `None`: somebody does who is not known, or too many do.
type Lines = Option<BTreeSet<Position>>;

/// Who calls the functions of libraries.
pub struct Callers {
    /// By global number of the regions in these functions, of which there is at least one line.
    of_region: BTreeMap<u32, Vec<Position>>,
}

impl Callers {
    /// Those that the tables of a profile tell.
    pub fn of(profile: &Profile) -> Self {
        let lines = by_symbol(profile);
        let mut of_region = BTreeMap::new();
        for module in profile.modules() {
            for (number, region) in (0..).zip(&module.regions) {
                let parent = |region: &&Region| module.regions.get(region.parent? as usize);
                let function = std::iter::successors(Some(region), parent).last();
                let known = function.filter(|f| f.kind == RegionKind::Function).and_then(|f| lines.get(&f.name));
                if let Some(lines) = known.and_then(Option::as_ref).filter(|lines| !lines.is_empty()) {
                    of_region.insert(global(module, number), lines.iter().cloned().collect());
                }
            }
        }
        Self { of_region }
    }

    /// The lines of the program that call the functions of libraries in which regions of the tree stand.
    pub fn by_region(&self, tree: &Tree) -> BTreeMap<RegionId, Vec<Position>> {
        self.of_region.iter().map(|(region, lines)| (tree.node(*region), lines.clone())).collect()
    }

    /// The line of the program that calls the function in which a region of a module stands, if there is only one: what
    /// the function does is what that line means.
    pub fn only(&self, module: &Module, region: u32) -> Option<&Position> {
        match &**self.of_region.get(&global(module, region))? {
            [line] => Some(line),
            _ => None,
        }
    }
}

/// The global number of a module's region.
fn global(module: &Module, region: u32) -> u32 {
    // Of a damaged profile it may be anything.
    module.bases.region_base.wrapping_add(region)
}

/// The functions of a profile, with their modules.
pub fn functions(profile: &Profile) -> impl Iterator<Item = (&Module, &Function)> {
    profile.modules().iter().flat_map(|module| module.functions.iter().map(move |function| (module, function)))
}

/// The lines of the program that lead to each function of a library.
fn by_symbol(profile: &Profile) -> HashMap<Arc<str>, Lines> {
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
    lines
}

/// The functions of libraries without their callers, and those whose callers will not be known. A copy of each may be
/// in several modules.
fn of_library(profile: &Profile) -> HashMap<Arc<str>, Lines> {
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
    let at = Position::new(&function.blocks.get(call.block as usize)?.file, call.line);
    Some(at).filter(|at| at.file.is_some() && at.line.is_some())
}

/// Adds further callers. `None`: they are not known.
fn add(known: &mut Lines, further: Option<&[Position]>) {
    let Some(lines) = known else { return };
    match further {
        Some(further) => lines.extend(further.iter().cloned()),
        None => *known = None,
    }
    if known.as_ref().is_some_and(|lines| lines.len() > MOST) {
        *known = None;
    }
}
