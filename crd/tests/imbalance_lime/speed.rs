//! What 64 threads and 5 000 events cost, printed: `cargo test --release ... --test imbalance_lime -- --ignored
//! --nocapture`. No time is asserted: a busy machine must not fail a test.

use super::random::Random;
use super::synthetic::{Plant, section};
use std::time::Duration;
use threadtalk_crd::imbalance::lime::{Edge, Options, Section, analyse};

const THREADS: usize = 64;
const EVENTS: usize = 5_000;

/// No two events alike: each is its share of a common cause, and noise of its own.
fn distinct(common: f64) -> Section {
    let mut random = Random(3);
    let cause = random.normals(THREADS);
    let counts =
        |random: &mut Random| cause.iter().map(|c| (1e6 + 1e4 * (common * c + random.normal())).round()).collect();
    let edges =
        (0..EVENTS as u32).map(|i| Edge { from: i, to: i + 1, back: false, counts: counts(&mut random) }).collect();
    Section { dependent: cause.iter().map(|c| 100.0 + 10.0 * c).collect(), edges, hardware: Vec::new() }
}

/// Time that this thread had a processor: what other processes take is not the analysis'.
fn on_processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
#[ignore = "long: prints times"]
fn of_5000_events_of_64_threads() {
    // Each branch has four events: two edges, one behind them, and its misses.
    let program = section(1, THREADS, EVENTS / 4, Plant::Two).0;
    // No program has 5 000 events of which none is a multiple of another: the last three are what the
    // worst costs.
    let inputs = [
        ("program", program),
        ("unrelated", distinct(0.0)),
        ("loose", distinct(2.0)),
        ("on the edge", distinct(3.0)),
        ("one cloud", distinct(6.0)),
    ];
    for (name, input) in &inputs {
        let once = || {
            let start = on_processor();
            let result = analyse(input, &Options::default());
            (on_processor() - start, result.clusters.len())
        };
        // The least of several: other processes can only add.
        let (time, clusters) = (0..if cfg!(debug_assertions) { 1 } else { 5 }).map(|_| once()).min().unwrap();
        let events = input.edges.len() + input.hardware.len();
        println!("{name:<12} {events} events, {clusters:>4} clusters: {:.3} s", time.as_secs_f64());
        assert!(events >= EVENTS && clusters > 0);
    }
}
