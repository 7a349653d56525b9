//! What must hold for every trace, whatever the counts are.

use crate::driver::Driver;
use crate::generator::{Generator, Shape};
use crate::memory::EXACT;
use fastrand::Rng;
use std::collections::{BTreeSet, HashMap};
use threadtalk_abi::GRANULE;
use threadtalk_sigmem::oracle::record::Matrix;
use threadtalk_sigmem::oracle::{Access, Op, Pair, Record, Step, trace};

const TRACES: u64 = 300;
const STEPS: usize = 200;

fn traces() -> impl Iterator<Item = (u64, Vec<Step>)> {
    (0..TRACES).map(|seed| {
        let mut rng = Rng::with_seed(1_000_000 + seed);
        let shape = Shape::random(&mut rng);
        (seed, Generator::new(shape, rng).take(STEPS).collect())
    })
}

fn run(steps: &[Step]) -> Record {
    let mut driver = Driver::new(EXACT, GRANULE);
    for step in steps {
        driver.step(step);
    }
    driver.record
}

fn counts(record: &Record) -> Vec<(u32, Matrix, Matrix)> {
    record.regions().into_iter().map(|region| (region, record.raw(region), record.rar(region))).collect()
}

/// Who wrote what, and nothing else.
#[derive(Default)]
struct Writers(HashMap<u64, u32>);

impl Writers {
    /// Calls back for each element read, with its writer, then applies the step.
    fn step(&mut self, step: &Step, mut read: impl FnMut(u64, Option<u32>)) {
        for access in step.op.accesses() {
            match access {
                Access::Read { at, bytes, .. } => {
                    trace::elements(at, bytes, GRANULE).for_each(|e| read(e, self.0.get(&e).copied()));
                }
                Access::Write { at, bytes } => {
                    self.0.extend(trace::elements(at, bytes, GRANULE).map(|e| (e, step.thread)));
                }
                Access::Death { at, bytes } => {
                    self.0.retain(|e, _| !trace::elements(at, bytes, GRANULE).contains(e));
                }
            }
        }
    }
}

#[test]
fn events_are_the_foreign_reads_of_live_elements() {
    for (seed, steps) in traces() {
        let (mut writers, mut foreign) = (Writers::default(), 0);
        for step in &steps {
            writers.step(step, |_, writer| foreign += usize::from(writer.is_some_and(|w| w != step.thread)));
        }
        assert_eq!(run(&steps).events.len(), foreign, "seed {seed}");
    }
}

#[test]
fn nobody_communicates_with_itself_and_reuse_follows_communication() {
    for (seed, steps) in traces() {
        let record = run(&steps);
        assert!(record.events.iter().all(|event| event.pair.writer != event.pair.reader), "seed {seed}");
        let raw = record.matrix(|event| !event.reuse);
        for pair in record.matrix(|event| event.reuse).keys() {
            assert!(raw.contains_key(pair), "seed {seed}: {pair:?} reuses what it never received");
        }
    }
}

#[test]
fn own_and_cold_reads_change_nothing() {
    for (seed, steps) in traces() {
        let mut rng = Rng::with_seed(seed);
        let (mut writers, mut padded) = (Writers::default(), Vec::new());
        for step in &steps {
            writers.step(step, |_, _| {});
            padded.push(*step);
            let own = writers.0.iter().filter(|(_, writer)| **writer == step.thread).map(|(element, _)| *element);
            // The lowest one: the map's order differs from run to run.
            let quiet = if rng.bool() { own.min() } else { Some(1_000_000 + rng.u64(0..1_000)) };
            let read = quiet.map(|element| Op::Read { at: element * GRANULE, bytes: GRANULE });
            padded.extend(read.map(|op| Step { thread: step.thread, op }));
        }
        assert!(padded.len() > steps.len(), "seed {seed}");
        assert_eq!(run(&padded).events, run(&steps).events, "seed {seed}");
    }
}

fn touched(step: &Step) -> BTreeSet<u64> {
    let ranges = step.op.accesses().into_iter().map(|access| {
        let (Access::Read { at, bytes, .. } | Access::Write { at, bytes } | Access::Death { at, bytes }) = access;
        trace::elements(at, bytes, GRANULE)
    });
    ranges.flatten().collect()
}

#[test]
fn independent_accesses_of_different_threads_may_change_places() {
    let mut swaps = 0;
    for (seed, steps) in traces() {
        let mut rng = Rng::with_seed(seed);
        let mut permuted = steps.clone();
        for _ in 0..STEPS {
            let at = rng.usize(0..STEPS - 1);
            let (a, b) = (permuted[at], permuted[at + 1]);
            if a.thread != b.thread && touched(&a).is_disjoint(&touched(&b)) {
                permuted.swap(at, at + 1);
                swaps += 1;
            }
        }
        assert_eq!(counts(&run(&permuted)), counts(&run(&steps)), "seed {seed}");
    }
    assert!(swaps > 10 * TRACES, "{swaps} swaps");
}

#[test]
fn renaming_threads_renames_rows_and_columns() {
    for (seed, steps) in traces() {
        // Sets of many words become sets of few and the other way round.
        let rename = |thread: u32| (thread * 7 + 3) % 2_003;
        let renamed: Vec<Step> = steps.iter().map(|s| Step { thread: rename(s.thread), ..*s }).collect();
        let expected = counts(&run(&steps)).into_iter().map(|(region, raw, rar)| {
            let matrix = |matrix: Matrix| -> Matrix {
                let entries = matrix.into_iter();
                let pair = |pair: Pair| Pair { writer: rename(pair.writer), reader: rename(pair.reader) };
                entries.map(|(old, count)| (pair(old), count)).collect()
            };
            (region, matrix(raw), matrix(rar))
        });
        assert_eq!(counts(&run(&renamed)), expected.collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn the_same_trace_gives_the_same_record() {
    for (seed, steps) in traces() {
        assert_eq!(run(&steps), run(&steps), "seed {seed}");
    }
}
