//! What an object is called: by the compiler, at a site, and by who allocated it.

use std::sync::Arc;
use threadtalk_abi::module::{ObjectKind, site_flags};
use threadtalk_profile::Profile;

use super::declarations::Declarations;
use crate::lines::Positions;
use crate::model::Memory;

/// Allocated memory of which no variable tells more.
const BLOCK: &str = "block";

/// What tells objects apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub kind: Memory,
    pub name: Arc<str>,
    pub file: Arc<str>,
    pub line: u32,
}

impl Identity {
    /// Whether the two may share an element: they are one, or one is several members (`grid->{x,y}`, `grid->*`) and the
    /// other lies in the same object.
    pub fn meets(&self, other: &Identity) -> bool {
        let of_one = |members: &str, name: &str| {
            let object = members.find('{').map(|end| &members[..end]).or_else(|| members.strip_suffix('*'));
            object.is_some_and(|object| name.starts_with(object))
        };
        (self.kind, &self.file, self.line) == (other.kind, &other.file, other.line)
            && (self.name == other.name || of_one(&self.name, &other.name) || of_one(&other.name, &self.name))
    }
}

pub fn is_variable(identity: &Identity) -> bool {
    matches!(identity.kind, Memory::Global | Memory::Stack) && !identity.name.is_empty()
}

/// What the sites of a profile access.
pub struct Names<'p> {
    profile: &'p Profile,
    positions: &'p Positions,
    declarations: Declarations,
}

impl<'p> Names<'p> {
    pub fn of(profile: &'p Profile, positions: &'p Positions) -> Self {
        Self { profile, positions, declarations: Declarations::find(profile) }
    }

    /// The variable at a site, as the compiler names it.
    pub fn of_access(&self, site: u32) -> Identity {
        let Some(access) = self.profile.access(site) else {
            return Identity { kind: Memory::Unknown, name: "".into(), file: "".into(), line: 0 };
        };
        let kind = match access.kind {
            ObjectKind::Global => Memory::Global,
            ObjectKind::Stack => Memory::Stack,
            ObjectKind::Pointer => Memory::Pointer,
            ObjectKind::Unknown => Memory::Unknown,
        };
        let (name, file) = (Arc::clone(&access.object), Arc::clone(&access.file));
        let mut identity = Identity { kind, name, file, line: access.line };
        self.declarations.complete(&mut identity);
        identity
    }

    /// The variable that is written at a site. None for calls of the C library and copies: what the compiler names
    /// there may be what they read.
    pub fn of_write(&self, site: u32) -> Option<Identity> {
        let names_target = self.profile.site(site)?.flags & site_flags::LIBRARY == 0;
        Some(self.of_access(site)).filter(|variable| names_target && is_variable(variable))
    }

    /// What lies where a sample was taken: a global variable, or the blocks of a call, named by the variable that
    /// received them, else by the pointer through which they are read, else by nothing: where they were allocated says
    /// more than `this` or a variable of the library that did it.
    pub fn of_sample(&self, site: u32, through: &Identity) -> Identity {
        let named = self.of_access(site);
        if is_variable(&named) {
            return named;
        }
        let name = [named.name, Arc::clone(&through.name)].into_iter().find(|name| is_telling(name));
        let at = self.positions.at(site);
        let (file, line) = (at.file.unwrap_or_default(), at.line.unwrap_or(0));
        Identity { kind: Memory::Heap, name: name.unwrap_or_else(|| BLOCK.into()), file, line }
    }
}

/// Whether a name says to a user what it is. `this` does not without a member, nor what the language keeps for its
/// libraries (`__tmp`).
pub fn is_telling(name: &str) -> bool {
    !name.is_empty() && name != "this" && !name.starts_with("__")
}
