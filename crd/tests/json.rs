//! The serialised form: names and nesting that scripts rely on.

mod profiles;

use profiles::{event, module, report};
use serde_json::{Value, json};
use threadtalk_abi::module::site_flags;
use threadtalk_crd::Options;
use threadtalk_crd::machine::Cache;
use threadtalk_profile::layout::{Accuracy, CrdMode, SignatureMode};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Header, Histogram, State, Thread, Trace};

fn example() -> Value {
    let mut module = module(&[("bmod", None), ("bmod", Some(0))]);
    module.sites[0].flags = site_flags::CREATION;
    let worker = Thread { id: 1, creator: Some(0), creation_site: 1, name: "worker".into(), ..Thread::default() };
    let contents = Contents {
        header: Header {
            pid: 77,
            state: State::Exec,
            signature_mode: SignatureMode::Hashed,
            crd_mode: CrdMode::Auto,
            start_unix_ns: 1_500_000_000,
            accuracy: Accuracy { signature_budget: 1 << 28, signature_mapped: 1 << 26, ..Accuracy::default() },
            ..Header::default()
        },
        meta: vec![("executable".into(), "/opt/lu".into()), ("arguments".into(), "./lu\u{1f}-p 2".into())],
        modules: vec![module],
        threads: vec![Thread { name: "main".into(), ..Thread::default() }, worker],
        events: vec![event(2, 0, 1, 4, 6), event(2, 1, 0, 0, 3)],
        traces: vec![Trace {
            writer: 0,
            reader: 1,
            region: 2,
            exact_usages: 10,
            distinct: Histogram::of([0, 0, 3]),
            index: Histogram::of([1, 1, 4]),
            ..Trace::default()
        }],
        ..Contents::default()
    };
    let caches = vec![Cache { level: 3, bytes: 1 << 20, shared_by: 4 }];
    serde_json::to_value(report(&contents, &Options { caches, ..Options::default() })).unwrap()
}

#[test]
fn the_whole() {
    let found = example();
    assert_eq!(found["schema"], "threadtalk.report/1");
    assert_eq!((&found["program"]["name"], &found["program"]["pid"]), (&json!("lu"), &json!(77)));
    assert_eq!(found["program"]["meta"]["arguments"], "./lu '-p 2'");
    assert_eq!(found["ended"], "exec");
    assert_eq!(
        found["options"],
        json!({"granule": 4, "signature_bytes": 1 << 28, "mode": "hashed", "crd": "auto", "hide_serial": false})
    );
    assert_eq!(found["accuracy"]["estimated_false_rate"], 0.0);
    assert_eq!((&found["accuracy"]["occupied"], &found["accuracy"]["dropped"]), (&json!(0.25), &json!(0)));
    assert_eq!(found["caches"], json!([{"level": 3, "bytes": 1 << 20, "shared_by": 4}]));
    let worker = &found["threads"][1];
    assert_eq!((&worker["id"], &worker["name"], &worker["created_by"]), (&json!(1), &json!("worker"), &json!(0)));
    assert_eq!(worker["created_at"], json!({"file": "a.c", "line": 11}));
    assert_eq!(found["threads"][0]["created_by"], Value::Null);
}

#[test]
fn a_region() {
    let found = example();
    let region = &found["regions"][2];
    for (name, expected) in [
        ("id", json!(2)),
        ("kind", json!("loop")),
        ("name", json!("bmod")),
        ("file", json!("a.c")),
        ("line", json!(20)),
        ("end_line", json!(29)),
        ("parent", json!(1)),
        ("threads", json!([0, 1])),
        ("raw", json!([[0, 4], [0, 0]])),
        ("rar", json!([[0, 6], [3, 0]])),
        ("total_raw", json!([[0, 4], [0, 0]])),
        ("total_rar", json!([[0, 6], [3, 0]])),
        ("sync_raw", json!([[0, 0], [0, 0]])),
        ("sync_rar", json!([[0, 0], [0, 0]])),
        ("crr", json!([[0.0, 1.5], [3.0, 0.0]])),
        ("carried_in", json!([[1, 0]])),
        ("threads_counted", json!(2)),
        ("suggestions", json!([])),
        (
            "lines",
            json!([{"writer": {"file": "a.c", "line": 21}, "reader": {"file": "a.c", "line": 21}, "raw": 4, "rar": 9}]),
        ),
    ] {
        assert_eq!(region[name], expected, "{name}");
    }
    // Rows (0, 1.5) and (3, 0): variances 0.5625 and 2.25; sums 1.5 and 3.
    assert_eq!(region["homogeneity"], (0.5625 + 2.25) / 2.0);
    assert!((region["balance"].as_f64().unwrap() - 100.0 / 3.0).abs() < 1e-9);
    assert!(region.get("serial_raw").is_none(), "left out where there is none");
}

#[test]
fn reuse_distances() {
    let found = example();
    let crd = &found["regions"][2]["crd"];
    assert_eq!((&crd["kind"], &crd["index"]["kind"]), (&json!("distinct"), &json!("index")));
    assert_eq!((&crd["count"], &crd["median"], &crd["p99_bytes"]), (&json!(3.0), &json!(0.0), &json!(12.0)));
    assert_eq!(crd["buckets"], json!([{"lo": 0, "hi": 1, "count": 2.0}, {"lo": 3, "hi": 4, "count": 1.0}]));
    assert_eq!((&crd["method"], &crd["rate"]), (&json!("exact"), &json!(10.0 / 13.0)));
    let cutoff = &crd["cutoffs"][0];
    assert_eq!(
        (&cutoff["level"], &cutoff["min_bytes"], &cutoff["max_bytes"]),
        (&json!(3), &json!(1 << 20), &json!(1 << 20))
    );
    assert_eq!(cutoff["no_miss"], 1.0);
}

#[test]
fn regions_without_events_have_no_matrices_and_the_total_has_all() {
    let found = example();
    assert_eq!(found["regions"][0]["kind"], "program");
    assert_eq!(found["regions"][0]["parent"], Value::Null);
    assert_eq!(found["program_total"]["raw"], json!([[0, 4], [0, 0]]));
    assert_eq!(found["program_total"]["homogeneity"], found["regions"][2]["homogeneity"]);
    let empty = serde_json::to_value(report(&Contents::default(), &Options::default())).unwrap();
    let program = empty["regions"][0].as_object().unwrap();
    assert!(["raw", "crr", "homogeneity", "crd", "lines"].iter().all(|name| !program.contains_key(*name)));
    assert_eq!(program["threads"], json!([]));
}
