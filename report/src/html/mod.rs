//! x
use threadtalk_crd::model::Report;
/// x
pub fn page(_report: &Report) -> String {
    String::new()
}
