//! The regions of all modules as one tree.

mod merge;
mod names;

use std::sync::Arc;
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::Profile;

pub use merge::merge;
pub use names::demangle;

/// Number of a region in the report: index in [`Tree::nodes`].
pub type RegionId = u32;

/// The program: the root.
pub const PROGRAM: RegionId = 0;

/// A region. What the source calls one region is one node, however many modules it was compiled into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: RegionKind,
    /// Name as the linker knows it.
    pub name: Arc<str>,
    /// File; empty = unknown.
    pub file: Arc<str>,
    /// First line; 0 = unknown.
    pub line: u32,
    /// Last line; 0 = unknown.
    pub end_line: u32,
    /// Enclosing region, which has a smaller number; none for the program.
    pub parent: Option<RegionId>,
    /// Memory is accessed in the region itself, not only in regions inside it.
    pub has_accesses: bool,
}

impl Node {
    /// A region of the program's choice lies across the source: its events are counted in the source's regions, too.
    pub fn is_user(&self) -> bool {
        self.kind == RegionKind::User
    }
}

/// Whether a region repeats what is in it, alone or divided among threads.
pub fn is_loop(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Loop | RegionKind::OmpFor | RegionKind::OmpTaskloop)
}

/// All regions.
pub struct Tree {
    /// The program first; parents come before children.
    pub nodes: Vec<Node>,
    /// Of each module: its first global region and the nodes of its regions. Ascending.
    modules: Vec<(u32, Vec<RegionId>)>,
    /// Global numbers of user regions and their nodes, ascending.
    user: Vec<(u32, RegionId)>,
}

impl Tree {
    /// The node of a global region number. What no table describes belongs to the program.
    pub fn node(&self, global: u32) -> RegionId {
        let after = self.modules.partition_point(|(base, _)| *base <= global);
        let of_module = after.checked_sub(1).map(|at| &self.modules[at]);
        of_module
            .and_then(|(base, nodes)| nodes.get((global - base) as usize).copied())
            .or_else(|| self.user_node(global))
            .unwrap_or(PROGRAM)
    }

    /// The node of a site's region; none if no module has the site.
    pub fn of_site(&self, profile: &Profile, site: u32) -> Option<RegionId> {
        let (module, place) = profile.module_of(site)?;
        let own = module.sites.get(place)?;
        Some(self.node(module.bases.region_base + own.region))
    }

    /// The node of a user region.
    pub fn user_node(&self, global: u32) -> Option<RegionId> {
        let at = self.user.binary_search_by_key(&global, |(number, _)| *number).ok()?;
        Some(self.user[at].1)
    }

    /// Children of each node whose events count in its totals.
    pub fn children(&self) -> Vec<Vec<RegionId>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (id, node) in (0..).zip(&self.nodes) {
            let Some(parent) = node.parent else { continue };
            // User regions are a tree of their own beside that of the source, under the same root.
            if !(node.is_user() && parent == PROGRAM) {
                children[parent as usize].push(id);
            }
        }
        children
    }
}
