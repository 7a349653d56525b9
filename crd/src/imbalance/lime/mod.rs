//! LIME (Oh et al., ICSE 2011): which branches or hardware events explain why some threads of a parallel section take
//! longer.
//!
//! Events that behave alike over the threads are clustered (`cluster`); a regression finds the clusters that explain
//! the time (`forward`, `pairs`); a control-flow cluster is reported by the branches that steer into it (`leaders`), a
//! hardware cluster by its events (`analysis`). Instances are pooled before (`pool`) or combined after (`combine`).

mod analysis;
mod cause;
mod cluster;
mod combine;
mod f_test;
mod forward;
mod leaders;
mod means;
mod members;
mod neighbours;
mod pairs;
mod pool;
mod residual;
mod section;

pub use analysis::{Analysis, Entry, MIN_THREADS, Options, Reason, Significance, analyse, analyse_pooled};
pub use cause::{Cause, IMPORTANT, Kind};
pub use cluster::{clusters, predictor};
pub use combine::{Combined, Instance, combine};
pub use f_test::upper_tail;
pub use forward::{Level, PERFECT, Selected, forward};
pub use leaders::leaders;
pub use pool::Unpoolable;
pub use residual::residual;
pub use section::{Edge, HardwareEvent, Section};
