//! The signature memory against the oracle: worked traces, random traces, the invariants of the definition,
//! real threads.
#![cfg(not(loom))]

mod driver;
mod edges;
mod exhaustion;
mod generator;
mod hashed;
mod invariants;
mod memory;
mod random;
mod stress;
mod vectors;
