//! The result of a scalability analysis. Serialised by `serde_json` it has the shape `threadtalk.scale/1`.

use serde::Serialize;
use std::sync::Arc;

use super::crossing::Crossing;
use super::fit::Law;
use crate::model::Cache;

/// Value of [`Scaling::schema`].
pub const SCHEMA: &str = "threadtalk.scale/1";

/// How communication grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What `n` is, in words: `threads`, `input size`.
    pub axis: String,
    /// `n` of each profile, ascending. All series have a value for each.
    pub sizes: Vec<f64>,
    /// File name of the executable, of the last profile.
    pub program: String,
    /// The caches of the cutoffs.
    pub caches: Vec<Cache>,
    /// The program with everything in it.
    pub total: RegionScaling,
    /// Regions that communicate in the last profile, those whose distances outgrow the outermost cache first in front;
    /// then by the next cache inside, and so on, then by RaW at the last size.
    pub regions: Vec<RegionScaling>,
    /// What limits the analysis, a sentence each.
    pub notes: Vec<String>,
}

/// How a region grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionScaling {
    /// Number in the report of the last profile.
    pub id: u32,
    /// What it is.
    pub kind: &'static str,
    /// Name.
    pub name: String,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// First line.
    pub line: Option<u32>,
    /// True communication, own events (of the program: all).
    pub raw: Growth,
    /// Reuse.
    pub rar: Growth,
    /// Median reuse distance in bytes.
    pub crd_median: Growth,
    /// Quantile 0.9 of it in bytes.
    pub crd_p90: Growth,
    /// The cutoffs at each size, by cache level.
    pub cutoffs: Vec<CutoffSeries>,
    /// Where the median crosses the cutoffs.
    pub crossings: Vec<Crossing>,
    /// Where the quantile 0.9 crosses them.
    pub p90_crossings: Vec<Crossing>,
}

/// A figure over the sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// One for each size; none where it was not measured.
    pub values: Vec<Option<f64>>,
    /// The law; none with less than two values.
    pub law: Option<Law>,
}

/// The cutoffs of a level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutoffSeries {
    /// Cache level.
    pub level: u8,
    /// The whole cache.
    pub max_bytes: u64,
    /// Less what the threads have for themselves, at each size; none where the region has no distances.
    pub min_bytes: Vec<Option<u64>>,
}

/// Why there is no analysis.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScalingError {
    /// One profile shows no growth.
    #[error("one profile shows no growth")]
    Few,
    /// Sizes and profiles do not belong together.
    #[error("{sizes} sizes for {profiles} profiles")]
    Count {
        /// Sizes stated.
        sizes: usize,
        /// Profiles.
        profiles: usize,
    },
    /// A size that no law takes.
    #[error("size {size} is none")]
    Size {
        /// Which.
        size: f64,
    },
    /// Two profiles of one size.
    #[error("two profiles have the size {size}")]
    Same {
        /// Which.
        size: f64,
    },
}

impl ScalingError {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Few => "name two or more, of different sizes",
            Self::Count { .. } => "state one for each",
            Self::Size { .. } => "sizes are numbers from 1 on",
            Self::Same { .. } => "keep one of them, or state what differs with --sizes",
        }
    }
}
