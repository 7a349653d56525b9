//! Parallel block vectors on the matrix multiplication of the paper's Figure 1 (1000 x 1000, 4 threads and the first).

use std::collections::BTreeMap;
use threadtalk_crd::imbalance::pbv::{
    Category, Class, Classified, Contents, anomaly, average_degree, blocks_covering, class, curve, mix,
};

const K: u64 = 1_000;
const M: u64 = 1_000_000;

/// The rows as printed, but for 14.6K where `worker:6` and `worker:4` have 146K at two threads: only so do the loops
/// nest a thousand to one in every column.
const FIGURE_1: [(&str, [u64; 5]); 18] = [
    ("main:9", [0, 0, 0, 0, 1]),
    ("worker:7", [0, 14, 14, 16, 956]),
    ("worker:6", [606, 14_600, 12 * K, 16 * K, 955 * K]),
    ("worker:5", [607 * K, 14_600_000, 12_800_000, 16_100_000, 955 * M]),
    ("worker:4", [607, 14_600, 12 * K, 16 * K, 955 * K]),
    ("worker:3", [1, 14, 14, 16, 955]),
    ("worker:2", [0, 1, 1, 1, 1]),
    ("worker:8", [0, 1, 1, 1, 1]),
    ("worker:1", [1, 1, 1, 1, 0]),
    ("worker:0", [1, 1, 1, 1, 0]),
    ("main:7", [3, 0, 0, 1, 0]),
    ("main:6", [M, 0, 0, 0, 0]),
    ("main:5", [K, 0, 0, 0, 0]),
    ("main:4", [K, 0, 0, 0, 0]),
    ("main:3", [1, 0, 0, 0, 0]),
    ("main:2", [1, 0, 0, 0, 0]),
    ("main:1", [1, 0, 0, 0, 0]),
    ("main:0", [1, 0, 0, 0, 0]),
];

fn row(name: &str) -> &'static [u64; 5] {
    &FIGURE_1.iter().find(|r| r.0 == name).unwrap().1
}

#[test]
fn classes_and_degrees_of_figure_1() {
    let names = |wanted| -> Vec<&str> { FIGURE_1.iter().filter(|r| class(&r.1) == wanted).map(|r| r.0).collect() };
    assert_eq!(names(Class::Serial), ["main:6", "main:5", "main:4", "main:3", "main:2", "main:1", "main:0"]);
    assert_eq!(names(Class::Parallel), ["main:9", "worker:7", "worker:2", "worker:8"]);
    assert_eq!(names(Class::Mixed).len(), 7);
    assert_eq!(FIGURE_1.iter().filter(|r| r.1[0] > 0).count(), 14, "the blocks of the serial phases");
    for (name, degree) in [("main:9", 5.0), ("worker:2", 3.5), ("worker:1", 2.5), ("main:7", 1.75), ("main:6", 1.0)] {
        assert_eq!(average_degree(row(name)), Some(degree), "{name}");
    }
    assert!((average_degree(row("worker:7")).unwrap() - 4.914).abs() < 5e-4);
    assert!((average_degree(row("worker:5")).unwrap() - 4.912).abs() < 5e-4);
}

#[test]
fn loops_of_figure_1_nest() {
    assert_eq!(row("worker:3").iter().sum::<u64>(), 1000);
    assert_eq!(row("worker:7").iter().sum::<u64>(), 1000);
    for (inner, outer) in row("worker:5").iter().zip(row("worker:4")) {
        let ratio = *inner as f64 / *outer as f64;
        assert!((ratio - 1000.0).abs() < 70.0, "12.8M is printed over a rounded 12K: {ratio}");
    }
    let total = row("worker:4").iter().sum::<u64>() as f64;
    assert!((total / 1e6 - 1.0).abs() < 0.002, "{total}");
}

#[test]
fn never_run() {
    assert_eq!(
        Classified::new(vec![0, 0]),
        Classified { class: Class::Never, counts: vec![0, 0], average_degree: None }
    );
    assert_eq!(class(&[]), Class::Never);
}

#[test]
fn serial_hot_spots_of_figure_1() {
    let totals: Vec<u64> = FIGURE_1.iter().filter(|r| class(&r.1) == Class::Serial).map(|r| r.1.iter().sum()).collect();
    assert_eq!(blocks_covering(&totals, 0.75), Some(1.0 / 7.0));
    let curve = curve(&totals);
    assert_eq!(curve.len(), 7);
    assert!(curve.windows(2).all(|w| w[0].executions <= w[1].executions && w[0].blocks < w[1].blocks));
    assert_eq!((curve[6].blocks, curve[6].executions), (1.0, 1.0));
    assert_eq!(blocks_covering(&[0, 0], 0.75), None);
}

#[test]
fn mix_by_class() {
    let contents = |pairs: &[(Category, u32)], loads, stores| Contents {
        instructions: pairs.iter().copied().collect(),
        loads,
        stores,
    };
    let serial = contents(&[(Category::Integer, 3), (Category::Conditional, 1)], 0, 0);
    let parallel = contents(&[(Category::Memory, 3), (Category::FloatingPoint, 2)], 2, 1);
    let never = contents(&[(Category::Synchronisation, 9)], 9, 9);
    let mix = mix([(&[10u64, 0][..], &serial), (&[0, 4][..], &parallel), (&[0, 0][..], &never)]);
    let share = |class, category| mix.classes[&class].shares[&category];
    assert_eq!(share(Class::Serial, Category::Integer), 0.75);
    assert_eq!(share(Class::Parallel, Category::Memory), 0.6);
    assert_eq!((mix.classes[&Class::Parallel].loads, mix.classes[&Class::Parallel].stores), (8, 4));
    assert_eq!(mix.classes[&Class::Never].shares, BTreeMap::new());
    assert_eq!((mix.all.instructions, mix.all.executions, mix.all.blocks), (60, 14, 3));
    assert_eq!(mix.all.shares[&Category::Integer], 0.5);
    let json = serde_json::to_value(&mix).unwrap();
    assert_eq!(json["classes"]["parallel"]["shares"]["floating-point"], 0.4);
    let json = serde_json::to_value(mix.shares()).unwrap();
    assert_eq!((&json["parallel"]["memory"], &json["serial"]["conditional"]), (&0.6.into(), &0.25.into()));
}

#[test]
fn anomalies() {
    let sides = |counts: &[u64]| anomaly(counts).map(|a| (a.serial, a.parallel));
    assert_eq!(sides(&[99, 1]), Some((99, 1)));
    assert_eq!(sides(&[1, 50, 49]), Some((1, 99)));
    assert_eq!(sides(&[98, 2]), None);
    assert_eq!(sides(&[100, 0]), None);
    assert_eq!(sides(&[0, 100]), None);
    assert_eq!(sides(&[]), None);
}
