//! Communication reuse distance while the program runs (Mazaheri et al., section 3.3 and Algorithm 2).
//!
//! A *trace* is the sequence of events of one directed pair of threads in one region. The reader alone makes it, in its
//! program order: everything here is private to a thread.
//!
//! * Up to a number of usages, which the traces of a region share ([`shares`]), a trace is measured exactly
//!   ([`stack`]): distinct and index distances.
//! * Beyond that (`crd=auto`) single events are sampled, evenly over all events, and each sampled element is
//!   watched until its next usage ([`watch`]): an unbiased sample of *index* distances, which the analysis
//!   turns into distinct ones, record by record: when they change, a new one begins ([`change`]). Sampling elements by
//!   a hash of their address, the usual way, fails on traces that live off a few hot elements.
//!
//! Nothing of this is on the path of an event that is neither sampled nor watched: the threshold is part of the event's
//! counter, and a watched element's cell carries a mark that keeps it out of the event cache.

pub mod bystander;
pub mod change;
pub mod histogram;
pub mod pace;
pub mod shares;
pub mod stack;
pub mod trace;
pub mod watch;
