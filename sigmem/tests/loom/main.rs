//! The protocols under the model checker: `RUSTFLAGS="--cfg loom" cargo test -p threadtalk-sigmem --test loom
//! --release`. A file for each.
//!
//! Cells are model atomics, so they have no addresses in the way the directory's arithmetic needs: its entries
//! are checked as numbers and the cells apart from them.
#![cfg(loom)]

mod cells;
mod chunks;
mod claims;
mod open;
mod shared_claims;

use loom::sync::atomic::AtomicU64;
use threadtalk_sigmem::FreshId;

const SITE_BITS: u32 = 8;

/// Every interleaving with at most so many switches where a thread could have gone on.
fn model(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(test);
}

fn atomics64(n: usize) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(0)).collect()
}

fn fresh(thread: u32) -> FreshId {
    FreshId::new(thread, true, 1, SITE_BITS)
}
