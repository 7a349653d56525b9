//! The worked traces of the specification: for each, its matrices and the sequence of usages of each pair of threads go
//! in, and every other number must come out. Fractions are written as such.

mod profiles;

use serde_json::Value;
use std::collections::BTreeMap;
use threadtalk_crd::Options;
use threadtalk_crd::model::{Distances, Measures, Method};
use threadtalk_crd::sequence;
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Header, Histogram, Trace};

fn vectors() -> Vec<Value> {
    serde_json::from_str(include_str!("vectors.json")).unwrap()
}

fn fraction(text: &Value) -> f64 {
    let text = text.as_str().unwrap();
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn matrix(rows: &Value) -> Vec<Vec<u64>> {
    rows.as_array().unwrap().iter().map(numbers).collect()
}

fn id(value: &Value) -> u32 {
    value.as_u64().unwrap() as u32
}

/// A profile with one region that has the vector's events and traces.
fn contents(vector: &Value) -> Contents {
    let threads = numbers(&vector["threads"]);
    let (raw, rar) = (matrix(&vector["raw"]), matrix(&vector["rar"]));
    let pairs = (0..threads.len()).flat_map(|w| (0..threads.len()).map(move |r| (w, r)));
    let trace = |pair: &Value| {
        let usages = pair["usages"].as_array().unwrap();
        let found = sequence::distances(usages.iter().map(|u| u.as_str().unwrap()));
        let sorted = |mut list: Vec<u64>| {
            list.sort_unstable();
            list
        };
        assert_eq!(sorted(found.distinct.clone()), numbers(&pair["distinct"]));
        assert_eq!(sorted(found.index.clone()), numbers(&pair["index"]));
        Trace {
            writer: id(&pair["writer"]),
            reader: id(&pair["reader"]),
            region: 1,
            exact_usages: usages.len() as u64,
            distinct: Histogram::of(found.distinct),
            index: Histogram::of(found.index),
            ..Trace::default()
        }
    };
    Contents {
        header: Header { granule: id(&vector["granule"]), ..Header::default() },
        modules: vec![profiles::module(&[("f", None)])],
        events: pairs
            .filter(|(w, r)| raw[*w][*r] + rar[*w][*r] > 0)
            .map(|(w, r)| profiles::event(1, threads[w] as u32, threads[r] as u32, raw[w][r], rar[w][r]))
            .collect(),
        traces: vector["pairs"].as_array().unwrap().iter().map(trace).collect(),
        ..Contents::default()
    }
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found}, expected {expected}");
}

fn check_measures(measures: &Measures, vector: &Value) {
    for (row, expected) in measures.crr.matrix().dense().iter().zip(vector["crr"].as_array().unwrap()) {
        let expected: Vec<f64> = expected.as_array().unwrap().iter().map(fraction).collect();
        assert_eq!(row, &expected);
    }
    let carried: Vec<[u32; 2]> =
        vector["carried_in"].as_array().unwrap().iter().map(|p| [id(&p[0]), id(&p[1])]).collect();
    assert_eq!(measures.carried_in, carried);
    assert_eq!(measures.threads_counted, numbers(&vector["threads"]).len());
    let variants = measures.homogeneity_variants;
    for (found, name) in [
        (measures.homogeneity, "homogeneity"),
        (variants.sample, "sample"),
        (variants.off_diagonal, "off_diagonal"),
        (variants.scaled, "scaled"),
        (variants.by_reader, "by_reader"),
        (measures.balance, "balance"),
        (measures.balance_by_reader, "balance_by_reader"),
    ] {
        close(found, fraction(&vector[name]));
    }
}

/// All these distances are below 16, where each has a bucket of its own.
fn check_distances(distances: &Distances, vector: &Value, name: &str) {
    let mut expected: BTreeMap<u64, f64> = BTreeMap::new();
    for distance in vector["pairs"].as_array().unwrap().iter().flat_map(|pair| numbers(&pair[name])) {
        *expected.entry(distance).or_default() += 1.0;
    }
    let found: BTreeMap<u64, f64> = distances.buckets.iter().map(|b| (b.lo, b.count)).collect();
    assert_eq!(found, expected);
    assert_eq!(distances.count, expected.values().sum::<f64>());
    // The median of few whole numbers is one of them: the first that half of them do not exceed.
    let mut below = 0.0;
    let median = expected.iter().find(|(_, count)| {
        below += **count;
        below >= distances.count / 2.0
    });
    assert_eq!(distances.median, median.map(|(distance, _)| *distance as f64));
}

#[test]
fn every_number_of_every_worked_trace() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 20, "19 traces, one of them with two regions");
    for vector in &vectors {
        println!("{}", vector["name"]);
        let report = profiles::report(&contents(vector), &Options::default());
        let region = profiles::named(&report, "f");
        assert_eq!(region.threads.iter().map(|t| u64::from(*t)).collect::<Vec<_>>(), numbers(&vector["threads"]));
        let counts = profiles::counts(region);
        assert_eq!(counts.raw.dense(), matrix(&vector["raw"]));
        assert_eq!(counts.rar.dense(), matrix(&vector["rar"]));
        let total = profiles::counts(&report.program_total);
        for measures in [&counts.own, &total.own] {
            check_measures(measures, vector);
            let crd = measures.crd.as_ref().unwrap();
            assert_eq!((crd.method, crd.rate), (Method::Exact, 1.0));
            check_distances(&crd.distinct, vector, "distinct");
            check_distances(&crd.index, vector, "index");
        }
    }
}
