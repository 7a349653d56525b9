//! What holds for every profile.

mod profiles;

use profiles::{counts, event, module, report};
use proptest::prelude::*;
use threadtalk_crd::machine::Cache;
use threadtalk_crd::model::{Crd, Report};
use threadtalk_crd::{Options, sequence};
use threadtalk_profile::buckets::{bucket, lower_bound};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Histogram, PrivateBytes, Trace};

const REGIONS: u32 = 5;
const THREADS: u32 = 6;

fn nest() -> Vec<(&'static str, Option<u32>)> {
    vec![("a", None), ("a", Some(0)), ("a", Some(1)), ("b", None), ("b", Some(3))]
}

prop_compose! {
    fn an_event()(
        region in 0..=REGIONS, writer in 0..THREADS, step in 1..THREADS, raw in 0..50u64, rar in 0..50u64, flags in 0..4u32,
    ) -> Event {
        Event { flags, ..event(region, writer, (writer + step) % THREADS, raw, rar) }
    }
}

prop_compose! {
    fn a_trace()(
        region in 1..=REGIONS, writer in 0..THREADS, step in 1..THREADS, usages in prop::collection::vec(0..40u32, 0..200),
        intervals in prop::collection::vec((0..500u16, 1..1000u64), 0..20), abandoned in 0..5u64,
    ) -> Trace {
        let exact_usages = usages.len() as u64;
        let found = sequence::distances(usages);
        Trace {
            writer,
            reader: (writer + step) % THREADS,
            region,
            exact_usages,
            samples: intervals.len() as u64,
            abandoned,
            distinct: Histogram::of(found.distinct),
            index: Histogram::of(found.index),
            sampled: Histogram::of_buckets(intervals),
            ..Trace::default()
        }
    }
}

prop_compose! {
    fn a_profile()(
        events in prop::collection::vec(an_event(), 0..80),
        traces in prop::collection::vec(a_trace(), 0..8),
        private in prop::collection::vec((1..=REGIONS, 0..THREADS, 0..40_000u64), 0..8),
    ) -> Contents {
        let private = private.into_iter().map(|(region, writer, bytes)| PrivateBytes { region, writer, bytes });
        Contents {
            modules: vec![module(&nest())], events, traces, private_bytes: private.collect(), ..Contents::default()
        }
    }
}

fn options() -> Options {
    let cache = |level, bytes, shared_by| Cache { level, bytes, shared_by };
    Options { caches: vec![cache(1, 64, 1), cache(2, 32 << 10, 2)], ..Options::default() }
}

