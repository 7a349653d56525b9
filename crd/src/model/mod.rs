//! The result of an analysis. Serialised by `serde_json` it has the shape `threadtalk.report/1`.
//!
//! [`Report`] holds [`Region`]s, a region holds [`Measures`]. Matrices are sparse here ([`Matrix`]) and dense
//! in the serialised form.

mod distance;
mod line;
mod matrix;
mod object;
mod phases;
mod promise;
mod ratios;
mod recording;
mod region;
mod report;
mod row;
mod thread;

pub use distance::{Bucket, Crd, Cutoff, Distances, Method, Reading};
pub use line::{Line, Position};
pub use matrix::{DENSE_LIMIT, Entry, Matrix};
pub use object::{FalseSharing, Memory, Object};
pub use phases::{Phase, Phases, Slice};
pub use promise::{Lowers, Promise};
pub use ratios::{Ratios, is_carried_in, ratio};
pub use recording::{Accuracy, Recording};
pub use region::{Counts, Homogeneity, Means, Measures, Region, Suggestion, SuggestionKind};
pub use report::{Ended, Program, Report, SCHEMA};
pub use thread::Thread;

pub use crate::machine::Cache;
