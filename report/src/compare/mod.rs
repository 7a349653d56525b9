//! Two profiles against each other, for the eye: text, page, pictures, JSON. The analysis is `threadtalk_crd::compare`.

mod page;
mod table;
mod text;
pub mod words;

pub use page::page;
pub use text::text;

use crate::error::{Error, Result};
use crate::label;
use crate::svg::compare as figures;
use threadtalk_crd::compare::{Checked, Comparison, RegionChange, Side};
use threadtalk_crd::model::{Region, Report};

/// The schema of what [`json`] gives.
pub const SCHEMA: &str = include_str!("../../schema/threadtalk.compare-1.schema.json");

/// A comparison and what was compared.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Before.
    pub base: &'a Report,
    /// After.
    pub new: &'a Report,
    /// What changed.
    pub comparison: &'a Comparison,
}

impl<'a> View<'a> {
    /// Both regions of a change.
    fn regions(&self, change: &RegionChange) -> [figures::Of<'a>; 2] {
        fn find<'a>(report: &'a Report, side: &Side) -> figures::Of<'a> {
            let at = report.regions.binary_search_by_key(&side.id, |region| region.id);
            let region = at.map_or(&report.program_total, |at| &report.regions[at]);
            figures::Of { report, region }
        }
        [find(self.base, &change.base), find(self.new, &change.new)]
    }

    fn programs(&self) -> [figures::Of<'a>; 2] {
        [self.base, self.new].map(|report| figures::Of { report, region: &report.program_total })
    }

    /// The new region of a change.
    fn new_region(&self, change: &RegionChange) -> &'a Region {
        self.regions(change)[1].region
    }

    /// What a region was called and where it was, if it has another name or is in another file: lines alone move with
    /// every change of a file.
    fn formerly(&self, change: &RegionChange) -> Option<String> {
        let [base, new] = self.regions(change).map(|of| of.region);
        let file = |region: &Region| region.file.as_deref().map(|file| label::base(file).to_owned());
        (base.name != new.name || file(base) != file(new)).then(|| label::located(base))
    }

    /// Bytes of an element.
    fn granule(&self) -> [f64; 2] {
        [self.base, self.new].map(|report| f64::from(report.options.granule.max(1)))
    }
}

/// The comparison on one line, and a line end.
pub fn json(comparison: &Comparison) -> String {
    let mut text = serde_json::to_string(comparison).expect("the model holds nothing that JSON cannot");
    text.push('\n');
    text
}

/// Names and pictures of the program and of the first `top` regions.
pub fn pictures(view: View, top: usize) -> Vec<(String, String)> {
    let mut pictures = Vec::new();
    let changes = view.comparison.regions.iter().take(top);
    let regions = changes.map(|change| (view.regions(change), label::file_name(view.new_region(change))));
    for ([base, new], name) in std::iter::once((view.programs(), "program".to_string())).chain(regions) {
        if let Some(picture) = figures::matrices(base, new) {
            pictures.push((format!("compare-matrix-{name}.svg"), picture));
        }
        if let Some(picture) = figures::distances(base, new) {
            pictures.push((format!("compare-crd-{name}.svg"), picture));
        }
    }
    pictures
}

/// The one picture for standard output: the program's matrices, or those of the busiest region of a filter.
pub fn first_picture(view: View, filtered: bool) -> Result<String> {
    let busiest = view.comparison.regions.first().filter(|_| filtered);
    let [base, new] = busiest.map_or_else(|| view.programs(), |change| view.regions(change));
    let nothing = || Error::NothingToDraw { what: label::title(new.report, new.region) };
    figures::matrices(base, new).ok_or_else(nothing)
}

/// An error if a condition holds, or can be checked nowhere.
pub fn verdict(view: View, checked: &Checked) -> Result<()> {
    if let Some(condition) = checked.unmeasured.first() {
        return Err(Error::Unmeasured { condition: condition.to_string() });
    }
    let Some(first) = checked.failures.first() else { return Ok(()) };
    let place = match first.region {
        None => "the whole program".to_string(),
        Some(index) => {
            let region = view.new_region(&view.comparison.regions[index]);
            label::located(region)
        }
    };
    let what = words::change(view.granule(), first.metric, first.base, first.new);
    let others = checked.failures.len() - 1;
    let more = if others > 0 { format!(", and {others} more") } else { String::new() };
    Err(Error::Regressed { condition: first.condition.to_string(), what: format!("{what} in {place}{more}") })
}
