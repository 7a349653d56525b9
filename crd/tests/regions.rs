//! Regions: what belongs to which, and what is added up.

mod profiles;

use profiles::{counts, event, module, named, report};
use threadtalk_abi::module::{ModuleBases, RegionKind, site_flags};
use threadtalk_crd::machine::Cache;
use threadtalk_crd::model::{Cutoff, Report};
use threadtalk_crd::{Options, RegionFilter};
use threadtalk_profile::layout::{Accuracy, event_flags};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Histogram, Module, PrivateBytes, Region, Site, Thread, Trace, UserRegion, Visit};

/// `main` calls nothing; `outer` holds a loop that holds a loop.
fn nest() -> Contents {
    Contents {
        modules: vec![module(&[
            ("main", None),
            ("outer", None),
            ("outer", Some(1)),
            ("outer", Some(2)),
            ("idle", None),
        ])],
        events: vec![event(2, 0, 1, 10, 1), event(3, 0, 1, 20, 2), event(4, 1, 2, 40, 4), event(4, 0, 1, 80, 8)],
        ..Contents::default()
    }
}

fn lines(report: &Report) -> Vec<(Option<u32>, u64)> {
    report.program_total.counts.iter().flat_map(|c| &c.lines).map(|l| (l.reader.line, l.raw)).collect()
}

#[test]
fn totals_are_own_events_and_those_inside() {
    let report = report(&nest(), &Options::default());
    assert_eq!(report.regions.len(), 6);
    let sums: Vec<_> = report
        .regions
        .iter()
        .map(|r| (r.parent, r.counts.as_ref().map(|c| (c.raw.sum(), c.total_raw.sum(), c.total_rar.sum()))))
        .collect();
    assert_eq!(
        sums,
        [
            (None, Some((0, 150, 15))),
            (Some(0), None),
            (Some(0), Some((10, 150, 15))),
            (Some(2), Some((20, 140, 14))),
            (Some(3), Some((120, 120, 12))),
            (Some(0), None),
        ]
    );
    let outer = &report.regions[2];
    assert_eq!(outer.threads, [0, 1, 2]);
    assert_eq!(counts(outer).raw.dense(), [[0, 10, 0], [0, 0, 0], [0, 0, 0]]);
    assert_eq!(counts(outer).total_raw.dense(), [[0, 110, 0], [0, 0, 40], [0, 0, 0]]);
    // T of the region's own events does not count thread 2, which only its loops know.
    assert_eq!((counts(outer).own.threads_counted, counts(outer).total().threads_counted), (2, 3));
    assert_eq!(counts(outer).total().crr.get(0, 1), 11.0 / 110.0);
    assert!(counts(&report.regions[4]).total.is_none(), "nothing is inside the innermost loop");
}

#[test]
fn the_program_in_total_has_everything_as_its_own() {
    let report = report(&nest(), &Options::default());
    let total = counts(&report.program_total);
    assert_eq!((total.raw.sum(), total.rar.sum()), (150, 15));
    assert_eq!(total.raw, total.total_raw);
    assert_eq!(total.raw, counts(&report.regions[0]).total_raw);
    assert_eq!(lines(&report), [(Some(41), 120), (Some(31), 20), (Some(21), 10)]);
}

