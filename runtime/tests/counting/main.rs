//! What ends up in the profile, against the exact model of the specification.
//!
//! Several logical threads driven from one: accesses go through the inlined sequence as `threadtalk_abi::thread` writes
//! it down ([`inlined`]), the hooks behind it, the mapped file, and the decoder. A process has one profile, so each
//! test runs its body in a process of its own.

mod columns;
mod driver;
mod inlined;
mod lines;
mod nests;
mod structures;

use driver::{Driver, Recorded};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use threadtalk_profile::Histogram;
use threadtalk_runtime::execution::tree;
use threadtalk_runtime::phases;
use threadtalk_runtime::thread::diversity::is_sample;
use threadtalk_sigmem::oracle::{Op, Oracle, Pair, Record, Step, distance};

const REGIONS: u32 = 3;

#[test]
fn with_exact_distances() {
    in_own_process("with_exact_distances", || {
        let (found, record) = run("mode=exact:crd=exact");
        same_matrices(&found, &record);
        same_distances(&found, &record);
    });
}

#[test]
fn with_sampled_distances() {
    in_own_process("with_sampled_distances", || {
        let (found, record) = run("mode=exact:crd=auto:crd_exact_usages=64");
        same_matrices(&found, &record);
        assert!(found.samples() > 1000, "{} intervals were sampled", found.samples());
    });
}

/// The first reads of all writers' values come first, so each trace knows with how many it shares.
#[test]
fn traces_of_a_region_share_what_is_followed_exactly() {
    in_own_process("traces_of_a_region_share_what_is_followed_exactly", || {
        let mut driver = Driver::start("mode=exact:crd=auto:crd_exact_usages=1024:quiet=1", 6, REGIONS);
        let mut step = |thread, op| driver.step(&Step { thread, op });
        for thread in 0..6 {
            step(thread, Op::Enter(1));
            step(thread, Op::Write { at: 8 * u64::from(thread), bytes: 8 });
        }
        // Two traces in region 1, and eight in region 2, of two readers.
        for (region, writers) in [(1, 2..=2), (2, 2..=5)] {
            (0..2).for_each(|reader| step(reader, Op::Enter(region)));
            for _ in 0..3000 {
                for writer in writers.clone() {
                    (0..2).for_each(|reader| step(reader, Op::Read { at: 8 * writer, bytes: 8 }));
                }
            }
        }
        let found = driver.finish();
        let exact = |region, writer, reader| found.trace(region, Pair { writer, reader }).exact_usages;
        assert_eq!([exact(1, 2, 0), exact(1, 2, 1)], [1024; 2]);
        assert_eq!((2..=5).map(|w| exact(2, w, 0) + exact(2, w, 1)).collect::<Vec<_>>(), [512; 4]);
        let read = |region| found.matrix(region, |e| e.raw + e.rar).into_values().collect::<Vec<u64>>();
        assert_eq!((read(1), read(2)), (vec![6000; 2], vec![6000; 8]));
    });
}

/// Each value is read first in region 1 and then in region 2, as a sort counts keys and moves them: writes take the
/// mark of what region 2 waits for along, and what comes next is a read in region 1.
#[test]
fn an_interval_goes_on_through_other_regions() {
    in_own_process("an_interval_goes_on_through_other_regions", || {
        let options = "mode=exact:crd=auto:crd_exact_usages=128:quiet=1";
        let mut driver = Driver::start(options, 2, REGIONS);
        let mut step = |thread, op| driver.step(&Step { thread, op });
        step(0, Op::Enter(1));
        let elements = 64;
        for _ in 0..400 {
            (0..elements).for_each(|i| step(0, Op::Write { at: 4 * i, bytes: 4 }));
            for region in [1, 2] {
                step(1, Op::Enter(region));
                (0..elements).for_each(|i| step(1, Op::Read { at: 4 * i, bytes: 4 }));
            }
        }
        let found = driver.finish();
        for region in [1, 2] {
            let trace = found.trace(region, Pair { writer: 0, reader: 1 });
            assert!(trace.samples > 500, "{} samples of region {region}", trace.samples);
            let buckets: Vec<u16> = trace.sampled.buckets().iter().map(|(bucket, _)| *bucket).collect();
            assert_eq!(buckets, [threadtalk_profile::buckets::bucket(elements) as u16], "region {region}");
            // No element comes twice between two usages of another.
            assert!(trace.makes_up && !trace.begun.is_empty());
            assert_eq!(trace.open, trace.begun);
        }
    });
}

