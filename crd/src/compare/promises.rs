//! Whether what was suggested for the base came true in the new profile.

use serde::Serialize;

use super::matching::Pair;
use super::sections::Sections;
use crate::imbalance::profile::model::most_to_save;
use crate::model::{Lowers, Promise, Report};

/// A suggestion for the base, and the figure that it promises to lower, in both profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Promised {
    /// The rule that made the suggestion.
    pub rule: String,
    /// Number in the base's report of the region that has the figure, those inside it included.
    pub region: u32,
    /// Its name.
    pub name: String,
    /// Which figure.
    pub lowers: Lowers,
    /// Its value before.
    pub base: f64,
    /// Its value after.
    pub new: f64,
    /// Whether it is lower by more than noise. If it is not, the suggestion may just not have been followed.
    pub kept: bool,
    /// The rule suggests the same for the new profile: it was not followed, or in vain.
    pub still_made: bool,
}

/// The promises that both profiles can tell about, each once: those of the largest part of the program first.
pub(super) fn promises(base: &Report, new: &Report, pairs: &[Pair], sections: &Sections, noise: f64) -> Vec<Promised> {
    let mut all: Vec<Promised> = Vec::new();
    for suggestion in base.regions.iter().flat_map(|region| &region.suggestions) {
        let promise = &suggestion.promise;
        let known =
            all.iter().any(|p| p.rule == suggestion.rule && (p.region, p.lowers) == (promise.region, promise.lowers));
        let before = promise.now.filter(|now| *now > 0.0 && !known);
        let (Some(before), Some(region)) = (before, base.regions.get(promise.region as usize)) else { continue };
        let Some(after) = then(promise, base, (new, pairs), sections) else { continue };
        all.push(Promised {
            rule: suggestion.rule.clone(),
            region: region.id,
            name: region.name.clone(),
            lowers: promise.lowers,
            base: before,
            new: after,
            kept: after < before * (1.0 - noise),
            still_made: is_made(new, &suggestion.rule, promise, pairs),
        });
    }
    let events = |p: &Promised| {
        let region = &base.regions[p.region as usize];
        region.total_raw().saturating_add(region.total_rar())
    };
    all.sort_by_key(|p| std::cmp::Reverse(events(p)));
    all
}

/// Whether the rule makes the same promise for the region's partner.
fn is_made(new: &Report, rule: &str, promise: &Promise, pairs: &[Pair]) -> bool {
    let partner = pairs.iter().find(|p| p.base == promise.region as usize).map(|p| p.new);
    new.regions
        .iter()
        .flat_map(|region| &region.suggestions)
        .any(|s| s.rule == rule && s.promise.lowers == promise.lowers && Some(s.promise.region as usize) == partner)
}

/// The promised figure in `new`; none where it is not measured, or the region or section is gone.
fn then(promise: &Promise, base: &Report, (new, pairs): (&Report, &[Pair]), sections: &Sections) -> Option<f64> {
    if promise.lowers == Lowers::ImbalancePercent {
        // The rule speaks of the section with the most to save.
        return sections.partner_percent(most_to_save(base.sections.as_deref()?)?);
    }
    let pair = pairs.iter().find(|p| p.base == promise.region as usize)?;
    promise.then(new, pair.new as u32)
}