/// All reuse distances of a report.
fn distances(report: &Report) -> Vec<&Crd> {
    let counts = report.regions.iter().chain([&report.program_total]).filter_map(|r| r.counts.as_ref());
    counts.flat_map(|c| [Some(&c.own), c.total.as_ref()]).flatten().filter_map(|m| m.crd.as_ref()).collect()
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #[test]
    fn totals_are_the_sum_of_own_events_and_children(contents in a_profile()) {
        let report = report(&contents, &options());
        for region in &report.regions {
            let own = region.counts.as_ref().map_or(0, |c| c.raw.sum());
            let inside = report.regions.iter().filter(|r| r.parent == Some(region.id)).map(|r| r.total_raw()).sum::<u64>();
            prop_assert_eq!(region.total_raw(), own + inside);
        }
        let events: u64 = contents.events.iter().map(|e| e.raw + e.rar).sum();
        prop_assert_eq!(report.program_total.total_raw() + report.program_total.total_rar(), events);
    }

    #[test]
    fn matrices_have_an_empty_diagonal_and_lines_the_same_sum(contents in a_profile()) {
        let report = report(&contents, &options());
        for c in report.regions.iter().filter_map(|r| r.counts.as_ref()) {
            for matrix in [&c.raw, &c.rar, &c.total_raw, &c.total_rar, &c.sync_raw, &c.serial_rar] {
                prop_assert!(matrix.entries().iter().all(|e| e.writer != e.reader && e.value > 0));
            }
            let lines = c.lines.iter().fold((0, 0), |(raw, rar), l| (raw + l.raw, rar + l.rar));
            prop_assert_eq!(lines, (c.raw.sum(), c.rar.sum()));
            prop_assert!(c.own.homogeneity >= 0.0 && c.own.balance >= -1e-9);
        }
    }

    #[test]
    fn hidden_serial_events_are_what_is_missing(contents in a_profile()) {
        let with = report(&contents, &options());
        let without = report(&contents, &Options { hide_serial: true, ..options() });
        let serial = with.program_total.counts.as_ref().map_or(0, |c| c.serial_raw.sum());
        prop_assert_eq!(without.program_total.total_raw() + serial, with.program_total.total_raw());
    }

    /// Other names of the threads permute rows and columns and nothing else.
    #[test]
    fn renamed_threads_change_no_metric(
        contents in a_profile(),
        names in Just((0..THREADS).map(|t| t * 3 + 1).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let name = |thread: u32| names[thread as usize];
        let mut renamed = contents.clone();
        renamed.events.iter_mut().for_each(|e| (e.writer, e.reader) = (name(e.writer), name(e.reader)));
        renamed.traces.iter_mut().for_each(|t| (t.writer, t.reader) = (name(t.writer), name(t.reader)));
        renamed.private_bytes.iter_mut().for_each(|p| p.writer = name(p.writer));
        let (before, after) = (report(&contents, &options()), report(&renamed, &options()));
        for (a, b) in before.regions.iter().zip(&after.regions) {
            let Some((a_counts, b_counts)) = a.counts.as_ref().zip(b.counts.as_ref()) else {
                prop_assert_eq!(a.counts.is_some(), b.counts.is_some());
                continue;
            };
            let (a_own, b_own) = (&a_counts.own, &b_counts.own);
            prop_assert!(is_close(a_own.homogeneity, b_own.homogeneity));
            prop_assert!(is_close(a_own.homogeneity_variants.off_diagonal, b_own.homogeneity_variants.off_diagonal));
            prop_assert!(is_close(a_own.balance, b_own.balance));
            prop_assert!(is_close(a_own.balance_by_reader, b_own.balance_by_reader));
            prop_assert_eq!(a_own.threads_counted, b_own.threads_counted);
            for (i, writer) in a.threads.iter().enumerate() {
                for (j, reader) in a.threads.iter().enumerate() {
                    let row = b.threads.binary_search(&name(*writer)).unwrap();
                    let column = b.threads.binary_search(&name(*reader)).unwrap();
                    prop_assert_eq!(a_counts.raw.get(i, j), b_counts.raw.get(row, column));
                    prop_assert_eq!(a_own.crr.get(i, j), b_own.crr.get(row, column));
                }
            }
        }
    }

    /// k times the reuse: k times each ratio, k squared the variance, the same balance.
    #[test]
    fn more_reuse_scales_the_metrics(contents in a_profile(), k in 2..10u64) {
        let mut scaled = contents.clone();
        scaled.events.iter_mut().for_each(|e| e.rar *= k);
        let (before, after) = (report(&contents, &options()), report(&scaled, &options()));
        for (a, b) in before.regions.iter().zip(&after.regions).filter(|(a, _)| a.counts.is_some()) {
            let (a, b, k) = (&counts(a).own, &counts(b).own, k as f64);
            prop_assert!(is_close(a.homogeneity * k * k, b.homogeneity));
            prop_assert!(is_close(a.homogeneity_variants.scaled, b.homogeneity_variants.scaled));
            prop_assert!(is_close(a.balance, b.balance));
        }
    }

    #[test]
    fn shares_add_up_and_quantiles_rise(contents in a_profile()) {
        let report = report(&contents, &options());
        for crd in distances(&report) {
            for d in [&crd.distinct, &crd.index] {
                prop_assert!(d.median <= d.p90 && d.p90 <= d.p99);
                prop_assert!(is_close(d.buckets.iter().map(|b| b.count).sum(), d.count));
                prop_assert!(d.buckets.is_sorted_by(|a, b| a.hi <= b.lo));
                prop_assert_eq!(d.median.is_some(), d.count > 0.0);
            }
            prop_assert!(is_close(crd.distinct.count, crd.index.count));
            // Fewer distinct elements than positions lie between two usages. Both medians are interpolated, each
            // with its own mean inside a bucket, so they compare by buckets.
            if let (Some(distinct), Some(index)) = (crd.distinct.median, crd.index.median) {
                let end = lower_bound(bucket(index as u64) + 1);
                prop_assert!(distinct < end as f64, "{distinct} elements, {index} positions");
            }
            prop_assert!((0.0..=1.0).contains(&crd.rate));
            for c in &crd.cutoffs {
                let sum = c.no_miss + c.probable_miss + c.definite_miss;
                prop_assert!(is_close(sum, if crd.distinct.count > 0.0 { 1.0 } else { 0.0 }), "{c:?}");
                prop_assert!(c.min_bytes <= c.max_bytes);
            }
            // A larger level has no more certain misses.
            prop_assert!(crd.cutoffs.windows(2).all(|c| c[1].definite_miss <= c[0].definite_miss + 1e-12));
        }
    }

    #[test]
    fn the_same_profile_gives_the_same_bytes_in_any_order(contents in a_profile()) {
        let json = |contents: &Contents| serde_json::to_string(&report(contents, &options())).unwrap();
        let mut turned = contents.clone();
        turned.events.reverse();
        turned.private_bytes.reverse();
        prop_assert_eq!(json(&contents), json(&turned));
    }

    /// Distinct and index distances by their definitions, pair of usages by pair of usages.
    #[test]
    fn sequences_by_definition(usages in prop::collection::vec(0..12u32, 0..120)) {
        let mut expected = sequence::SequenceDistances::default();
        for (now, element) in usages.iter().enumerate() {
            if let Some(previous) = usages[..now].iter().rposition(|e| e == element) {
                let mut between = usages[previous + 1..now].to_vec();
                between.sort_unstable();
                between.dedup();
                expected.distinct.push(between.len() as u64);
                expected.index.push((now - previous) as u64);
            }
        }
        prop_assert_eq!(sequence::distances(usages), expected);
    }
}