#[test]
fn without_distances_in_a_hashed_signature_that_fits() {
    in_own_process("without_distances_in_a_hashed_signature_that_fits", || {
        let (found, record) = run("mode=hashed:signature_bytes=1M:crd=off");
        same_matrices(&found, &record);
        assert_eq!(found.accuracy().chunks_aliased, 0);
        // Values live too short here for more; that counts made inline are right is the point.
        assert!(found.inline > 5_000, "{} reads were settled without a hook", found.inline);
    });
}

#[test]
fn the_tightest_budget_for_distances_changes_no_count() {
    in_own_process("the_tightest_budget_for_distances_changes_no_count", || {
        let (found, record) = run("mode=exact:crd=exact:crd_bytes=64K");
        same_matrices(&found, &record);
        assert!(found.accuracy().crd_budget_reached > 0, "the profile says that the budget was reached");
    });
}

/// Sampled distances begin and end in them, and first reads happen in them.
#[test]
fn nests_count_what_their_accesses_do() {
    in_own_process("nests_count_what_their_accesses_do", || {
        let (outcome, found, _) =
            beside_the_model("mode=exact:crd=auto:crd_exact_usages=64:quiet=1", 20261122, |driver, oracle, rng| {
                nests::run(driver, oracle, rng, 4000)
            });
        assert!(found.samples() > 1000, "{} intervals were sampled", found.samples());
        assert_eq!(found.empty_intervals(), 0, "no read is sampled twice");
        let nests::Outcome { with_first_reads, by_rounds, within_rounds, refused, .. } = outcome;
        let each = [with_first_reads, by_rounds, within_rounds, refused];
        assert!(each.iter().all(|nests| *nests > 1000), "{outcome:?}");
    });
}

/// Where no distance begins or ends, the order of first reads does not matter.
#[test]
fn nests_without_distances_count_what_their_accesses_do() {
    in_own_process("nests_without_distances_count_what_their_accesses_do", || {
        let (outcome, _, _) = beside_the_model("mode=exact:crd=off:quiet=1", 20261123, |driver, oracle, rng| {
            nests::run(driver, oracle, rng, 4000)
        });
        let nests::Outcome { settled, with_first_reads, within_rounds, .. } = outcome;
        assert!(settled > 5000 && with_first_reads > 1000 && within_rounds > 1000, "{outcome:?}");
    });
}

/// Columns that are not known are read by themselves, and others count as a whole.
#[test]
fn columns_count_what_their_accesses_do() {
    in_own_process("columns_count_what_their_accesses_do", || {
        let (outcome, found, _) =
            beside_the_model("mode=exact:crd=auto:crd_exact_usages=64:quiet=1", 20261123, |driver, oracle, rng| {
                columns::run(driver, oracle, rng, 4000)
            });
        assert!(found.samples() > 1000, "{} intervals were sampled", found.samples());
        assert!(outcome.with_first_reads > 1000 && outcome.settled > 5000 && outcome.refused > 100, "{outcome:?}");
    });
}

/// The same where nothing is sampled.
#[test]
fn columns_that_are_not_known_have_exact_distances() {
    in_own_process("columns_that_are_not_known_have_exact_distances", || {
        let (outcome, found, record) =
            beside_the_model("mode=exact:crd=exact:quiet=1", 20261124, |driver, oracle, rng| {
                columns::run(driver, oracle, rng, 400)
            });
        same_distances(&found, &record);
        assert!(outcome.with_first_reads > 10, "{outcome:?}");
    });
}

