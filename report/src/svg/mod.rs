//! Pictures of a report, one file each: matrices side by side, and reuse distances against the caches.

mod axis;
mod canvas;
mod cells;
mod colour;
pub mod compare;
mod histogram;
pub mod imbalance;
mod matrix;
mod phases;
mod scale;
pub mod scaling;

pub use canvas::{escape, page_style};
pub use colour::VIRIDIS;
pub use phases::{name as pattern_name, picture as phases};

use crate::error::{Error, Result};
use crate::label;
use threadtalk_crd::model::{Region, Report};

/// Names and pictures of the program and of the `top` regions with the most communication.
pub fn all(report: &Report, top: usize) -> Vec<(String, String)> {
    let mut pictures = Vec::new();
    let program = std::iter::once((&report.program_total, "program".to_string()));
    let regions = busiest(report).into_iter().take(top).map(|region| (region, label::file_name(region)));
    for (region, name) in program.chain(regions) {
        if let Some(picture) = matrix::picture(report, region) {
            pictures.push((format!("matrix-{name}.svg"), picture));
        }
        if let Some(picture) = histogram::picture(report, region) {
            pictures.push((format!("crd-{name}.svg"), picture));
        }
    }
    pictures.extend(phases(report).map(|picture| ("phases.svg".to_string(), picture)));
    pictures
}

/// The one picture for standard output: the program's matrices, or those of the busiest region of a filter.
pub fn first(report: &Report, filtered: bool) -> Result<String> {
    let region = busiest(report).first().copied().filter(|_| filtered).unwrap_or(&report.program_total);
    matrix::picture(report, region).ok_or_else(|| Error::NothingToDraw { what: label::title(report, region) })
}

/// The regions with events of their own, those with the most communication first.
pub fn busiest(report: &Report) -> Vec<&Region> {
    let weight = |region: &&Region| region.counts.as_ref().map_or((0, 0), |c| (c.raw.sum(), c.rar.sum()));
    let mut regions: Vec<&Region> = report.regions.iter().filter(|region| weight(region) > (0, 0)).collect();
    regions.sort_by_key(|region| (std::cmp::Reverse(weight(region)), region.id));
    regions
}
