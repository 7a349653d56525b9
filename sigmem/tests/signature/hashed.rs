//! Hashed mode with a pool far too small: what it says of aliasing is true, and outside aliased chunks it is exact.

use crate::driver::Driver;
use crate::generator::{Generator, Shape};
use crate::memory::{EXACT, Size};
use fastrand::Rng;
use std::collections::{BTreeSet, HashMap};
use threadtalk_abi::{CHUNK_BYTES, GRANULE};
use threadtalk_sigmem::Signature;
use threadtalk_sigmem::oracle::{Event, Oracle};

const TRACES: u64 = 2_000;
const STEPS: usize = 150;

/// By the directory alone: chunks of memory with cells, and those that have them in common with others.
fn count_chunks(signature: &Signature, address_bits: u32) -> (u64, u64) {
    let mut users = HashMap::<u64, u64>::new();
    for base in (0..1_u64 << address_bits).step_by(CHUNK_BYTES as usize) {
        if let Some(offset) = signature.directory.offset(base) {
            *users.entry(base.wrapping_add(offset)).or_default() += 1;
        }
    }
    (users.values().sum(), users.values().filter(|n| **n > 1).sum())
}

#[test]
fn outside_aliased_chunks_hashed_mode_is_exact() {
    let (mut compared, mut suspect) = (0, 0);
    for seed in 0..TRACES {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape::random(&mut rng);
        let size = Size { chunks: Some(rng.u64(1..8)), ..EXACT };
        let (mut oracle, mut driver) = (Oracle::new(GRANULE), Driver::new(size, GRANULE));
        let mut touched = BTreeSet::new();
        for (at, step) in Generator::new(shape, rng).take(STEPS).enumerate() {
            let (expected, found) = (oracle.step(&step).to_vec(), driver.step(&step).to_vec());
            touched.extend(expected.iter().chain(&found).map(|event| event.element * GRANULE / CHUNK_BYTES));
            let exact = |events: &[Event]| -> Vec<Event> {
                events.iter().filter(|event| !driver.is_aliased(event.element)).copied().collect()
            };
            assert_eq!(exact(&expected), exact(&found), "seed {seed}, step {at}: {step:?} of {shape:?}");
            compared += exact(&found).len();
            suspect += found.len() - exact(&found).len();
        }
        let pool = &driver.memory.signature.pool;
        let chunks = (pool.chunks(), pool.chunks_aliased());
        assert_eq!(chunks, count_chunks(&driver.memory.signature, size.address_bits), "seed {seed}");
        assert!(pool.chunks() >= touched.len() as u64, "seed {seed}");
        let budget = size.chunks.expect("hashed");
        assert_eq!(pool.bytes_in_use(), pool.chunks().min(budget) * CHUNK_BYTES, "seed {seed}");
        assert_eq!(pool.chunks_aliased() > 0, pool.chunks() > budget, "seed {seed}");
    }
    // Both sides of the comparison occur.
    assert!(compared > 10_000 && suspect > 10_000, "{compared} compared, {suspect} suspect");
}

#[test]
fn while_the_budget_lasts_hashed_mode_is_exact() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape::random(&mut rng);
        let size = Size { chunks: Some(24), ..EXACT };
        let (mut oracle, mut driver) = (Oracle::new(GRANULE), Driver::new(size, GRANULE));
        for step in Generator::new(shape, rng).take(STEPS) {
            assert_eq!(oracle.step(&step), driver.step(&step), "seed {seed}: {step:?}");
        }
        assert_eq!(driver.memory.signature.pool.chunks_aliased(), 0, "seed {seed}");
    }
}
