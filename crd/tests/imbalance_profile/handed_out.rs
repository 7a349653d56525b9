//! Work that was handed out: dealt as threads with a processor each would ask for it, against such threads step by
//! step.

use super::of;
use super::program::*;
use proptest::prelude::*;
use threadtalk_crd::imbalance::profile::observed::*;

/// Instructions of one execution of a piece's only block.
const EACH: u32 = 3;

/// A section of `own` executions of a thread each, before pieces of so many, all of which the first thread executed.
fn section(own: &[u64], pieces: &[(u64, f64)]) -> Observed {
    let mut o = empty();
    function(&mut o, "worker", &[(4, EACH)], &[(OUT, 0, 0), (0, OUT, 0)]);
    o.threads = (0..own.len() as u32).collect();
    let all: u64 = pieces.iter().map(|p| p.0).sum();
    let of_thread = |(t, own): (u32, &u64)| {
        let count = own + if t == 0 { all } else { 0 };
        Part { wall_ns: 1000, cpu_ns: 10 * count, ..part(t, 0, &[count, count]) }
    };
    o.parts = (0u32..).zip(own).map(of_thread).collect();
    let piece = |(at, &(count, weight)): (u64, &(u64, f64))| Part {
        kind: PIECE,
        instance: (7, 0),
        begin_ns: at,
        cpu_ns: 10 * count,
        weight,
        ..part(0, 0, &[count, count])
    };
    o.pieces = (1..).zip(pieces).map(piece).collect();
    o
}

/// Threads that work step by step: who is free takes the next piece, the first of several that are free at once.
fn step_by_step(own: &[u64], pieces: &[u64]) -> Vec<u64> {
    let (mut left, mut done) = (own.to_vec(), own.to_vec());
    let mut pieces = pieces.iter();
    loop {
        if let Some(free) = left.iter().position(|&l| l == 0) {
            let Some(&piece) = pieces.next() else { return done };
            left[free] = piece;
            done[free] += piece;
        } else {
            left.iter_mut().for_each(|l| *l -= 1);
        }
    }
}

proptest! {
    #[test]
    fn pieces_go_to_the_thread_that_would_be_free_first(
        own in prop::collection::vec(0u64..30, 2..7),
        pieces in prop::collection::vec(1u64..20, 1..40),
    ) {
        let o = section(&own, &pieces.iter().map(|&p| (p, 1.0)).collect::<Vec<_>>());
        let result = of(&o);
        let wanted: Vec<f64> = step_by_step(&own, &pieces).iter().map(|&n| n as f64 * f64::from(EACH)).collect();
        prop_assert_eq!(&result.sections[0].values, &wanted);
        prop_assert_eq!(result.sections[0].handed_out, HandedOut::Wholly);
        let cpu: f64 = result.sections[0].cpu.iter().sum();
        let all: u64 = own.iter().chain(&pieces).sum();
        prop_assert!((cpu - all as f64 * 1e-8).abs() < 1e-12);
    }
}

#[test]
fn a_record_of_many_pieces_is_shared_out_evenly_and_of_one_is_not() {
    let values = |weight| of(&section(&[0, 0, 0, 0], &[(4000, weight)])).sections[0].values.clone();
    let each = f64::from(EACH);
    assert_eq!(values(1.0), [4000.0 * each, 0.0, 0.0, 0.0]);
    assert_eq!(values(1000.0), [1000.0 * each; 4]);
    // Three pieces for four threads.
    assert_eq!(values(3.0), [1333.0 * each, 1333.0 * each, 1334.0 * each, 0.0]);
}

#[test]
fn what_is_in_no_record_is_shared_out_evenly() {
    let mut o = section(&[400, 0, 0, 0], &[(80, 1.0)]);
    o.parts[0].handed_out = HandedOut::Partly;
    let section = &of(&o).sections[0];
    let each = f64::from(EACH);
    assert_eq!(section.values, [180.0 * each, 100.0 * each, 100.0 * each, 100.0 * each]);
    assert_eq!(section.handed_out, HandedOut::Partly);
}

#[test]
fn large_chunks_of_a_guided_loop_come_first_whatever_the_clock_says() {
    let mut o = section(&[0, 0], &[(10, 1.0), (20, 1.0), (30, 1.0)]);
    for (piece, iterations) in o.pieces.iter_mut().zip([1, 2, 3]) {
        piece.instance = (7, iterations);
    }
    assert_eq!(of(&o).sections[0].values, [90.0, 90.0]);
}

#[test]
fn pieces_outside_of_a_part_or_of_another_region_stay_where_they_were() {
    let mut o = section(&[5, 5], &[(10, 1.0)]);
    o.pieces[0].begin_ns = 2000;
    let all = of(&o);
    let section = &all.sections[0];
    assert_eq!((section.values.clone(), section.handed_out), (vec![45.0, 15.0], HandedOut::Nothing));
    // Of another region, inside it at the same time: of another run that was added up with this.
    (o.pieces[0].begin_ns, o.pieces[0].instance) = (1, (8, 0));
    assert_eq!(of(&o).sections[0].handed_out, HandedOut::Nothing);
}

/// `worker` calls `spin` always; thread 3 takes a branch to another call of it, but fewer of the others. The branch and
/// the loop in `spin` lead the same cluster, and each has a score of about 2.
#[test]
fn a_branch_comes_before_the_loop_in_the_function_that_it_calls() {
    let mut o = empty();
    let worker = function(
        &mut o,
        "worker",
        &[(4, 10), (6, 2), (8, 1)],
        &[(OUT, 0, 0), (0, 1, 5), (0, 2, 5), (1, 2, 7), (2, OUT, 0)],
    );
    let spin = function(
        &mut o,
        "spin",
        &[(20, 5), (22, 7), (24, 1)],
        &[(OUT, 0, 0), (0, 1, 21), (1, 1, -22), (1, 2, 22), (2, OUT, 0)],
    );
    let first = o.functions[worker as usize].entry;
    o.calls = [0, 1].map(|block| Call { block: first + block, line: 6, callee: Callee::Function(spin) }).into();
    o.threads = (0..8).collect();
    let thread = |t: u64| {
        let (entered, slow) = if t == 3 { (4, 1) } else { (100 + t % 3, 0) };
        let calls = entered + slow;
        part(
            t as u32,
            0,
            &[entered, slow, entered - slow, slow, entered, calls, calls, calls * 10 + slow * 50_000, calls, calls],
        )
    };
    o.parts = (0..8).map(thread).collect();
    let section = &of(&o).sections[0];
    let cause = &section.causes[0];
    assert_eq!((cause.line, cause.alike.len()), (Some(5), 1), "{:#?}", section.causes);
    assert_eq!((cause.alike[0].line, &*cause.alike[0].function), (Some(22), "spin"));
    assert!(cause.score > 1.9 && cause.alike[0].score > 1.9);
    assert_eq!(section.causes.iter().filter(|c| c.important()).count(), 1);
}
