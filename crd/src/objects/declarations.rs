//! Where global variables are declared. Modules that know one as `extern` do not say: without this it would be two
//! objects.

use std::collections::HashMap;
use std::sync::Arc;
use threadtalk_abi::module::ObjectKind;
use threadtalk_profile::{Profile, SiteAccess};

use super::identity::Identity;
use crate::model::Memory;

/// File and line of the variables of a profile, by their names; `None` if several have one name.
pub struct Declarations(HashMap<Arc<str>, Option<(Arc<str>, u32)>>);

impl Declarations {
    /// Those that some module says.
    pub fn find(profile: &Profile) -> Self {
        let mut all: HashMap<Arc<str>, Option<(Arc<str>, u32)>> = HashMap::new();
        let accesses = profile.modules().iter().flat_map(|module| &module.accesses);
        let declares = |a: &&SiteAccess| a.kind == ObjectKind::Global && !a.object.is_empty() && !a.file.is_empty();
        for access in accesses.filter(declares) {
            let place = (Arc::clone(&access.file), access.line);
            match all.get_mut(variable(&access.object)) {
                Some(known) => *known = known.take().filter(|known| *known == place),
                None => drop(all.insert(variable(&access.object).into(), Some(place))),
            }
        }
        Self(all)
    }

    /// Adds what the module of a site does not know.
    pub fn complete(&self, identity: &mut Identity) {
        if identity.kind == Memory::Global
            && identity.file.is_empty()
            && let Some(Some((file, line))) = self.0.get(variable(&identity.name))
        {
            (identity.file, identity.line) = (Arc::clone(file), *line);
        }
    }
}

/// The variable that an expression begins with.
fn variable(expression: &str) -> &str {
    expression.split(['.', '[', '-', '{']).next().unwrap_or(expression)
}
