//! New numbers for sites and regions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::MergeError;
use super::threads::Ids;
use crate::layout::CODE_SITE;
use crate::tables::{Function, Module, Region, Site, SiteAccess, UserRegion};
use crate::write::Contents;
use threadtalk_abi::module::ModuleBases;

/// A part, and what its numbers become.
pub struct Source<'a> {
    pub contents: &'a Contents,
    pub modules: Places,
    pub user: HashMap<u32, u32>,
    /// Places in foreign code.
    pub code: HashMap<u32, u32>,
    pub threads: &'a Ids,
    /// Nanoseconds from the start of all to the start of this one.
    pub delay: u64,
}

impl Source<'_> {
    /// New number of a site; 0 for one that neither a module nor foreign code has.
    pub fn site(&self, number: u32) -> u32 {
        if number & CODE_SITE != 0 {
            return self.code.get(&(number & !CODE_SITE)).map_or(0, |id| id | CODE_SITE);
        }
        find(&self.modules.sites, number).unwrap_or(0)
    }

    /// New number of a counter of control flow; none for one that no module has.
    pub fn counter(&self, number: u32) -> Option<u32> {
        find(&self.modules.counters, number)
    }

    /// New number of a region; 0, the program, for one that nobody has.
    pub fn region(&self, number: u32) -> u32 {
        let module = find(&self.modules.regions, number);
        module.or_else(|| self.user.get(&number).copied()).unwrap_or(0)
    }
}

/// Where the numbers of a part's modules went: old base to (how many, new base).
#[derive(Default)]
pub struct Places {
    sites: BTreeMap<u32, (u32, u32)>,
    regions: BTreeMap<u32, (u32, u32)>,
    counters: BTreeMap<u32, (u32, u32)>,
}

fn find(places: &BTreeMap<u32, (u32, u32)>, number: u32) -> Option<u32> {
    let (old, (len, new)) = places.range(..=number).next_back()?;
    let index = number - old;
    (index < *len).then(|| new + index)
}

/// What makes two modules the same: all but their numbers.
type Identity = (Arc<str>, Vec<Region>, OfSites, u32, Vec<Function>);
type OfSites = (Vec<Site>, Vec<SiteAccess>, Vec<Option<u32>>);

/// All modules, each once.
#[derive(Default)]
pub struct Sites {
    pub modules: Vec<Module>,
    known: HashMap<Identity, ModuleBases>,
    sites: u32,
    regions: u32,
    counters: u32,
}

impl Sites {
    /// Takes in the modules of a part and says where they are.
    pub fn add(&mut self, modules: &[Module]) -> Result<Places, MergeError> {
        let mut places = Places::default();
        for module in modules {
            let new = self.place(module)?;
            let (sites, regions) = (module.sites.len() as u32, module.regions.len() as u32);
            // A module without sites may begin where the next one does.
            if sites > 0 {
                places.sites.insert(module.bases.site_base, (sites, new.site_base));
            }
            if regions > 0 {
                places.regions.insert(module.bases.region_base, (regions, new.region_base));
            }
            if module.counters > 0 {
                places.counters.insert(module.bases.counter_base, (module.counters, new.counter_base));
            }
        }
        Ok(places)
    }

    fn place(&mut self, module: &Module) -> Result<ModuleBases, MergeError> {
        let (name, functions) = (Arc::clone(&module.name), module.functions.clone());
        let sites = (module.sites.clone(), module.accesses.clone(), module.caller_loops.clone());
        let identity = (name, module.regions.clone(), sites, module.counters, functions);
        if let Some(known) = self.known.get(&identity) {
            return Ok(*known);
        }
        // Number 0 is nobody's.
        let new = ModuleBases {
            site_base: self.sites + 1,
            write_site_base: self.sites + 1,
            region_base: self.regions + 1,
            counter_base: self.counters + 1,
            ..module.bases
        };
        let room = |used: u32, more: usize, what| {
            let sum = u32::try_from(more).ok().and_then(|more| used.checked_add(more));
            // The upper half of the numbers of lines is that of foreign code.
            sum.filter(|sum| *sum < CODE_SITE).ok_or(MergeError::TooMany { what })
        };
        self.sites = room(self.sites, module.sites.len(), "lines")?;
        self.regions = room(self.regions, module.regions.len(), "regions")?;
        self.counters = room(self.counters, module.counters as usize, "counters")?;
        self.modules.push(Module { bases: new, ..module.clone() });
        self.known.insert(identity, new);
        Ok(new)
    }

    /// The first region number that no module has.
    pub fn next_region(&self) -> u32 {
        self.regions + 1
    }
}

/// Regions that programs named, each path once. Numbers count down from the largest, so that a parent comes before its
/// children.
pub struct Regions {
    pub user: Vec<UserRegion>,
    known: HashMap<(Option<u32>, String), u32>,
    first_free: u32,
}

impl Regions {
    /// `first_free`: numbers below are those of modules.
    pub fn new(first_free: u32) -> Self {
        Self { user: Vec::new(), known: HashMap::new(), first_free }
    }

    /// Takes in the regions of a part, parents first, and says which number each gets.
    pub fn add(&mut self, regions: &[UserRegion]) -> Result<HashMap<u32, u32>, MergeError> {
        let mut numbers = HashMap::new();
        for region in regions {
            let parent = region.parent.and_then(|p| numbers.get(&p).copied());
            let path = (parent, region.name.clone());
            let next = u32::MAX - 1 - self.user.len() as u32;
            let id = *self.known.entry(path).or_insert(next);
            if id == next {
                if next < self.first_free {
                    return Err(MergeError::TooMany { what: "regions" });
                }
                self.user.push(UserRegion { id, parent, name: region.name.clone() });
            }
            numbers.insert(region.id, id);
        }
        Ok(numbers)
    }
}
