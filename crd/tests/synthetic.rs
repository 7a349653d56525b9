//! Large profiles: the sums are right, and nothing grows with the square of all threads.

mod profiles;

use std::fs;
use std::time::Duration;
use threadtalk_crd::machine::Cache;
use threadtalk_crd::{Options, analyse};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Histogram, Profile, Trace};

const NAMES: [&str; 3] = ["_ZN6solver4stepERNS_5StateE", "exchange", "main"];

/// `regions` regions in nests of five, `cells` pairs of threads in each, one trace for every tenth cell.
fn contents(threads: u32, regions: u32, cells: u32) -> Contents {
    let nest: Vec<(&str, Option<u32>)> =
        (0..regions).map(|i| (NAMES[(i / 5 % 3) as usize], (i % 5 > 0).then(|| i - 1))).collect();
    let mut events = Vec::new();
    let mut traces = Vec::new();
    for region in 1..=regions {
        for cell in 0..cells {
            // Strides that meet every pair once before they meet one again.
            let pair = (u64::from(cell) * 7919 + u64::from(region)) % (u64::from(threads) * u64::from(threads - 1));
            let writer = (pair / u64::from(threads - 1)) as u32;
            let other = (pair % u64::from(threads - 1)) as u32;
            let reader = other + u32::from(other >= writer);
            let (raw, rar) = (u64::from(cell % 7 + 1), u64::from(cell % 11));
            let writer_site = (region + cell % 3) % regions + 1;
            events.push(Event { writer_site, ..profiles::event(region, writer, reader, raw, rar) });
            if cell % 10 == 0 {
                let distances = || Histogram::of((0..20).map(|i| u64::from(cell + i) * 5));
                let (distinct, index) = (distances(), distances());
                traces.push(Trace { writer, reader, region, exact_usages: 20, distinct, index, ..Trace::default() });
            }
        }
    }
    Contents { modules: vec![profiles::module(&nest)], events, traces, ..Contents::default() }
}

fn options() -> Options {
    let cache = |level, bytes, shared_by| Cache { level, bytes, shared_by };
    Options { caches: vec![cache(1, 32 << 10, 1), cache(2, 1 << 20, 2), cache(3, 32 << 20, 32)], ..Options::default() }
}

fn check(threads: u32, regions: u32, cells: u32) {
    let contents = contents(threads, regions, cells);
    let raw: u64 = contents.events.iter().map(|e| e.raw).sum();
    let rar: u64 = contents.events.iter().map(|e| e.rar).sum();
    let per_region = raw / u64::from(regions);
    let report = profiles::report(&contents, &options());
    assert_eq!((report.program_total.total_raw(), report.program_total.total_rar()), (raw, rar));
    assert_eq!(report.regions.len() as u32, regions + 1);
    for region in &report.regions[1..] {
        let counts = profiles::counts(region);
        assert_eq!(counts.raw.sum(), per_region);
        // Regions lie in nests of five: region 1 holds 2, which holds 3...
        assert_eq!(counts.total_raw.sum(), per_region * u64::from(5 - (region.id - 1) % 5));
        assert_eq!(counts.raw.entries().len() as u32, cells);
        assert_eq!(counts.lines.iter().map(|l| l.raw).sum::<u64>(), per_region);
    }
}

#[test]
fn a_million_cells() {
    check(64, 1000, 1000);
}

#[test]
fn two_hundred_and_fifty_six_threads() {
    check(256, 20, 20_000);
}

#[test]
fn ten_thousand_threads() {
    check(10_000, 50, 2000);
}

/// CPU time of this thread: other work on the machine does not count.
fn cpu_time() -> Duration {
    let fields = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(fields.split_whitespace().next().unwrap().parse().unwrap())
}

/// ```text
/// cargo test --release -p threadtalk-crd --test synthetic -- --ignored --nocapture
/// ```
#[test]
#[ignore = "prints CPU times"]
fn times() {
    for (threads, regions, cells) in [(64, 1000, 1000), (256, 20, 20_000), (10_000, 50, 2000)] {
        let bytes = contents(threads, regions, cells).encode();
        let begin = cpu_time();
        let profile = Profile::from_bytes(&bytes).unwrap();
        let opened = cpu_time() - begin;
        let report = analyse(&profile, &options());
        let analysed = cpu_time() - begin - opened;
        let json = serde_json::to_vec(&report).unwrap();
        let written = cpu_time() - begin - opened - analysed;
        println!(
            "{threads} threads, {regions} regions, {} cells: {} MiB opened in {opened:.0?}, analysed in {analysed:.0?}, \
             {} MiB of JSON in {written:.0?}",
            regions * cells,
            bytes.len() >> 20,
            json.len() >> 20
        );
    }
}
