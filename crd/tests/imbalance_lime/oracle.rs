//! Random small sections whose clusters, order of entry and scores were computed by slow, exact code in another
//! language (`oracle.json`): clustering on the whole matrix of r, regression by QR for each candidate, the F
//! distribution by a continued fraction; raw level of 0.05, no pairs, until the fit is perfect.
//!
//! None has two events that are opposites of each other: of those the other code takes the first, this one the side
//! that takes the time.

use serde_json::Value;
use threadtalk_crd::imbalance::lime::{Edge, HardwareEvent, Kind, Options, PERFECT, Section, Significance, analyse};

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn section(case: &Value) -> Section {
    let edge = |e: &Value| {
        let at = |i: usize| e[i].as_u64().unwrap() as u32;
        Edge { from: at(0), to: at(1), back: at(2) == 1, counts: numbers(&e[3]) }
    };
    let event = |h: &Value| HardwareEvent {
        id: h[0].as_u64().unwrap() as u32,
        counts: numbers(&h[1]),
        superiors: h[2].as_array().unwrap().iter().map(numbers).collect(),
    };
    Section {
        dependent: numbers(&case["T"]),
        edges: case["edges"].as_array().unwrap().iter().map(edge).collect(),
        hardware: case["hw"].as_array().unwrap().iter().map(event).collect(),
    }
}

#[test]
fn clusters_entries_and_scores_are_those_of_the_slow_code() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("oracle.json")).unwrap();
    let options = Options {
        significance: Significance::Raw(0.05),
        min_imbalance: 0.0,
        unexplained: PERFECT,
        ..Options::default()
    };
    let (mut entered, mut reported, mut hardware) = (0, 0, 0);
    for (number, case) in cases.iter().enumerate() {
        let found = analyse(&section(case), &options);
        let mut clusters: Vec<Vec<usize>> = case["clusters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| numbers(c).into_iter().map(|x| x as usize).collect())
            .collect();
        let wanted_cluster = |index: usize| clusters[index].clone();
        let entries = case["entered"].as_array().unwrap();
        assert_eq!(found.entered.len(), entries.len(), "case {number}: {found:?}");
        for (own, wanted) in found.entered.iter().zip(entries) {
            let index = wanted[0].as_u64().unwrap() as usize;
            assert_eq!(found.clusters[own.cluster], wanted_cluster(index), "case {number}");
            match (own.f, wanted[1].as_f64()) {
                (Some(f), Some(w)) => assert!((f - w).abs() < 1e-6 * w, "case {number}: {f} {w}"),
                (f, w) => assert_eq!(f, w, "case {number}"),
            }
            let p = wanted[2].as_f64().unwrap();
            assert!((own.p - p).abs() <= 1e-9 + 1e-6 * p, "case {number}: {} {p}", own.p);
            entered += 1;
        }
        clusters.sort_unstable();
        assert_eq!(found.clusters, clusters, "case {number}");
        let mut wanted: Vec<(Kind, u64, f64)> = case["report"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| {
                let kind = if r[1] == "cf" { Kind::ControlFlow } else { Kind::Hardware };
                (kind, r[2].as_u64().unwrap(), r[0].as_f64().unwrap())
            })
            .collect();
        let mut own: Vec<(Kind, u64, f64)> =
            found.causes.iter().map(|c| (c.kind, u64::from(c.location), c.score)).collect();
        wanted.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        own.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        assert_eq!(own.len(), wanted.len(), "case {number}: {own:?} {wanted:?}");
        for (own, wanted) in own.iter().zip(&wanted) {
            // Written with four digits.
            assert!(
                (own.0, own.1) == (wanted.0, wanted.1) && (own.2 - wanted.2).abs() < 1e-4,
                "case {number}: {own:?}"
            );
            reported += 1;
            hardware += usize::from(own.0 == Kind::Hardware);
        }
    }
    assert!(cases.len() == 60 && entered > 60 && reported > 60 && hardware > 10, "{entered} {reported} {hardware}");
}
