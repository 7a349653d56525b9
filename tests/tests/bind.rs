//! `threadtalk map` and `threadtalk run --bind`: every thread is where the plan says, with pthreads and with OpenMP.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use threadtalk_tests::execute::{Finished, Run};
use threadtalk_tests::scene::Scene;

/// Processors that this process, and so a program that it starts, may use.
fn allowed() -> Vec<u64> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u64>().unwrap()..=last.parse().unwrap()
    };
    list.split(',').flat_map(range).collect()
}

/// What the program printed: the number of processors before there were threads, and those of each thread.
fn masks(done: &Finished) -> (usize, Vec<BTreeMap<u64, Vec<u64>>>) {
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    let text = done.stdout_text();
    let mut before = 0;
    let mut rounds: Vec<BTreeMap<u64, Vec<u64>>> = Vec::new();
    for line in text.lines() {
        let (who, cpus) = line.split_once(": ").unwrap();
        match who.parse::<u64>() {
            Err(_) => before = cpus.parse().unwrap(),
            Ok(thread) => {
                if thread == 0 {
                    rounds.push(BTreeMap::new());
                }
                let cpus = cpus.split(' ').map(|cpu| cpu.parse().unwrap()).collect();
                rounds.last_mut().unwrap().insert(thread, cpus);
            }
        }
    }
    (before, rounds)
}

#[track_caller]
fn follows(scene: &Scene, bind: &str, plan: &[u64], rounds: usize) {
    let mut command = scene.command(scene.tool().program("threadtalk"));
    command.args(["run", "-q", "--bind", bind, "-o", "%p.ttp", "--", "./program"]);
    // What a user may have set for OpenMP must not fight with the plan.
    let places: Vec<String> = allowed().iter().map(|cpu| format!("{{{cpu}}}")).collect();
    command.env("OMP_PLACES", places.join(",")).env("OMP_PROC_BIND", "spread");
    let done = Run::new(command).finish().unwrap();
    let (before, found) = masks(&done);
    // A program asks how many processors it has to decide how many threads to make.
    assert_eq!(before, allowed().len());
    assert_eq!(found.len(), rounds, "{}", done.stdout_text());
    for round in found {
        let expected = (0u64..).zip(plan).map(|(thread, cpu)| (thread, vec![*cpu])).collect();
        assert_eq!(round, expected, "{bind}");
    }
    assert_eq!(done.stderr_text(), "");
}

fn on_plan_list_and_profile(flags: &[&str], rounds: usize) {
    let scene = Scene::with("affinity.c", flags);
    // Without a plan nothing changes.
    let (before, free) = masks(&scene.profile("p.ttp"));
    assert_eq!((before, free.len()), (allowed().len(), rounds));
    assert!(free.iter().flatten().all(|(_, cpus)| *cpus == allowed()), "{free:?}");

    let mapped = scene.threadtalk(&["map", "p.ttp", "-o", "plan.json"]);
    assert_eq!(mapped.ending(), "exit 0", "{}", mapped.stderr_text());
    let plan: Value = serde_json::from_str(&fs::read_to_string(scene.path("plan.json")).unwrap()).unwrap();
    let bind: Vec<u64> = plan["bind"].as_array().unwrap().iter().map(|cpu| cpu.as_u64().unwrap()).collect();
    assert_eq!(bind.len(), 6);
    follows(&scene, "plan.json", &bind, rounds);
    follows(&scene, "p.ttp", &bind, rounds);

    // Backwards, and shorter than the threads are many: it begins again.
    let last_first: Vec<u64> = allowed().into_iter().rev().take(4).collect();
    let list: Vec<String> = last_first.iter().map(u64::to_string).collect();
    let turns: Vec<u64> = last_first.iter().copied().cycle().take(6).collect();
    follows(&scene, &list.join(","), &turns, rounds);
}

#[test]
fn pthreads_run_where_the_plan_says() {
    on_plan_list_and_profile(&["-pthread"], 1);
}

#[test]
fn openmp_threads_run_where_the_plan_says() {
    on_plan_list_and_profile(&["-fopenmp"], 2);
}

#[test]
fn a_processor_that_is_none_is_told_and_does_no_harm() {
    let scene = Scene::with("affinity.c", &["-pthread"]);
    let refused = scene.threadtalk(&["run", "--bind", "0,8191", "--", "./program"]);
    assert_eq!((refused.ending().as_str(), refused.stdout_text().as_str()), ("exit 125", ""));
    let text = refused.stderr_text();
    assert!(text.starts_with("threadtalk: processor 8191 (of thread 1) is none that this process may use"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    // Past the check, as a program alone would get it.
    let mut command = scene.command("program");
    let options = format!("quiet=1:bind={},8191", allowed()[0]);
    command.env("THREADTALK_OPTIONS", options).env("THREADTALK_OUT", scene.path("p.ttp"));
    let done = Run::new(command).finish().unwrap();
    let (_, rounds) = masks(&done);
    assert_eq!((&rounds[0][&0], &rounds[0][&2]), (&vec![allowed()[0]], &vec![allowed()[0]]));
    let text = done.stderr_text();
    assert!(text.contains("cannot bind thread ") && text.contains(" to processor 8191"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
