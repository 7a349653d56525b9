//! One node for each region of the source.
//!
//! A header's inline function is compiled into many modules, and a loop that the compiler split (a vector part and its
//! remainder) comes twice in one. Regions of equal kind, name, file and line range are one region.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use threadtalk_abi::module::{RegionKind, site_flags};
use threadtalk_profile::{Module, Profile, UserRegion};

use super::{Node, PROGRAM, RegionId, Tree};

/// Sites of calls that touch no memory themselves.
const NO_ACCESS: u32 = site_flags::CREATION | site_flags::ALLOCATION;

type Key = (RegionKind, Arc<str>, Arc<str>, u32, u32);

/// The tree of all regions of a profile.
pub fn merge(profile: &Profile) -> Tree {
    let mut merger = Merger { nodes: vec![program()], known: HashMap::new(), user: BTreeMap::new() };
    let modules = profile.modules().iter().map(|m| (m.bases.region_base, merger.module(m))).collect();
    let mut named = HashMap::new();
    for region in profile.user_regions() {
        merger.user_region(region, &mut named);
    }
    Tree { nodes: merger.nodes, modules, user: merger.user.into_iter().collect() }
}

fn program() -> Node {
    Node {
        kind: RegionKind::Program,
        name: "program".into(),
        file: "".into(),
        line: 0,
        end_line: 0,
        parent: None,
        has_accesses: true,
    }
}

struct Merger {
    nodes: Vec<Node>,
    /// Nodes of a key: more than one if a region lies inside another of the same key (two loops in one line).
    known: HashMap<Key, Vec<RegionId>>,
    /// Nodes of user regions by global number.
    user: BTreeMap<u32, RegionId>,
}

impl Merger {
    fn module(&mut self, module: &Module) -> Vec<RegionId> {
        let mut nodes = vec![None; module.regions.len()];
        for first in 0..module.regions.len() {
            // Parents first: a node's number is above its parent's.
            let mut way = Vec::new();
            let mut at = Some(first);
            while let Some(index) = at.filter(|i| nodes[*i].is_none()) {
                way.push(index);
                at = module.regions[index].parent.map(|p| p as usize);
            }
            for index in way.into_iter().rev() {
                let parent = module.regions[index].parent.and_then(|p| nodes[p as usize]).unwrap_or(PROGRAM);
                nodes[index] = Some(self.region(module, index, parent));
            }
        }
        let nodes: Vec<RegionId> = nodes.into_iter().map(|n| n.unwrap_or(PROGRAM)).collect();
        for site in module.sites.iter().filter(|s| s.flags & NO_ACCESS == 0) {
            self.nodes[nodes[site.region as usize] as usize].has_accesses = true;
        }
        nodes
    }

    fn region(&mut self, module: &Module, index: usize, parent: RegionId) -> RegionId {
        let r = &module.regions[index];
        let key = (r.kind, Arc::clone(&r.name), Arc::clone(&r.file), r.line, r.end_line);
        let candidates = self.known.get(&key).map_or(&[][..], Vec::as_slice);
        let outside = |id: &&RegionId| !self.is_inside(parent, **id);
        let same_parent = candidates.iter().find(|id| self.nodes[**id as usize].parent == Some(parent));
        if let Some(id) = same_parent.or_else(|| candidates.iter().find(outside)) {
            return *id;
        }
        let node = Node {
            kind: r.kind,
            name: Arc::clone(&r.name),
            file: Arc::clone(&r.file),
            line: r.line,
            end_line: r.end_line,
            parent: Some(parent),
            has_accesses: false,
        };
        let id = self.add(node);
        self.known.entry(key).or_default().push(id);
        id
    }

    /// User regions come with their parents before them; those of one name in one place are one.
    fn user_region(&mut self, region: &UserRegion, named: &mut HashMap<(RegionId, String), RegionId>) {
        let parent = region.parent.and_then(|p| self.user.get(&p).copied()).unwrap_or(PROGRAM);
        let id = *named.entry((parent, region.name.clone())).or_insert_with(|| {
            let name = Arc::from(region.name.as_str());
            self.add(Node { kind: RegionKind::User, name, parent: Some(parent), ..program() })
        });
        self.user.insert(region.id, id);
    }

    fn add(&mut self, node: Node) -> RegionId {
        self.nodes.push(node);
        self.nodes.len() as RegionId - 1
    }

    /// Whether `id` is `outer` or lies in it.
    fn is_inside(&self, id: RegionId, outer: RegionId) -> bool {
        let mut at = Some(id);
        // A node's ancestors have smaller numbers.
        while let Some(id) = at.filter(|id| *id > outer) {
            at = self.nodes[id as usize].parent;
        }
        at == Some(outer)
    }
}
