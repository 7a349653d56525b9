//! Thread mapping against exhaustive search, on planted patterns and by its properties.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use threadtalk_crd::machine::{Topology, parse_topology};
use threadtalk_crd::placement::{Slots, Weights, in_order, search, solve, spread};

/// Where threads have a choice: SMT, shared caches, packages, uneven distances, fewer and more places than threads.
const TOPOLOGIES: [&str; 6] = [
    "package 2\ncore 2\nthread 2\n",
    "package 2\nL3 2\ncore 2\n",
    "package 2 distance=10\ncore 4 distance=1\n",
    "node 3\ncore 2\n",
    "core 3\n",
    "package 2\nL3 2\nL2 2\ncore 2\n",
];

fn topology(at: usize) -> Topology {
    parse_topology(TOPOLOGIES[at]).unwrap()
}

fn cost(weights: &Weights, topology: &Topology, placement: &[usize]) -> u128 {
    weights.cost(|i, j| topology.distance(placement[i], placement[j]))
}

/// The balance that is promised, said once more: loads of cores differ by one at most as long as the emptier one has a
/// hardware thread that is as busy as those of the fuller one, and so do those of processors.
fn is_balanced(topology: &Topology, placement: &[usize]) -> bool {
    let cores = topology.cores();
    let mut load = vec![0; topology.cpus().len()];
    placement.iter().for_each(|processor| load[*processor] += 1);
    let mut by_core: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    cores.iter().zip(&load).for_each(|(core, load)| by_core.entry(*core).or_default().push(*load));
    let (least, most) = (load.iter().min().unwrap(), load.iter().max().unwrap());
    let sums: BTreeSet<usize> = by_core.values().map(|loads| loads.iter().sum()).collect();
    // All cores of these topologies have equally many hardware threads.
    most - least <= 1 && sums.last().unwrap() - sums.first().unwrap() <= 1
}

/// The least cost over all balanced placements, by trying them all.
fn optimum(weights: &Weights, topology: &Topology) -> u128 {
    fn place(weights: &Weights, topology: &Topology, limit: usize, placement: &mut Vec<usize>, least: &mut u128) {
        if placement.len() == weights.size() {
            if is_balanced(topology, placement) {
                *least = (*least).min(cost(weights, topology, placement));
            }
            return;
        }
        for processor in 0..topology.cpus().len() {
            if placement.iter().filter(|taken| **taken == processor).count() < limit {
                placement.push(processor);
                place(weights, topology, limit, placement, least);
                placement.pop();
            }
        }
    }
    let mut least = u128::MAX;
    let limit = weights.size().div_ceil(topology.cpus().len());
    place(weights, topology, limit, &mut Vec::new(), &mut least);
    least
}

/// A sequence of numbers that looks random and is always the same.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    }
}

fn random(threads: usize, seed: u64) -> Weights {
    let mut next = noise(seed);
    let mut values = BTreeMap::new();
    for i in 0..threads {
        for j in i + 1..threads {
            // A third of the pairs does not communicate, a few do very much.
            let kind = next() % 6;
            values.insert((i, j), if kind < 2 { 0 } else { next() % if kind == 5 { 10_000 } else { 100 } });
        }
    }
    Weights::new(threads, |i, j| values[&(i, j)])
}

/// Finding the optimum for certain is NP-hard; in these cases it is found in all.
#[test]
fn the_optimum_of_exhaustive_search() {
    let small = (0..5).flat_map(|at| (2..=6).flat_map(move |threads| (0..12).map(move |seed| (at, threads, seed))));
    let large = [(0, 0..6), (1, 6..12), (2, 12..18)];
    let large = large.into_iter().flat_map(|(at, seeds)| seeds.map(move |seed| (at, 8, seed)));
    for (at, threads, seed) in small.chain(large) {
        let topology = topology(at);
        let weights = random(threads, seed * 1000 + threads as u64);
        let placement = solve(&weights, &topology, &Slots::new(&topology, threads));
        assert!(is_balanced(&topology, &placement), "{placement:?} on {at}");
        let (found, best) = (cost(&weights, &topology, &placement), optimum(&weights, &topology));
        assert_eq!(found, best, "{threads} threads, seed {seed}, topology {at}: {placement:?}");
    }
}

#[test]
fn hidden_neighbours_are_brought_together() {
    // Four groups of four that share a cache, whose members have every fourth number.
    let topology = parse_topology("package 2\nL3 2\ncore 4\n").unwrap();
    let weights = Weights::new(16, |i, j| if i % 4 == j % 4 { 1000 } else { 1 });
    let placement = solve(&weights, &topology, &Slots::new(&topology, 16));
    for i in 0..16 {
        for j in 0..16 {
            let same_cache = placement[i] / 4 == placement[j] / 4;
            assert_eq!(same_cache, i % 4 == j % 4, "{placement:?}");
        }
    }
    // Two pairs that communicate, more places than threads: in one package each, and a core for each thread.
    let smt = parse_topology("package 2\ncore 4\nthread 2\n").unwrap();
    let pairs = Weights::new(4, |i, j| u64::from(i + j == 3));
    let placement = solve(&pairs, &smt, &Slots::new(&smt, 4));
    assert_eq!(smt.separation(placement[0], placement[3]), Some(1), "{placement:?}");
    assert_eq!(smt.separation(placement[1], placement[2]), Some(1), "{placement:?}");
}

