//! Distinct distances estimated from index distances against exact ones, on traces of the kinds that occur.
//!
//! All index distances go in, so what is measured is the error of the transform and of the buckets, not that of
//! sampling. Bounds: each of p50, p90 and p99 within 15 % or one element, the median of all these errors within 3 %,
//! and the quantile functions as a whole within 0.08 octaves (a bucket is 0.09 octaves wide).

mod profiles;

use threadtalk_crd::Options;
use threadtalk_crd::model::Distances;
use threadtalk_crd::sequence;
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Histogram, Trace};

const EVENTS: u64 = 300_000;

/// Numbers that look random; the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 50) as f64 / (1u64 << 50) as f64
    }
}

/// Elements by name of the trace.
fn traces() -> Vec<(&'static str, Vec<u64>)> {
    let mut random = Random(0x2018_0813_1cbb_2018);
    let mut uniform = |elements: u64| (0..EVENTS).map(|_| random.below(elements)).collect::<Vec<_>>();
    let hot = uniform(8);
    let uniform = uniform(4096);
    let sweep = |elements: u64| (0..EVENTS).map(|i| i % elements).collect::<Vec<_>>();
    // A block of 16 x 16 is used eight times, row by row, then the next one; the matrix has 64 blocks.
    let blocks = (0..EVENTS).map(|i| i / (256 * 8) % 64 * 256 + i % 256).collect();
    vec![
        ("8 hot elements", hot),
        ("16x16 blocks", blocks),
        ("sweep of 512", sweep(512)),
        ("uniform 4 K", uniform),
        ("sweep of 64 K", sweep(1 << 16)),
        ("Zipf 100 K", zipf(100_000, &mut random)),
    ]
}

/// Element `k` with probability proportional to 1 / (k + 1).
fn zipf(elements: usize, random: &mut Random) -> Vec<u64> {
    let mut sums = Vec::with_capacity(elements);
    let mut sum = 0.0;
    for k in 0..elements {
        sum += 1.0 / (k + 1) as f64;
        sums.push(sum);
    }
    (0..EVENTS).map(|_| random.unit() * sum).map(|x| sums.partition_point(|s| *s < x) as u64).collect()
}

/// What the analysis makes of a trace of which only intervals were sampled, each standing for one.
fn estimate(index: &[u64], unfinished: u64) -> Distances {
    let trace = Trace {
        writer: 0,
        reader: 1,
        region: 1,
        is_sampled: true,
        samples: index.len() as u64,
        abandoned: unfinished,
        sampled: Histogram::of(index.iter().copied()),
        ..Trace::default()
    };
    let contents = Contents {
        modules: vec![profiles::module(&[("f", None)])],
        events: vec![profiles::event(1, 0, 1, 1, EVENTS - 1)],
        traces: vec![trace],
        ..Contents::default()
    };
    let report = profiles::report(&contents, &Options::default());
    profiles::counts(&report.regions[1]).own.crd.clone().unwrap().distinct
}

/// The distance that a share of the estimated ones does not exceed, by the histogram alone.
fn quantile(distances: &Distances, share: f64) -> f64 {
    let target = distances.count * share;
    let mut before = 0.0;
    for b in &distances.buckets {
        if before + b.count >= target - 1e-6 {
            return b.lo as f64 + (b.hi - 1 - b.lo) as f64 * (target - before) / b.count;
        }
        before += b.count;
    }
    f64::NAN
}

#[test]
fn the_transform_stays_within_its_stated_error() {
    let mut errors = Vec::new();
    for (name, elements) in traces() {
        let mut found = sequence::distances(elements);
        let unfinished = EVENTS - found.index.len() as u64;
        let estimated = estimate(&found.index, unfinished);
        found.distinct.sort_unstable();
        let exact =
            |share: f64| found.distinct[((found.distinct.len() as f64 * share).ceil() as usize).max(1) - 1] as f64;

        // Distances of 0 and 1 differ by one octave.
        let octaves = |share: f64| ((quantile(&estimated, share) + 1.0) / (exact(share) + 1.0)).log2().abs();
        let mean = (1..100).map(|p| octaves(f64::from(p) / 100.0)).sum::<f64>() / 99.0;
        let reported = [(0.5, estimated.median), (0.9, estimated.p90), (0.99, estimated.p99)];
        let relative = reported.map(|(share, value)| (value.unwrap() - exact(share)).abs() / exact(share).max(1.0));
        println!("{name:16} {mean:.4} octaves, p50 p90 p99 off by {relative:.3?}");
        assert!((estimated.count / found.distinct.len() as f64 - 1.0).abs() < 1e-9, "{name}");
        assert!(mean < 0.08, "{name}: {mean} octaves");
        for (share, value) in reported {
            let error = (value.unwrap() - exact(share)).abs();
            assert!(error <= 1.0 || error <= 0.15 * exact(share), "{name}: {value:?} for {}", exact(share));
        }
        errors.extend(relative);
    }
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    assert!(median < 0.03, "median of the errors {median}");
}
