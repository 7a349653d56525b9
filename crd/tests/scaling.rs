//! Growth laws against planted ones, crossings against a slow search, and whole reports.

mod profiles;

use profiles::{event, module, report};
use proptest::prelude::*;
use threadtalk_crd::Options;
use threadtalk_crd::machine::Cache;
use threadtalk_crd::model::Report;
use threadtalk_crd::scaling::{Bound, Crossing, Method, Point, Seen, crossing, fit, scale};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Histogram, Trace};

const SIZES: [f64; 6] = [16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

fn points(law: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    SIZES.iter().map(|n| (*n, law(*n))).collect()
}

/// Name, law, power of n, power of its logarithm.
type Planted = (&'static str, fn(f64) -> f64, f64, f64);

#[test]
fn planted_laws_are_found() {
    let planted: [Planted; 9] = [
        ("linear", |n| 7.0 * n, 1.0, 0.0),
        ("boundary rows", |n| 12.0 * (n - 2.0), 1.0, 0.0),
        ("area", |n| 0.5 * n * n + 100.0, 2.0, 0.0),
        ("volume", |n| n.powi(3) / 8.0, 3.0, 0.0),
        ("root", |n| 90.0 * n.sqrt(), 0.5, 0.0),
        ("n log n", |n| 3.0 * n * n.log2(), 1.0, 1.0),
        ("log", |n| 5.0 + 11.0 * n.log2(), 0.0, 1.0),
        ("n^1.5", |n| n.powf(1.5), 1.5, 0.0),
        ("strong scaling", |n| 1e6 / n, -1.0, 0.0),
    ];
    for (name, law, exponent, log_exponent) in planted {
        let found = fit(&points(law)).unwrap();
        assert_eq!(
            (found.exponent, found.log_exponent, found.method),
            (exponent, log_exponent, Method::Fitted),
            "{name}"
        );
        assert!(found.error.unwrap() < 1e-6, "{name}: {found:?}");
        assert!((found.at(1000.0) / law(1000.0) - 1.0).abs() < 1e-6, "{name}: {found:?}");
    }
}

#[test]
fn laws_survive_noise() {
    // Three per cent up and down.
    let noisy = |law: fn(f64) -> f64| {
        let shake = [1.03, 0.97, 1.0, 0.97, 1.03, 1.0];
        let points: Vec<(f64, f64)> = SIZES.iter().zip(shake).map(|(n, s)| (*n, law(*n) * s)).collect();
        fit(&points).unwrap()
    };
    let area = noisy(|n| n * n);
    assert!((1.7..2.3).contains(&area.exponent) && area.error.unwrap() < 0.1, "{area:?}");
    let flat = noisy(|_| 1000.0);
    assert!(flat.exponent.abs() <= 2.0 && (flat.at(256.0) / 1000.0 - 1.0).abs() < 0.1, "{flat:?}");
}

#[test]
fn what_does_not_change_and_what_is_too_little() {
    let flat = fit(&points(|n| 1000.0 + n / 16.0)).unwrap();
    assert_eq!((flat.method, flat.exponent, flat.factor), (Method::Constant, 0.0, 0.0));
    assert!((flat.constant - 1010.5).abs() < 1e-9, "{flat:?}");
    assert_eq!(fit(&points(|_| 0.0)).map(|law| (law.method, law.constant)), Some((Method::Constant, 0.0)));
    let two = fit(&[(10.0, 3.0), (1000.0, 300.0)]).unwrap();
    assert_eq!((two.method, two.error), (Method::TwoPoints, None));
    assert!((two.exponent - 1.0).abs() < 1e-12 && (two.at(100.0) - 30.0).abs() < 1e-9, "{two:?}");
    assert_eq!(fit(&[(10.0, 0.0), (100.0, 5.0)]), None);
    assert_eq!(fit(&[(10.0, 5.0)]), None);
    assert_eq!(fit(&[(10.0, 5.0), (11.0, 5000.0)]), None);
}

/// Distances of `d` elements at each size, in a cache of `cache` bytes of which `private` are taken.
fn series(law: fn(f64) -> f64, cache: f64, private: fn(f64) -> f64) -> Vec<Point> {
    SIZES.iter().map(|n| Point { n: *n, distance: law(*n), cutoff: (cache - private(*n)).max(0.0) }).collect()
}

#[test]
fn crossings_are_where_the_curves_meet() {
    let near = |found: (Seen, Option<f64>), seen: Seen, at: f64| {
        assert_eq!(found.0, seen);
        assert!((found.1.unwrap() / at - 1.0).abs() < 1e-3, "{found:?} instead of {at}");
    };
    let linear: fn(f64) -> f64 = |n| 100.0 * n;
    near(crossing(&series(linear, 10_000.0, |_| 0.0), 10_000.0), Seen::Measured, 100.0);
    near(crossing(&series(linear, 1e6, |_| 0.0), 1e6), Seen::Predicted, 10_000.0);
    // What the threads have for themselves grows, too: 100 n = 1e6 - 100 n.
    near(crossing(&series(linear, 1e6, |n| 100.0 * n), 1e6), Seen::Predicted, 5_000.0);
    assert_eq!(crossing(&series(linear, 1600.0, |_| 0.0), 1600.0), (Seen::Always, None));
    assert_eq!(crossing(&series(|_| 100.0, 1e6, |_| 0.0), 1e6), (Seen::Never, None));
    // Too slow to matter.
    assert_eq!(crossing(&series(|n| n.log2(), 1e6, |_| 0.0), 1e6), (Seen::Never, None));
}

/// A loop whose boundary communicates: n elements, each used again after n others.
fn profile(n: u64, threads: u32) -> Report {
    let trace = Trace {
        writer: 0,
        reader: 1,
        region: 2,
        exact_usages: 64,
        distinct: Histogram::of([n; 64]),
        index: Histogram::of([n + 1; 64]),
        ..Trace::default()
    };
    let mut events = vec![event(2, 0, 1, 2 * n, n * n), event(1, 0, 1, 50, 0)];
    events.extend((2..threads).map(|reader| event(1, 0, reader, 1, 0)));
    let contents = Contents {
        modules: vec![module(&[("solve", None), ("solve", Some(0)), ("quiet", None)])],
        events,
        traces: vec![trace],
        ..Contents::default()
    };
    let caches =
        vec![Cache { level: 1, bytes: 32 << 10, shared_by: 1 }, Cache { level: 2, bytes: 1 << 20, shared_by: 1 }];
    report(&contents, &Options { caches, ..Options::default() })
}

#[test]
fn regions_of_several_reports_grow() {
    // In any order.
    let sizes = [4096.0, 1024.0, 2048.0, 512.0, 256.0];
    let reports: Vec<Report> = sizes.iter().map(|n| profile(*n as u64, 2)).collect();
    let scaling = scale(&reports, &sizes, "input size").unwrap();
    assert_eq!(scaling.sizes, [256.0, 512.0, 1024.0, 2048.0, 4096.0]);
    let names: Vec<(&str, &str)> = scaling.regions.iter().map(|r| (r.name.as_str(), r.kind)).collect();
    assert_eq!(names, [("solve", "loop"), ("solve", "function")]);
    let update = &scaling.regions[0];
    let exponent = |law: &Option<threadtalk_crd::scaling::Law>| law.unwrap().exponent;
    assert_eq!(update.raw.values, [512.0, 1024.0, 2048.0, 4096.0, 8192.0].map(Some));
    assert_eq!((exponent(&update.raw.law), exponent(&update.rar.law)), (1.0, 2.0));
    assert!((exponent(&update.crd_median.law) - 1.0).abs() < 0.3, "{:?}", update.crd_median);
    // 4 bytes x n: L1 of 32 KiB at 8192, up to the width of a bucket; L2 32 times later.
    let certain = |level: u8| *update.crossings.iter().find(|c| c.level == level && c.cutoff == Bound::Max).unwrap();
    for (level, at) in [(1, 8192.0), (2, 262_144.0)] {
        let Crossing { seen, at: found, .. } = certain(level);
        assert_eq!(seen, Seen::Predicted);
        assert!((found.unwrap() / at).ln().abs() < 0.2, "L{level}: {found:?}");
    }
    let constant = &scaling.regions[1].raw;
    assert_eq!(constant.law.unwrap().method, Method::Constant);
    // Everything together: 2 n + 50.
    assert_eq!((exponent(&scaling.total.raw.law), scaling.total.raw.values[0]), (1.0, Some(562.0)));
}

#[test]
fn sizes_that_show_no_growth_are_refused() {
    let reports = [profile(10, 2), profile(20, 3), profile(30, 4)];
    let message = |reports: &[Report], sizes: &[f64]| {
        let error = scale(reports, sizes, "threads").unwrap_err();
        format!("{error}; {}", error.advice())
    };
    assert_eq!(message(&reports[..1], &[1.0]), "one profile shows no growth; name two or more, of different sizes");
    assert_eq!(message(&reports, &[1.0, 2.0]), "2 sizes for 3 profiles; state one for each");
    assert_eq!(message(&reports, &[1.0, 0.5, 2.0]), "size 0.5 is none; sizes are numbers from 1 on");
    assert_eq!(message(&reports, &[1.0, f64::NAN, 2.0]), "size NaN is none; sizes are numbers from 1 on");
    assert_eq!(
        message(&reports, &[4.0, 2.0, 4.0]),
        "two profiles have the size 4; keep one of them, or state what differs with --sizes"
    );
    let notes = scale(&reports[..2], &[1.0, 2.0], "threads").unwrap().notes;
    assert!(notes[0].starts_with("two profiles give an exponent and no measure"), "{notes:?}");
}

#[test]
fn points_that_do_not_tell_each_other_follow_no_law() {
    let points = |values: &[f64]| -> Vec<(f64, f64)> { (1..).zip(values).map(|(n, v)| (f64::from(n), *v)).collect() };
    assert_eq!(fit(&points(&[7.0, 900.0, 3.0, 500.0])), None);
    // Off by a tenth is a law still.
    let law = fit(&points(&[1.1, 3.6, 9.9, 14.4, 27.5])).unwrap();
    assert!((law.exponent - 2.0).abs() < 0.5 && law.error.unwrap() < 0.1, "{law:?}");
}

proptest! {
    /// Counting in thousands, or in bytes instead of elements, is no other law.
    #[test]
    fn units_do_not_matter(
        noise in prop::collection::vec(0.8f64..1.2, 3..8),
        (first, exponent) in (1f64..1e6, 0f64..3.0),
        power in -8i32..20,
    ) {
        let factor = 2f64.powi(power);
        let points: Vec<(f64, f64)> = (1..).zip(&noise).map(|(i, e)| (f64::from(8 * i), first * f64::from(i).powf(exponent) * e)).collect();
        let scaled: Vec<(f64, f64)> = points.iter().map(|(n, v)| (*n, v * factor)).collect();
        let (one, other) = match (fit(&points), fit(&scaled)) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => {
                prop_assert_eq!(one, other, "a law in one unit only");
                return Ok(());
            }
        };
        prop_assert_eq!((one.method, one.exponent, one.log_exponent), (other.method, other.exponent, other.log_exponent));
        let (a, b) = (one.at(50.0) * factor, other.at(50.0));
        prop_assert!((a - b).abs() <= 1e-9 * (a.abs() + b.abs()), "{} {}", a, b);
    }

    /// The power of any two points goes through both.
    #[test]
    fn two_points_are_met(n in 1f64..1000.0, ratio in 1.01f64..100.0, a in 1f64..1e9, b in 1f64..1e9) {
        let Some(law) = fit(&[(n, a), (n * ratio, b)]) else {
            prop_assert!((b / a).ln().abs() > 15.9 * ratio.ln());
            return Ok(());
        };
        if law.method == Method::TwoPoints {
            prop_assert!((law.at(n) / a - 1.0).abs() < 1e-6);
            prop_assert!((law.at(n * ratio) / b - 1.0).abs() < 1e-6);
        } else {
            prop_assert!((a - b).abs() <= 0.05 * a.max(b));
        }
    }

    /// A crossing that was measured lies between the two sizes that it separates.
    #[test]
    fn measured_crossings_are_between_their_sizes(
        distances in prop::collection::vec(0u32..100_000, 2..7),
        cutoff in 1u32..100_000,
    ) {
        let points: Vec<Point> = (1..)
            .zip(&distances)
            .map(|(i, d)| Point { n: f64::from(i * i), distance: f64::from(*d), cutoff: f64::from(cutoff) })
            .collect();
        let first = distances.iter().position(|d| *d >= cutoff);
        let (seen, at) = crossing(&points, f64::from(cutoff));
        match first {
            Some(0) => prop_assert_eq!((seen, at), (Seen::Always, None)),
            Some(i) => {
                prop_assert_eq!(seen, Seen::Measured);
                prop_assert!((points[i - 1].n..=points[i].n * 1.000_001).contains(&at.unwrap()));
            }
            None => {
                prop_assert!(matches!(seen, Seen::Predicted | Seen::Never));
                prop_assert!(at.is_none_or(|at| at >= points[points.len() - 1].n));
            }
        }
    }
}