#[test]
fn the_simple_placements_are_those_of_openmp() {
    let topology = parse_topology("package 2\ncore 2\nthread 2\n").unwrap();
    assert_eq!(in_order(&Slots::new(&topology, 4)), [0, 2, 4, 6]);
    assert_eq!(in_order(&Slots::new(&topology, 3)), [0, 2, 4]);
    assert_eq!(in_order(&Slots::new(&topology, 10)), [0, 0, 1, 2, 2, 3, 4, 5, 6, 7]);
    assert_eq!(spread(&topology, 10), [0, 4, 2, 6, 1, 5, 3, 7, 0, 4]);
}

#[test]
fn two_hundred_and_fifty_six_threads_and_beyond() {
    let topology = parse_topology("package 2\nnode 4\nL3 4\ncore 8\n").unwrap();
    // A grid of 16 x 16 with its neighbours; in order, rows stay together and columns do not.
    let grid = |i: usize, j: usize| u64::from(j - i == 16 || j - i == 1 && !j.is_multiple_of(16));
    let weights = Weights::new(256, grid);
    let slots = Slots::new(&topology, 256);
    let placement = solve(&weights, &topology, &slots);
    let (found, before) = (cost(&weights, &topology, &placement), cost(&weights, &topology, &in_order(&slots)));
    assert!(found * 10 < before * 9, "{found} after {before}");
    // Neighbours whose numbers are far apart, and no pattern at all: a core for two threads, and more places than
    // threads.
    for machine in ["package 2\ncore 64\nthread 2\n", "package 4\nL3 8\ncore 8\nthread 2\n"] {
        let topology = parse_topology(machine).unwrap();
        let slots = Slots::new(&topology, 256);
        let places = in_order(&slots);
        let far = Weights::new(256, |i, j| if (j - i).is_multiple_of(64) { 1000 } else { 1 });
        let planted: Vec<usize> = (0..256).map(|thread| places[thread % 64 * 4 + thread / 64]).collect();
        for (weights, known) in [(far, planted), (random(256, 7), places)] {
            let placement = solve(&weights, &topology, &slots);
            assert!(is_balanced(&topology, &placement));
            let [found, known] = [placement, known].map(|p| cost(&weights, &topology, &p));
            assert!(found <= known, "{found}, but {known} is known");
        }
    }
    // Too many to exchange: still placed, and no worse than in order.
    let many = Weights::new(2000, |i, j| u64::from(j - i < 3));
    let slots = Slots::new(&topology, 2000);
    let placement = solve(&many, &topology, &slots);
    assert!(cost(&many, &topology, &placement) <= cost(&many, &topology, &in_order(&slots)));
    assert!(is_balanced(&topology, &placement));
}

#[test]
fn counts_of_any_size_do_not_overflow() {
    let topology = parse_topology("package 2 distance=4000000000\ncore 2 distance=1\n").unwrap();
    let weights = Weights::new(4, |i, j| if i + j == 3 { u64::MAX } else { 1 });
    let placement = solve(&weights, &topology, &Slots::new(&topology, 4));
    assert_eq!(topology.separation(placement[0], placement[3]), Some(1));
}

prop_compose! {
    fn problem()(at in 0..TOPOLOGIES.len(), threads in 0usize..13)
        (at in Just(at), values in prop::collection::vec(prop_oneof![Just(0u64), 0u64..1000], threads * threads), threads in Just(threads))
        -> (Topology, Weights) {
        (topology(at), Weights::new(threads, |i, j| values[i * threads + j]))
    }
}

proptest! {
    #[test]
    fn balanced_and_never_worse_than_in_order((topology, weights) in problem()) {
        let slots = Slots::new(&topology, weights.size());
        let placement = solve(&weights, &topology, &slots);
        prop_assert_eq!(placement.len(), weights.size());
        prop_assert!(is_balanced(&topology, &placement));
        prop_assert!(is_balanced(&topology, &in_order(&slots)));
        let before = cost(&weights, &topology, &in_order(&slots));
        prop_assert!(cost(&weights, &topology, &placement) <= before);
        // No exchange of two threads makes it better.
        let found = cost(&weights, &topology, &placement);
        for i in 0..weights.size() {
            for j in 0..i {
                let mut other = placement.clone();
                other.swap(i, j);
                prop_assert!(cost(&weights, &topology, &other) >= found);
            }
        }
    }

    /// With different events for each pair no two threads are alike, so numbers cannot matter.
    #[test]
    fn renaming_threads_renames_places(
        at in 0..TOPOLOGIES.len(),
        (order, values) in (3usize..10).prop_flat_map(|threads| (
            Just((0..threads).collect::<Vec<_>>()).prop_shuffle(),
            Just((1..=(threads * threads) as u64).collect::<Vec<_>>()).prop_shuffle(),
        )),
    ) {
        let topology = topology(at);
        let threads = order.len();
        let slots = Slots::new(&topology, threads);
        let weights = Weights::new(threads, |i, j| values[i * threads + j]);
        let (one, other) = (search(&weights, &topology, &slots), search(&weights.permuted(&order), &topology, &slots));
        for (thread, was) in order.iter().enumerate() {
            prop_assert_eq!(other[thread], one[*was]);
        }
    }

    /// Twice the events everywhere cost twice as much and are no reason to move.
    #[test]
    fn only_relations_matter((topology, weights) in problem(), factor in 1u64..1000) {
        let slots = Slots::new(&topology, weights.size());
        let more = Weights::new(weights.size(), |i, j| weights.get(i, j) * factor);
        prop_assert_eq!(solve(&more, &topology, &slots), solve(&weights, &topology, &slots));
    }
}