#[test]
fn events_of_unknown_regions_are_the_programs() {
    let mut contents = nest();
    contents.events.push(event(99, 3, 4, 7, 0));
    let report = report(&contents, &Options::default());
    assert_eq!(counts(&report.regions[0]).raw.sum(), 7);
    assert_eq!(report.program_total.threads, [0, 1, 2, 3, 4]);
    assert_eq!(report.threads.iter().map(|t| t.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn threads_that_only_enter_or_write_count_too() {
    let mut contents = nest();
    contents.visits = vec![
        Visit { thread: 7, region: 2, count: 3 },
        Visit { thread: 7, region: 2, count: 4 },
        Visit { thread: 1, region: 2, count: 1 },
        Visit { thread: 8, region: 1, count: 1 },
    ];
    contents.private_bytes = vec![PrivateBytes { region: 4, writer: 9, bytes: 100 }];
    let entered = report(&contents, &Options::default());
    let outer = &entered.regions[2];
    assert_eq!((outer.threads.clone(), outer.visits), (vec![0, 1, 2, 7, 9], 8));
    assert_eq!(outer.visits_by_thread, [0, 1, 0, 7, 0]);
    assert_eq!(counts(outer).own.threads_counted, 3);
    assert_eq!((counts(outer).own.private_bytes, counts(outer).total().private_bytes), (0, 100));
    // A region without events is listed with its threads and without matrices.
    assert_eq!((entered.regions[1].threads.clone(), entered.regions[1].counts.is_none()), (vec![8], true));

    // Where the only site creates threads, memory is not touched.
    contents.modules[0].sites[1].flags = site_flags::CREATION;
    assert_eq!(counts(&report(&contents, &Options::default()).regions[2]).own.threads_counted, 2);
}

fn one_region(base: u32, kind: RegionKind, name: &str, line: u32) -> Module {
    Module {
        bases: ModuleBases { site_base: base, site_salt: 0, write_site_base: base, region_base: base, counter_base: 0 },
        name: format!("{base}.cc").as_str().into(),
        regions: vec![Region { kind, name: name.into(), file: "a.h".into(), line, end_line: line + 5, parent: None }],
        sites: vec![Site { region: 0, file: "a.h".into(), line: line + 1, flags: 0 }],
        ..Module::default()
    }
}

#[test]
fn a_region_compiled_into_many_modules_is_one() {
    let function = RegionKind::Function;
    let contents = Contents {
        modules: vec![
            one_region(1, function, "_ZN5Point3addERKS_", 10),
            one_region(2, function, "_ZN5Point3addERKS_", 10),
            one_region(3, function, "_ZN5Point3addERKS_", 11),
            one_region(4, RegionKind::Loop, "_ZN5Point3addERKS_", 10),
        ],
        events: vec![event(1, 0, 1, 1, 0), event(2, 0, 1, 2, 0), event(3, 0, 1, 4, 0), event(4, 0, 1, 8, 0)],
        ..Contents::default()
    };
    let report = report(&contents, &Options::default());
    let sums: Vec<_> = report.regions[1..].iter().map(|r| (r.id, r.kind, counts(r).raw.sum())).collect();
    assert_eq!(sums, [(1, function, 3), (2, function, 4), (3, RegionKind::Loop, 8)]);
    assert_eq!(report.regions[1].name, "Point::add(Point const&)");
    assert_eq!(report.regions[1].symbol.as_deref(), Some("_ZN5Point3addERKS_"));
    // Both modules have the same line: one pair of positions.
    assert_eq!(lines(&report), [(Some(11), 11), (Some(12), 4)]);
}

#[test]
fn a_loop_in_a_loop_on_one_line_stays_inside_it() {
    let nested =
        |parent| Region { kind: RegionKind::Loop, name: "f".into(), file: "a.c".into(), line: 5, end_line: 5, parent };
    let mut m = module(&[("f", None)]);
    // Inner first; and a third one that the compiler split off the outer.
    m.regions.extend([nested(Some(2)), nested(Some(0)), nested(Some(0))]);
    let contents = Contents {
        modules: vec![m],
        events: vec![event(2, 0, 1, 1, 0), event(3, 0, 1, 2, 0), event(4, 0, 1, 4, 0)],
        ..Contents::default()
    };
    let report = report(&contents, &Options::default());
    let found: Vec<_> = report.regions[1..].iter().map(|r| (r.parent, counts(r).raw.sum(), r.total_raw())).collect();
    assert_eq!(found, [(Some(0), 0, 7), (Some(1), 6, 7), (Some(2), 1, 1)]);
}

#[test]
fn user_regions_lie_across_the_source() {
    let mut contents = nest();
    let region = |id, parent, name: &str| UserRegion { id, parent, name: name.into() };
    let (phase, step) = (u32::MAX - 1, u32::MAX - 2);
    contents.user_regions = vec![region(phase, None, "phase"), region(step, Some(phase), "step")];
    contents.events[0].context = phase;
    contents.events[2].context = step;
    let report = report(&contents, &Options::default());
    let phase = named(&report, "phase");
    assert_eq!((phase.kind, phase.parent), (RegionKind::User, Some(0)));
    assert_eq!((counts(phase).raw.sum(), phase.total_raw()), (10, 50));
    assert_eq!(named(&report, "step").parent, Some(phase.id));
    // The source's regions have them, too, and the program has them once.
    assert_eq!(counts(&report.regions[2]).raw.sum(), 10);
    assert_eq!((report.program_total.total_raw(), report.regions[0].total_raw()), (150, 150));
    assert_eq!(lines(&report).iter().map(|(_, raw)| raw).sum::<u64>(), 150);
}

#[test]
fn serial_and_synchronising_events_can_be_told_apart() {
    let mut contents = nest();
    contents.events[0].flags = event_flags::SERIAL;
    contents.events[3].flags = event_flags::SYNC | event_flags::SERIAL;
    let with = report(&contents, &Options::default());
    let total = counts(&with.program_total);
    assert_eq!((total.raw.sum(), total.serial_raw.sum(), total.serial_rar.sum()), (150, 90, 9));
    assert_eq!((total.sync_raw.sum(), total.sync_rar.sum()), (80, 8));
    assert_eq!(counts(&with.regions[2]).total_serial_raw.sum(), 90);

    let without = report(&contents, &Options { hide_serial: true, ..Options::default() });
    let total = counts(&without.program_total);
    assert_eq!((total.raw.sum(), total.rar.sum(), total.serial_raw.sum(), total.sync_raw.sum()), (60, 6, 0, 0));
    assert!(without.options.hide_serial && !with.options.hide_serial);
}

#[test]
fn filters_choose_by_name_symbol_and_place() {
    let listed = |pattern: &str| {
        let options = Options { region: Some(RegionFilter::new(pattern)), ..Options::default() };
        report(&nest(), &options).regions.iter().map(|r| r.id).collect::<Vec<_>>()
    };
    assert_eq!(listed("oute"), [2, 3, 4]);
    assert_eq!(listed("out*r"), [2, 3, 4]);
    assert_eq!(listed("out*e"), []);
    assert_eq!(listed("a.c:30"), [3]);
    assert_eq!(listed("main"), [1]);
}

/// Whether from an own trace or from one inside.
#[test]
fn distances_between_events_that_may_be_false_are_as_doubtful() {
    let rank_errors = |events_suspect: u64| {
        let mut contents = nest();
        let trace = Trace { writer: 0, reader: 1, region: 3, exact_usages: 2, ..Trace::default() };
        contents.traces = vec![Trace { distinct: Histogram::of([7]), index: Histogram::of([7]), ..trace }];
        contents.header.accuracy = Accuracy { events_checked: 1000, events_suspect, ..Accuracy::default() };
        let report = report(&contents, &Options::default());
        let inside = counts(&report.regions[3]).own.crd.as_ref().unwrap().rank_error;
        let around = counts(&report.regions[2]).total().crd.as_ref().unwrap().rank_error;
        let program = counts(&report.program_total).own.crd.as_ref().unwrap().rank_error;
        [inside, around, program]
    };
    assert_eq!(rank_errors(0), [0.0; 3]);
    assert_eq!(rank_errors(250), [0.25; 3]);
    assert_eq!(rank_errors(1000), [1.0; 3]);
}

#[test]
fn distances_of_regions_inside_are_added_and_measured_against_the_caches() {
    let mut contents = nest();
    let trace = |region, distances: &[u64]| Trace {
        writer: 0,
        reader: 1,
        region,
        exact_usages: distances.len() as u64 + 1,
        distinct: Histogram::of(distances.iter().copied()),
        index: Histogram::of(distances.iter().map(|d| d + 1)),
        ..Trace::default()
    };
    contents.traces = vec![trace(3, &[0, 20]), trace(4, &[1, 2, 3])];
    contents.private_bytes = vec![
        PrivateBytes { region: 4, writer: 0, bytes: 40 },
        PrivateBytes { region: 4, writer: 1, bytes: 56 },
        PrivateBytes { region: 3, writer: 1, bytes: 4 },
    ];
    let caches = vec![Cache { level: 1, bytes: 64, shared_by: 1 }, Cache { level: 2, bytes: 128, shared_by: 2 }];
    let report = report(&contents, &Options { caches: caches.clone(), ..Options::default() });
    assert_eq!(report.caches, caches);
    let outer = counts(&report.regions[2]);
    assert!(outer.own.crd.is_none(), "its own events have no trace");
    let crd = outer.total().crd.as_ref().unwrap();
    assert_eq!((crd.distinct.count, crd.distinct.median, crd.distinct.median_bytes), (5.0, Some(2.0), Some(8.0)));
    assert_eq!(crd.index.median, Some(3.0));
    let tenths = |share: f64| (share * 10.0).round() as u32;
    let shares = |c: &Cutoff| [c.no_miss, c.probable_miss, c.definite_miss].map(tenths);
    let verdicts: Vec<_> = crd.cutoffs.iter().map(|c| (c.min_bytes, shares(c))).collect();
    // 60 bytes of thread 1 alone, and 100 of both, are not there for what is shared.
    assert_eq!(verdicts, [(4, [2, 6, 2]), (28, [8, 2, 0])]);
}

#[test]
fn threads_are_described_with_where_they_come_from() {
    let mut contents = nest();
    contents.threads = vec![
        Thread { id: 0, name: "main".into(), ..Thread::default() },
        Thread {
            id: 1,
            creator: Some(0),
            creation_site: 1,
            ended: true,
            end_ns: Some(2_000_000_000),
            ..Thread::default()
        },
    ];
    let report = report(&contents, &Options::default());
    assert_eq!((report.threads[0].name.as_str(), report.threads[0].created_by), ("main", None));
    let created_at = report.threads[1].created_at.as_ref().unwrap();
    assert_eq!((created_at.file.as_deref(), created_at.line), (Some("a.c"), Some(11)));
    assert_eq!((report.threads[1].created_by, report.threads[1].end_s), (Some(0), Some(2.0)));
    // No record of thread 2, but it has events.
    assert_eq!((report.threads[2].id, report.threads[2].created_at.is_none()), (2, true));
}

#[test]
fn counters_that_cannot_be_stop_at_the_largest_number() {
    let mut contents = nest();
    contents.events = vec![event(2, 0, 1, u64::MAX, u64::MAX); 2];
    contents.visits = vec![Visit { thread: 1, region: 2, count: u64::MAX }; 2];
    contents.private_bytes = vec![PrivateBytes { region: 2, writer: 1, bytes: u64::MAX }; 2];
    let distances = Histogram::of_buckets([(767, u64::MAX), (0, u64::MAX)]);
    contents.traces = vec![
        Trace {
            writer: u32::MAX - 1,
            reader: 7,
            region: 2,
            samples: u64::MAX,
            abandoned: u64::MAX,
            exact_usages: u64::MAX,
            sampled: distances.clone(),
            distinct: distances,
            ..Trace::default()
        };
        2
    ];
    let caches = vec![Cache { level: 1, bytes: u64::MAX, shared_by: u32::MAX }];
    let report = report(&contents, &Options { caches, ..Options::default() });
    assert_eq!(report.program_total.total_raw(), u64::MAX);
    assert_eq!(report.regions[2].visits, u64::MAX);
}

#[test]
fn an_empty_profile_is_a_report_of_nothing() {
    let report = report(&Contents::default(), &Options::default());
    assert_eq!((report.regions.len(), report.threads.len()), (1, 0));
    assert!(report.program_total.counts.is_none());
    let unknown_writer = Event { writer_site: 0, ..event(1, 0, 1, 5, 0) };
    let contents = Contents { events: vec![unknown_writer], ..nest() };
    let found = profiles::report(&contents, &Options::default());
    let line = &counts(&found.program_total).lines[0];
    assert_eq!((line.writer.file.as_ref(), line.writer.line, line.reader.line), (None, None, Some(11)));
}
