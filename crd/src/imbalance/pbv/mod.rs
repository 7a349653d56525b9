//! Parallel block vectors (Kambadur et al., Harmony): how often a basic block ran at each count of threads.
//!
//! A vector's element `t - 1` is the number of executions while the count was `t`. The count is *nominal* (threads
//! created and not ended) or *effective* (without those that are blocked); the analysis is the same for both.

mod anomalous;
mod class;
mod hotspots;
mod mix;

pub use anomalous::{ANOMALOUS_SHARE, Anomaly, anomaly};
pub use class::{Class, Classified, average_degree, class};
pub use hotspots::{Point, blocks_covering, curve};
pub use mix::{Category, Contents, Mix, OpcodeMix, mix};