/// Members that were written at several lines are in several states, which repeat.
#[test]
fn structures_count_what_their_accesses_do() {
    in_own_process("structures_count_what_their_accesses_do", || {
        let (outcome, found, _) =
            beside_the_model("mode=exact:crd=auto:crd_exact_usages=64:quiet=1", 20261125, |driver, oracle, rng| {
                structures::run(driver, oracle, rng, 4000)
            });
        assert!(found.samples() > 1000, "{} intervals were sampled", found.samples());
        let structures::Outcome { settled, with_much_reuse, quiet, refused } = outcome;
        assert!(with_much_reuse > 500 && quiet > 1000 && settled > 3000 && refused > 1000, "{outcome:?}");
    });
}

/// The same where nothing is sampled.
#[test]
fn structures_have_exact_distances() {
    in_own_process("structures_have_exact_distances", || {
        let (outcome, found, record) =
            beside_the_model("mode=exact:crd=exact:quiet=1", 20261126, |driver, oracle, rng| {
                structures::run(driver, oracle, rng, 400)
            });
        same_distances(&found, &record);
        assert!(outcome.settled > 100, "{outcome:?}");
    });
}

/// What is short for one thread is timed again when the next one has its control block.
#[test]
fn each_thread_judges_for_itself_what_is_too_short_to_be_timed() {
    in_own_process("each_thread_judges_for_itself_what_is_too_short_to_be_timed", || {
        let mut driver = Driver::start("quiet=1", 1, REGIONS);
        let (p, region) = (driver.process(), driver.region(1));
        let visit = |driver: &mut Driver, times| {
            driver.on(0, |t, _| {
                for _ in 0..times {
                    tree::enter(t, p, region);
                    tree::exit(t, p, region);
                }
            });
        };
        visit(&mut driver, 40_000);
        driver.replace(0);
        visit(&mut driver, 3);
        let visits = driver.finish().visits(region);
        let [(0, first), (1, 3)] = visits[..] else { panic!("{visits:?}") };
        assert!((1 << 13..40_000).contains(&first), "{visits:?}");
    });
}

/// A thread that goes on with accesses that inlined code counts calls no hook: what a loop nest knows of memory would
/// stay out of use to the end of the program.
#[test]
fn windows_are_tried_again_where_a_thread_has_waited() {
    in_own_process("windows_are_tried_again_where_a_thread_has_waited", || {
        let mut driver = Driver::start("quiet=1", 1, REGIONS);
        let p = driver.process();
        let waits = driver.on(0, |t, _| {
            (0..6)
                .map(|_| {
                    while t.uses_windows() {
                        t.weigh_windows(p, 0);
                    }
                    let given_up = p.elapsed_ns();
                    phases::resume(t, p, given_up.saturating_sub(1_000_000_000));
                    assert!(!t.uses_windows(), "tried again at once");
                    let used = |wait: &u64| {
                        phases::resume(t, p, given_up + wait);
                        t.uses_windows()
                    };
                    (10..40).map(|log2| 1 << log2).find(used).expect("tried again at last")
                })
                .collect::<Vec<u64>>()
        });
        assert!(waits.iter().all(|wait| *wait <= 1 << 27), "a tenth of a second: {waits:?}");
    });
}

