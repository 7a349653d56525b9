//! `threadtalk map` on profiles: what it computes, prints and refuses.

mod support;
#[path = "support/synthetic.rs"]
mod synthetic;

use serde_json::Value;
use std::process::Output;
use support::schema::assert_follows;
use support::{Scratch, assert_error, err, out};
use threadtalk_profile::Event;
use threadtalk_profile::write::Contents;

/// Four threads of which 0 and 3, and 1 and 2, communicate much.
fn crossed() -> Contents {
    let event = |writer, reader, raw| Event {
        writer,
        reader,
        writer_site: 2,
        reader_site: 3,
        region: 3,
        raw,
        rar: 10 * raw,
        ..Event::default()
    };
    let mut contents = synthetic::contents(4, 0);
    contents.events = vec![event(0, 3, 100), event(3, 0, 50), event(1, 2, 200), event(0, 1, 1)];
    contents.traces.clear();
    contents
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("crossed.ttp"), crossed().encode()).unwrap();
    std::fs::write(scratch.path("solver.ttp"), synthetic::profile(4)).unwrap();
    scratch.file("two.topo", "package 2 distance=9\ncore 2 distance=2\ncpus 0,2,1,3\n");
    scratch.file("one.topo", "core 1\n");
    scratch
}

fn run(scratch: &Scratch, args: &[&str]) -> Output {
    scratch.tool().arg("map").args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = run(&scratch(), &[&["--format", "json"], args].concat());
    assert!(output.status.success(), "{}", err(&output));
    serde_json::from_str(&out(&output)).unwrap()
}

#[test]
fn json_follows_its_schema() {
    let documents = [
        json(&["crossed.ttp", "--topology", "two.topo"]),
        json(&["solver.ttp", "--topology", "one.topo"]),
        json(&["solver.ttp", "--hide-serial"]),
    ];
    let changes = [
        ("/schema", Value::from("threadtalk.map/2")),
        ("/levels/0/kind", Value::from("socket")),
        ("/threads/0/cpu", Value::from(-1)),
        ("/cost/mapped", Value::from("little")),
        ("/events/0/between", Value::from(7)),
        ("/bind/0", Value::from(9000)),
        ("/launch/taskset", Value::Null),
    ];
    assert_follows(threadtalk::placement::SCHEMA, &documents, &changes);
}

#[test]
fn those_that_communicate_come_together() {
    let mapping = json(&["crossed.ttp", "--topology", "two.topo"]);
    let bind: Vec<u64> = mapping["bind"].as_array().unwrap().iter().map(|cpu| cpu.as_u64().unwrap()).collect();
    // Packages are {0, 2} and {1, 3}: even and odd.
    assert_eq!((bind[0] % 2, bind[1] % 2), (bind[3] % 2, bind[2] % 2), "{bind:?}");
    assert_ne!(bind[0] % 2, bind[1] % 2);
    // 1650 events between 0 and 3, 2200 between 1 and 2, 11 between 0 and 1.
    assert_eq!(mapping["cost"]["mapped"], 2 * (1650 + 2200) + 9 * 11);
    assert_eq!(mapping["cost"]["in_order"], 9 * (1650 + 2200) + 2 * 11);
    let events = &mapping["events"];
    let row =
        |at: usize| (events[at]["between"].as_str(), events[at]["mapped"].as_u64(), events[at]["in_order"].as_u64());
    assert_eq!(row(0), (None, Some(0), Some(0)));
    assert_eq!(row(1), (Some("core"), Some(3850), Some(11)));
    assert_eq!(row(2), (Some("package"), Some(11), Some(3850)));
    let places: Vec<String> = bind.iter().map(|cpu| format!("{{{cpu}}}")).collect();
    assert_eq!(mapping["launch"]["omp_places"], places.join(","));
    assert_eq!(mapping["launch"]["taskset"], "0-3");
}

#[test]
fn the_text_says_what_it_saves_and_how_to_start() {
    let scratch = scratch();
    let output = run(&scratch, &["crossed.ttp", "--topology", "two.topo", "-o", "plan.json"]);
    let text = out(&output);
    for words in [
        "program   solver  (4 threads, crossed.ttp)",
        "machine   two.topo: 2 packages (distance 9), 4 cores (distance 2)",
        "Cost (events x distance): 77.5 % less against threads in order",
        "events between packages     3.85k",
        "OMP_PLACES='{",
        "OMP_PROC_BIND=close PROG",
        "GOMP_CPU_AFFINITY='",
        "threadtalk run --bind plan.json -- PROG",
        "taskset -c 0-3 PROG",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(scratch.path("plan.json")).unwrap()).unwrap();
    assert_eq!(plan["schema"], "threadtalk.map/1");
    let crowded = out(&run(&scratch, &["crossed.ttp", "--topology", "one.topo"]));
    for words in
        ["more threads than processors (1)", "the same against threads in order", "threadtalk run --bind 0,0,0,0"]
    {
        assert!(crowded.contains(words), "{words}: {crowded}");
    }
    // This machine, whatever it is.
    let here = run(&scratch, &["solver.ttp"]);
    assert!(here.status.success() && out(&here).contains("machine   this machine: "), "{}", err(&here));
}

#[test]
fn without_communication_it_says_so() {
    let scratch = scratch();
    let mut silent = crossed();
    silent.events.clear();
    std::fs::write(scratch.path("silent.ttp"), silent.encode()).unwrap();
    let text = out(&run(&scratch, &["silent.ttp", "--topology", "two.topo"]));
    assert!(text.contains("no thread reads what another wrote: where they run does not matter"), "{text}");
}

#[test]
fn mistakes_are_named() {
    let scratch = scratch();
    let fails = |args: &[&str], status, words: &[&str]| assert_error(&run(&scratch, args), status, words);
    fails(&["missing.ttp"], 1, &["missing.ttp cannot be read: No such file"]);
    fails(&["crossed.ttp", "-t", "none.topo"], 1, &["cannot read the topology: none.topo; there is no such file"]);
    scratch.file("bad.topo", "core 2\nsocket 4\n");
    fails(
        &["crossed.ttp", "-t", "bad.topo"],
        1,
        &["cannot use the topology: bad.topo: line 2: `socket` is no level: write package"],
    );
    fails(&["crossed.ttp", "-o", "two.topo"], 1, &["cannot write the plan: two.topo; it exists already"]);
    fails(
        &["crossed.ttp", "-o", "none/plan.json"],
        1,
        &["cannot write the plan: none/plan.json; there is no such file"],
    );
    fails(&["crossed.ttp", "-f", "svg"], 2, &["invalid value 'svg'", "choose one of: text json"]);
    let forced = run(&scratch, &["crossed.ttp", "-t", "one.topo", "-o", "two.topo", "--force"]);
    assert!(forced.status.success(), "{}", err(&forced));
}
