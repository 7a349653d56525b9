//! Reuse distances of regions, from the histograms that the runtime recorded.

mod combine;
mod confidence;
mod cutoff;
mod inside;
mod mass;
mod quantile;
mod statstack;

pub use combine::Traces;
pub use inside::Inside;
