//! Analysis of profiles: who communicated with whom, in which region, through which lines, how often what was
//! received was used again, and whether a cache can hold it meanwhile.
//!
//! [`analyse`] turns a [`threadtalk_profile::Profile`] into a [`model::Report`]. The result depends on its arguments
//! only: the same profile and options give the same result, byte for byte.
//!
//! Source of the definitions: Mazaheri, Wolf, Jannesari, "Unveiling Thread Communication Bottlenecks Using
//! Hardware-Independent Metrics", ICPP 2018, here called ICPP'18. Each algorithm has its own file, which names its
//! section or equation.
//!
//! | what | where |
//! |---|---|
//! | regions of all modules as one tree | `regions` |
//! | matrices of regions, own and with all inside | `matrices::cells`, `recorded`, `families` |
//! | reuse ratio, homogeneity, balance | [`model::Ratios`], `matrices::homogeneity`, `matrices::balance` |
//! | reuse distances | [`sequence`] (exact), `distance::statstack` (from samples), `distance::quantile`, `distance::cutoff` |
//! | communication over time | `phases` |
//! | how far to trust it | [`accuracy`] |
//! | lines that functions of libraries are called by | `callers` |
//! | communication by variable and allocation, cache lines shared falsely | `objects`, `false_sharing`, `constructs` |
//! | what to change | [`suggest`] |
//! | two profiles against each other | [`compare`] |
//! | how they grow over several profiles | [`scaling`] |
//! | which processor each thread should run on | [`placement`] |
#![forbid(unsafe_code)]

pub mod accuracy;
mod analyse;
mod callers;
pub mod compare;
mod constructs;
mod distance;
mod executions;
mod false_sharing;
mod families;
pub mod imbalance;
mod lines;
pub mod machine;
mod matrices;
pub mod model;
mod objects;
mod options;
mod participants;
mod phases;
pub mod placement;
mod program;
mod recorded;
mod regions;
pub mod scaling;
pub mod sequence;
mod serial;
mod sites;
pub mod suggest;
mod threads;

pub use analyse::analyse;
pub use options::{Options, RegionFilter};
