//! Scalability for the eye: text, pictures, JSON. The analysis is `threadtalk_crd::scaling`.

mod text;
pub mod words;

pub use text::text;

use crate::error::{Error, Result};
use crate::svg::scaling as figure;
use threadtalk_crd::scaling::{RegionScaling, Scaling};

/// The schema of what [`json`] gives.
pub const SCHEMA: &str = include_str!("../../schema/threadtalk.scale-1.schema.json");

/// The analysis on one line, and a line end.
pub fn json(scaling: &Scaling) -> String {
    let mut text = serde_json::to_string(scaling).expect("the model holds nothing that JSON cannot");
    text.push('\n');
    text
}

/// Names and pictures of the program and of the first `top` regions, as far as they have distances.
pub fn pictures(scaling: &Scaling, top: usize) -> Vec<(String, String)> {
    let regions = scaling.regions.iter().take(top).map(|region| (file_name(scaling, region), region));
    let all = std::iter::once(("program".to_string(), &scaling.total)).chain(regions);
    all.filter_map(|(name, region)| Some((format!("scale-{name}.svg"), figure::picture(scaling, region)?))).collect()
}

/// The one picture for standard output: of the region that outgrows the caches first.
pub fn first_picture(scaling: &Scaling) -> Result<String> {
    let mut regions = scaling.regions.iter().chain([&scaling.total]);
    let nothing = || Error::NothingToDraw { what: format!("{}, whose profiles have no distances", scaling.program) };
    regions.find_map(|region| figure::picture(scaling, region)).ok_or_else(nothing)
}

fn file_name(scaling: &Scaling, region: &RegionScaling) -> String {
    let name = words::title(scaling, region);
    let safe: String = name.chars().take(48).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{:04}-{}", region.id, safe.trim_matches('-'))
}
