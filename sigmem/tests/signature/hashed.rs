//! Hashed mode with a pool far too small: what it says of aliasing is true, and outside aliased chunks it is exact.

use crate::driver::Driver;
use crate::generator::{Generator, Shape};
use crate::memory::{EXACT, Memory, Size};
use fastrand::Rng;
use std::collections::{BTreeSet, HashMap};
use threadtalk_abi::{CHUNK_BYTES, GRANULE};
use threadtalk_sigmem::oracle::{Event, Oracle};
use threadtalk_sigmem::{ChunkStock, Signature};

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

/// Chunks of 16 KiB, four of them in a group.
const GROUP: u64 = 64 << 10;

fn signature(chunks: u64) -> Memory {
    Memory::new(Size { chunks: Some(chunks), ..EXACT })
}

/// Cells of the first granule of each of these chunks, all made by one thread.
fn cells(memory: &Memory, bases: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut stock = ChunkStock::default();
    bases.map(|base| base.wrapping_add(memory.signature.map(base, &mut stock).expect("cells"))).collect()
}

#[test]
fn neighbours_have_neighbouring_cells_whoever_comes_between() {
    let memory = signature(16);
    let order = [3, 8, 1, 10, 0, 9, 2, 11].map(|number| number * CHUNK_BYTES);
    let cells = cells(&memory, order.into_iter());
    for (a, b) in [(4, 2), (2, 6), (6, 0), (1, 5), (5, 3), (3, 7)] {
        assert_eq!(cells[a] + CHUNK_BYTES, cells[b], "{:#x} and {:#x}", order[a], order[b]);
    }
}

/// Rows that lie 64 KiB apart use a chunk of each group, and in the end those of the groups that nobody else needs.
#[test]
fn rows_that_lie_far_apart_use_what_they_touch() {
    let memory = signature(32);
    let own = cells(&memory, (0..32).map(|row| row * GROUP + row % 4 * CHUNK_BYTES));
    assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), 32);
    let pool = &memory.signature.pool;
    assert_eq!((pool.chunks(), pool.chunks_aliased(), pool.bytes_in_use()), (32, 0, 32 * CHUNK_BYTES));
    let one_more = 40 * GROUP;
    cells(&memory, std::iter::once(one_more));
    assert!(memory.signature.is_aliased(one_more));
    assert_eq!((pool.chunks(), pool.chunks_aliased(), pool.bytes_in_use()), (33, 2, 32 * CHUNK_BYTES));
}

/// A block of 2 MiB of cells is said to be like those before it, before anybody uses it; not the first eight.
#[test]
fn blocks_are_foreseen_to_be_like_those_before() {
    let foreseen = |chunks: u64, order: &mut dyn Iterator<Item = u64>| {
        let memory = Memory::new(Size { address_bits: 27, chunks: Some(chunks), ..EXACT });
        cells(&memory, order.map(|number| number * CHUNK_BYTES));
        memory.foreseen()
    };
    let blocks = |dense: [bool; 3]| [(1024, 128, dense[0]), (1152, 128, dense[1]), (1280, 20, dense[2])];
    assert_eq!(foreseen(1300, &mut (0..1300)), blocks([true; 3]));
    assert_eq!(foreseen(1300, &mut (0..325).map(|row| 4 * row + row % 4)), blocks([false; 3]));
    // An array is filled by 64 threads, then come rows that lie far apart; and the other way around.
    let array = |groups: u64, from: u64| {
        let of_thread = groups * 4 / 64;
        (0..of_thread).flat_map(move |at| (0..64).map(move |thread| 4 * from + thread * of_thread + at))
    };
    let rows = |groups: u64, from: u64| (from..from + groups).map(|row| 4 * row);
    assert_eq!(foreseen(1300, &mut array(176, 0).chain(rows(149, 176))), blocks([true, false, false]));
    assert_eq!(foreseen(1300, &mut rows(208, 0).chain(array(112, 208))), blocks([false, false, true]));
    assert_eq!(foreseen(1024, &mut (0..1024)), [], "chosen without it");
}

#[test]
fn a_region_need_not_end_with_a_group() {
    for chunks in 1..10 {
        let memory = signature(chunks);
        let all = cells(&memory, (0..chunks).map(|row| row * GROUP + 3 * CHUNK_BYTES));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len() as u64, chunks);
        assert_eq!(memory.signature.pool.chunks_aliased(), 0, "{chunks}");
    }
}
