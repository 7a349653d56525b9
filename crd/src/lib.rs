//! Analysis of profiles: who communicated with whom, in which region, through which lines, how often what was
//! received was used again, and whether a cache can hold it meanwhile.
//!
//! [`analyse`] turns a [`threadtalk_profile::Profile`] into a [`model::Report`]. The result depends on its arguments only:
//! the same profile and options give the same result, byte for byte.
//!
//! Source of the definitions: Mazaheri, Wolf, Jannesari, "Unveiling Thread Communication Bottlenecks Using Hardware-Independent
//! Metrics", ICPP 2018, here called ICPP'18. Each algorithm has its own file, which names its section or equation.
#![forbid(unsafe_code)]

pub mod machine;
pub mod model;
mod options;

pub use options::Options;
