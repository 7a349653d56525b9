//! The analysis as JSON, in the shape of `schema/threadtalk.report-1.schema.json`.

use threadtalk_crd::model::Report;

/// The schema of what [`report`] gives.
pub const SCHEMA: &str = include_str!("../schema/threadtalk.report-1.schema.json");

/// The report on one line, and a line end.
pub fn report(report: &Report) -> String {
    let mut text = serde_json::to_string(report).expect("the model holds nothing that JSON cannot");
    text.push('\n');
    text
}
