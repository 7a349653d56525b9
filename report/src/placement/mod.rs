//! Thread mapping for the eye: text and JSON. The analysis is `threadtalk_crd::placement`.

mod machine;
mod text;

pub use machine::{Machine, allowed_cpus, topology};
pub use text::text;

use threadtalk_crd::placement::Mapping;

/// The schema of what [`json`] gives.
pub const SCHEMA: &str = include_str!("../../schema/threadtalk.map-1.schema.json");

/// The mapping on one line, and a line end.
pub fn json(mapping: &Mapping) -> String {
    let mut text = serde_json::to_string(mapping).expect("the model holds nothing that JSON cannot");
    text.push('\n');
    text
}
