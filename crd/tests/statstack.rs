//! Distinct distances estimated from index distances against exact ones, on traces of the kinds that occur.
//!
//! All index distances go in, so what is measured is the error of the transform and of the buckets, not that of
//! sampling. Bounds: each of p50, p90 and p99 within 15 % or one element, the median of all these errors within 3 %,
//! and the quantile functions as a whole within 0.08 octaves (a bucket is 0.09 octaves wide). What mixes several kinds
//! of use keeps to them by what one event in 64 shows of the insides of intervals, found here by looking at all pairs.

mod profiles;

use threadtalk_crd::Options;
use threadtalk_crd::model::Distances;
use threadtalk_crd::sequence;
use threadtalk_profile::buckets::length;
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

/// Traces whose windows differ from the average one.
fn mixtures() -> Vec<(&'static str, Vec<u64>)> {
    let product = |n: u64| (0..EVENTS).map(move |e| (e / 2 % n, e / 2 / n % n, e / 2 / n / n, e % 2 == 0));
    // Each event is of a row of the one matrix, or of the other, all of which comes between two uses of its elements.
    let product =
        |n: u64| product(n).map(|(k, j, i, first)| if first { i % n * n + k } else { n * n + k * n + j }).collect();
    let changing = |e: u64| if e < EVENTS / 3 { e % 8000 } else { e % 500 };
    // A hundred elements twenty times over, then ten thousand others once, of which there are two lots.
    let blocks = |e: u64| match (e / 12_000 % 2, e % 12_000) {
        (_, step @ 0..2000) => step % 100,
        (lot, step) => 1000 + lot * 10_000 + step,
    };
    vec![
        ("product of 40 x 40", product(40)),
        ("all data, then less", (0..EVENTS).map(changing).collect()),
        ("a block, then others", (0..EVENTS).map(blocks).collect()),
    ]
}

/// Of one event in 64: what a runtime finds that looks inside of its intervals, counted pair by pair.
fn inside(elements: &[u64], random: &mut Random) -> [Histogram; 2] {
    let sampled: Vec<usize> = (0..elements.len()).filter(|_| random.below(64) == 0).collect();
    let mut next = vec![usize::MAX; elements.len()];
    let mut later = std::collections::HashMap::new();
    for (at, element) in elements.iter().enumerate().rev() {
        next[at] = later.insert(*element, at).unwrap_or(usize::MAX);
    }
    let [mut begun, mut open] = [(); 2].map(|()| Vec::new());
    for start in sampled.iter().filter(|start| next[**start] != usize::MAX) {
        let (end, class) = (next[*start], length((next[*start] - start) as u64) as u16);
        let within = sampled.iter().filter(|other| (start + 1..end).contains(*other));
        begun.push((class, within.clone().count() as u64));
        open.push((class, within.filter(|other| next[**other] > end).count() as u64));
    }
    [begun, open].map(Histogram::of_buckets)
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
fn estimate(index: &[u64], unfinished: u64, [begun, open]: [Histogram; 2]) -> Distances {
    let trace = Trace {
        writer: 0,
        reader: 1,
        region: 1,
        is_sampled: true,
        samples: index.len() as u64,
        abandoned: unfinished,
        sampled: Histogram::of(index.iter().copied()),
        begun,
        open,
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
    errors_stay_small(traces().into_iter().map(|(name, elements)| (name, elements, Default::default())));
}

#[test]
fn looks_inside_keep_mixtures_to_the_same() {
    let mut random = Random(0x2018_0813_1cbb_2018);
    errors_stay_small(traces().into_iter().chain(mixtures()).map(|(name, elements)| {
        let found = inside(&elements, &mut random);
        (name, elements, found)
    }));
}

fn errors_stay_small(traces: impl Iterator<Item = (&'static str, Vec<u64>, [Histogram; 2])>) {
    let mut errors = Vec::new();
    for (name, elements, inside) in traces {
        let mut found = sequence::distances(elements);
        let unfinished = EVENTS - found.index.len() as u64;
        let estimated = estimate(&found.index, unfinished, inside);
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
