//! Full tables: reads whose readers cannot be remembered are told apart, and nothing else is lost.

use crate::driver::Driver;
use crate::generator::{Generator, Shape};
use crate::memory::{EXACT, Size};
use fastrand::Rng;
use threadtalk_abi::GRANULE;
use threadtalk_sigmem::oracle::{Oracle, Record};

const SHAPE: Shape = Shape { threads: 8, first_thread: 0, spacing: 70, chunks: 2, places: 12 };

fn run(size: Size, seed: u64) -> (Driver, Record) {
    let (mut oracle, mut driver) = (Oracle::new(GRANULE), Driver::new(size, GRANULE));
    for step in Generator::new(SHAPE, Rng::with_seed(seed)).take(2_000) {
        oracle.step(&step);
        driver.step(&step);
    }
    (driver, oracle.record().clone())
}

fn check(size: Size) {
    for seed in 0..20 {
        let (driver, truth) = run(size, seed);
        assert!(driver.exhausted > 0, "seed {seed}");
        // Every foreign read of a live element is still one event of the right pair.
        assert_eq!(driver.record.matrix(|_| true), truth.matrix(|_| true), "seed {seed}");
        // A forgotten reader turns true communication into reuse, never the other way.
        let (found, expected) = (driver.record.matrix(|e| !e.reuse), truth.matrix(|e| !e.reuse));
        for (pair, count) in &found {
            assert!(count <= &expected[pair], "seed {seed}: {pair:?}");
        }
        let missing = expected.values().sum::<u64>() - found.values().sum::<u64>();
        assert!(missing <= driver.exhausted, "seed {seed}: {missing} of {}", driver.exhausted);
        assert!(driver.memory.states.len() <= u64::from(size.states), "seed {seed}");
    }
}

#[test]
fn no_room_for_states() {
    check(Size { states: 16, ..EXACT });
}

#[test]
fn no_room_for_reader_sets() {
    check(Size { set_words: 128, ..EXACT });
}

#[test]
fn no_room_at_all() {
    check(Size { states: 0, set_words: 0, ..EXACT });
}
