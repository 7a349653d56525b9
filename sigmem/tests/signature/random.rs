//! Exact mode finds what the oracle finds, event by event.

use crate::driver::Driver;
use crate::generator::{Generator, Shape};
use crate::memory::{EXACT, Size};
use fastrand::Rng;
use threadtalk_abi::GRANULE;
use threadtalk_sigmem::oracle::Oracle;

const TRACES: u64 = 10_000;
const STEPS: usize = 120;

#[test]
fn ten_thousand_random_traces_in_exact_mode() {
    let (mut events, mut structures, mut mixed) = (0, 0, 0);
    for seed in 0..TRACES {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape::random(&mut rng);
        let (mut oracle, mut driver) = (Oracle::new(GRANULE), Driver::new(EXACT, GRANULE));
        // One step at a time: nobody else is at work on a cell, however many threads there are.
        driver.memory.states.set_pair(seed % 2 == 1);
        for (at, step) in Generator::new(shape, rng).take(STEPS).enumerate() {
            let (expected, found) = (oracle.step(&step), driver.step(&step));
            assert_eq!(expected, found, "seed {seed}, step {at}: {step:?} of {shape:?}");
        }
        assert_eq!(oracle.record(), &driver.record, "seed {seed}");
        assert_eq!(driver.exhausted, 0, "seed {seed}");
        assert_eq!(driver.memory.signature.pool.chunks_aliased(), 0, "seed {seed}");
        events += driver.record.events.len();
        structures += driver.structures;
        mixed += driver.mixed;
    }
    // A generator that produces no events would agree as well.
    assert!(events > 100 * TRACES as usize, "{events} events");
    assert!(structures > TRACES, "{structures} times several structures at once");
    assert!(mixed > TRACES, "{mixed} times several states at once");
}

/// Values that are opened, listed and read by bits count as those that are not.
#[test]
fn random_traces_in_which_values_are_opened() {
    // Chunks for all memory that the traces touch.
    let roomy = Size { chunks: Some(64), ..EXACT };
    let (mut opened, mut unlisted) = (0, 0);
    for seed in 0..TRACES / 4 {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape::random(&mut rng);
        let (mut oracle, mut driver) = (Oracle::new(GRANULE), Driver::new(roomy, GRANULE));
        driver.opens = true;
        for (at, step) in Generator::new(shape, rng).take(STEPS).enumerate() {
            let (expected, found) = (oracle.step(&step), driver.step(&step));
            assert_eq!(expected, found, "seed {seed}, step {at}: {step:?} of {shape:?}");
        }
        assert_eq!(oracle.record(), &driver.record, "seed {seed}");
        assert_eq!((driver.exhausted, driver.memory.signature.pool.chunks_aliased()), (0, 0), "seed {seed}");
        (opened, unlisted) = (opened + driver.opened, unlisted + driver.unlisted);
    }
    assert!(opened > TRACES && unlisted > 10 * TRACES, "{opened} opened, {unlisted} read that are not listed");
}