/// What is read again while its distances are followed exactly is in a set of readers that the thread has made itself.
/// Taken for ever new sets, values of two threads were opened, and each later read of them took the slow path.
#[test]
fn reuse_is_no_new_set_of_readers() {
    in_own_process("reuse_is_no_new_set_of_readers", || {
        let mut driver = Driver::start("crd=exact:quiet=1", 2, REGIONS);
        let base = driver.base();
        let at = (0..).step_by(64).find(|at| is_sample(base + at)).expect("one line in 64 is a sample");
        (0..2).for_each(|thread| driver.step(&Step { thread, op: Op::Enter(1) }));
        driver.step(&Step { thread: 0, op: Op::Write { at, bytes: 8 } });
        for round in 0..2000 {
            driver.step(&Step { thread: 1, op: Op::Read { at, bytes: 8 } });
            assert!(!driver.on(1, |t, _| t.diversity.is_great()), "after {round} reads");
        }
    });
}

#[test]
fn no_cache_line_is_written_by_two_threads() {
    in_own_process("no_cache_line_is_written_by_two_threads", || {
        // Without distances all records may be counted inline at once.
        let (driver, _) = drive("mode=exact:crd=off:quiet=1");
        lines::are_apart(&driver, REGIONS);
    });
}

fn run(options: &str) -> (Recorded, Record) {
    let (driver, record) = drive(&format!("{options}:quiet=1"));
    (driver.finish(), record)
}

fn drive(options: &str) -> (Driver, Record) {
    let mut driver = Driver::start(options, 6, REGIONS);
    let mut rng = Rng::with_seed(20260101);
    let mut oracle = Oracle::new(4);
    for _ in 0..200 {
        for step in driver::program(&mut rng, driver.threads(), REGIONS) {
            oracle.step(&step);
            driver.step(&step);
        }
    }
    let record = oracle.record().clone();
    assert!(record.events.len() > 100_000, "the programs communicate: {}", record.events.len());
    (driver, record)
}

/// Runs loops that three threads are asked about, driver and model side by side; the matrices are the same.
fn beside_the_model<Outcome>(
    options: &str,
    seed: u64,
    run: impl FnOnce(&mut Driver, &mut Oracle, &mut Rng) -> Outcome,
) -> (Outcome, Recorded, Record) {
    let mut driver = Driver::start(options, 3, REGIONS);
    let (mut oracle, mut rng) = (Oracle::new(4), Rng::with_seed(seed));
    let outcome = run(&mut driver, &mut oracle, &mut rng);
    let (found, record) = (driver.finish(), oracle.record().clone());
    same_matrices(&found, &record);
    (outcome, found, record)
}

fn same_matrices(found: &Recorded, record: &Record) {
    for region in 1..=REGIONS {
        assert_eq!(found.matrix(region, |e| e.raw), record.raw(region), "RaW in region {region}");
        assert_eq!(found.matrix(region, |e| e.rar), record.rar(region), "RaR in region {region}");
        let sync = record.matrix(|e| e.region == region && e.sync && !e.reuse);
        assert_eq!(found.matrix(region, |e| if e.is_sync() { e.raw } else { 0 }), sync, "atomic RaW in {region}");
    }
}

fn same_distances(found: &Recorded, record: &Record) {
    let traces: BTreeSet<(u32, Pair)> = record.events.iter().map(|e| (e.region, e.pair)).collect();
    for (region, pair) in traces {
        let usages: Vec<u64> = record.usages(region, pair).iter().map(|(element, _)| *element).collect();
        let trace = found.trace(region, pair);
        assert_eq!(trace.distinct, Histogram::of(distance::distinct(&usages)), "distinct, {pair:?} in {region}");
        assert_eq!(trace.index, Histogram::of(distance::index(&usages)), "index, {pair:?} in {region}");
        assert_eq!(trace.exact_usages, usages.len() as u64);
    }
}

/// Runs `body` in a process that runs only this test.
fn in_own_process(test: &str, body: impl FnOnce()) {
    if std::env::var_os("THREADTALK_TEST_CHILD").is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("the test's own path");
    let child = Command::new(program)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("THREADTALK_TEST_CHILD", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test can be run");
    let profile = driver::profile_of(child.id());
    let output = child.wait_with_output().expect("the test can be waited for");
    // Bodies that read it have removed it.
    let _ = std::fs::remove_file(profile);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
