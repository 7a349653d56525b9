//! What a caller may choose.

use wildmatch::WildMatch;

use crate::machine::Cache;
use crate::model::Region;
use crate::suggest::Thresholds;

/// Choices for [`crate::analyse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Caches for the cutoffs, smallest level first; see [`crate::machine`].
    pub caches: Vec<Cache>,
    /// Leave out what was written while only one thread existed. Reuse distances are recorded for both together
    /// and stay as they are.
    pub hide_serial: bool,
    /// From which figures on the rules make suggestions.
    pub thresholds: Thresholds,
    /// List only these regions. Counts do not change.
    pub region: Option<RegionFilter>,
}

/// Chooses regions by name, symbol or `file:line`.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionFilter {
    pattern: WildMatch,
}

impl RegionFilter {
    /// `*` and `?` as in a shell; a pattern without them matches every name that contains it.
    pub fn new(pattern: &str) -> Self {
        let has_wildcard = pattern.contains(['*', '?']);
        let pattern = if has_wildcard { pattern.to_owned() } else { format!("*{pattern}*") };
        Self { pattern: WildMatch::new(&pattern) }
    }

    /// Whether the region is chosen.
    pub fn matches(&self, region: &Region) -> bool {
        let place = region.file.as_ref().map(|file| format!("{file}:{}", region.line.unwrap_or(0)));
        self.pattern.matches(&region.name)
            || region.symbol.as_ref().is_some_and(|s| self.pattern.matches(s))
            || place.is_some_and(|p| self.pattern.matches(&p))
    }
}
