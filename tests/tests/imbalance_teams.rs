//! `threadtalk imbalance` on teams of threads of each kind, far more of them than processors: the planted line is the
//! only cause, and where work that threads ask for hides what is unequal, or nothing is, there is none.

use serde_json::Value;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::distribution::programs;
use threadtalk_tests::execute::{Finished, Run};
use threadtalk_tests::planted::{important, marked};
use threadtalk_tests::scene::Scene;

/// Sizes of teams; CI has two processors.
const TEAMS: [usize; 2] = [8, 64];

fn scene(program: &str, flags: &[&str]) -> Scene {
    let scene = Scene::new();
    let flags = [&["--threadtalk=control"], flags].concat();
    scene.compile(Compiler::Instrumented, &format!("../imbalance/{program}"), "program", &flags);
    scene
}

fn run(scene: &Scene, arguments: &[&str], threads: usize) -> Value {
    // A profile is never overwritten.
    let _ = std::fs::remove_file(scene.path("p.ttp"));
    let mut command = scene.command("program");
    command.args(arguments).env("THREADTALK_OUT", scene.path("p.ttp")).env("OMP_NUM_THREADS", threads.to_string());
    command.env("OMP_MAX_ACTIVE_LEVELS", "2");
    ends_well(&Run::new(command).finish().unwrap());
    let done = scene.threadtalk(&["imbalance", "p.ttp", "--format", "json"]);
    ends_well(&done);
    serde_json::from_str(&done.stdout_text()).unwrap()
}

fn ends_well(done: &Finished) {
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
}

/// The section with most to save, of teams of that size.
fn worst(all: &Value, threads: usize) -> &Value {
    assert_eq!(all["dependent"], "work", "the report says what was compared");
    let sections = all["sections"].as_array().unwrap();
    sections.iter().find(|s| s["threads"] == threads).unwrap_or_else(|| panic!("{threads}: {all:#}"))
}

/// All sections are of OpenMP, and each has only the planted line as a cause, if one.
fn has_only(all: &Value, threads: usize, program: &str, mode: &str) {
    let lines = marked(program, mode);
    let what = format!("{program} {mode}, {threads} threads");
    assert!(!lines.is_empty(), "{what}");
    let section = worst(all, threads);
    let found = important(section);
    assert!(section["imbalance_percent"].as_f64().unwrap() > 20.0, "{what}: {section:#}");
    assert_eq!(found.len(), 1, "{what}: {section:#}");
    assert!(lines.contains(&found[0].0) && found[0].1 > 0.4, "{what}: {found:?} {section:#}");
}

/// No section has a cause, and none has lost more than a few percent.
fn has_none(all: &Value, threads: usize, what: &str) {
    assert!(worst(all, threads)["imbalance_percent"].as_f64().unwrap() < 10.0, "{what}: {all:#}");
    for section in all["sections"].as_array().unwrap() {
        assert_eq!(important(section), [], "{what}, {threads} threads: {section:#}");
    }
}

/// The section begins in that function.
fn is_within(section: &Value, function: &str) -> bool {
    section["function"] == function
}

/// What several threads of a team did. On a machine with other work, the thread that makes tasks may have done all of
/// them before another one was given a processor: such a run says nothing of how work was handed out.
fn run_by_several(scene: &Scene, arguments: &[&str], threads: usize) -> Value {
    const MOST_RUNS: usize = 5;
    let is_shared = |all: &Value| {
        let mut cpu: Vec<f64> =
            worst(all, threads)["cpu"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        cpu.sort_by(f64::total_cmp);
        matches!(cpu[..], [.., second, most] if second > most / 10.0)
    };
    let mut runs = (0..MOST_RUNS).map(|_| run(scene, arguments, threads));
    let shared = runs.find(is_shared);
    shared.unwrap_or_else(|| panic!("{arguments:?}: one of {threads} threads did all, {MOST_RUNS} times"))
}

/// The first line of a program with this text.
fn line_of(program: &str, text: &str) -> Value {
    let source = std::fs::read_to_string(programs().join("imbalance").join(program)).unwrap();
    let line = (1..).zip(source.lines()).find(|(_, line)| line.contains(text));
    line.unwrap_or_else(|| panic!("{text} in {program}")).0.into()
}

#[test]
fn work_that_openmp_hands_out() {
    let scene = scene("handed_out.c", &["-fopenmp"]);
    for threads in TEAMS {
        for mode in ["static", "dynamic", "guided", "tasks", "taskloop"] {
            // Enough pieces for each thread that the longest is less than 1 % of what it has.
            let planted = format!("{mode}_if");
            let all = run_by_several(&scene, &[&planted, "200"], threads);
            has_only(&all, threads, "handed_out.c", &planted);
            if mode == "static" {
                assert_eq!(worst(&all, threads)["handed_out"], "nothing");
                continue;
            }
            assert_ne!(worst(&all, threads)["handed_out"], "nothing", "{mode}");
            has_none(&run_by_several(&scene, &[mode, "200"], threads), threads, mode);
        }
    }
}

#[test]
fn sections_single_and_nested_regions_of_openmp() {
    let scene = scene("handed_out.c", &["-fopenmp"]);
    for threads in TEAMS {
        for mode in ["sections", "single"] {
            has_only(&run(&scene, &[mode, "1"], threads), threads, "handed_out.c", mode);
        }
        let all = run(&scene, &["nested", "1"], threads);
        if threads == 8 {
            // Teams of four: both instances together are enough.
            assert_eq!(worst(&all, 4)["pooled"], true);
        }
        has_only(&all, threads / 2, "handed_out.c", "nested");
    }
}

#[test]
fn regions_that_gcc_compiled() {
    let scene = Scene::new();
    let source = programs().join("imbalance/gomp.c");
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-O2", "-g", "-fopenmp", "-c", "-o"]).arg(scene.path("gomp.o")).arg(source);
    ends_well(&Run::new(gcc).finish().unwrap());
    let object = scene.path("gomp.o");
    let flags = ["--threadtalk=control", "-fopenmp", object.to_str().unwrap()];
    scene.compile(Compiler::Instrumented, "../imbalance/gomp_piece.c", "program", &flags);
    for threads in TEAMS {
        for mode in ["static", "dynamic", "guided", "tasks"] {
            let planted = format!("{mode}_if");
            has_only(&run(&scene, &[&planted, "200"], threads), threads, "gomp_piece.c", &planted);
            has_none(&run(&scene, &[mode, "200"], threads), threads, mode);
        }
    }
}

#[test]
fn from_creation_to_join_without_the_thread_that_only_waits() {
    let scene = scene("join.cpp", &["-pthread"]);
    for threads in TEAMS {
        let all = run(&scene, &[&threads.to_string()], threads);
        assert_eq!(worst(&all, threads)["kind"], "join");
        has_only(&all, threads, "join.cpp", "join");
        has_none(&run(&scene, &[&threads.to_string(), "none"], threads), threads, "std::thread");
    }
}

#[test]
fn the_report_says_that_work_was_handed_out_and_what_was_compared() {
    let scene = scene("handed_out.c", &["-fopenmp"]);
    run(&scene, &["dynamic_if", "200"], 8);
    let done = scene.threadtalk(&["imbalance", "p.ttp"]);
    ends_well(&done);
    let text = done.stdout_text();
    for wanted in
        ["compared       executed instructions (work)", "compared as if each had a processor", "in the same threads: "]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn what_the_first_thread_does_alone_after_it_has_joined_the_others_is_of_no_section() {
    let scene = scene("tail.c", &["-pthread"]);
    for threads in TEAMS {
        let number = threads.to_string();
        for mode in ["even", "helper", "again"] {
            let all = run(&scene, &[mode, &number], threads);
            has_none(&all, threads, mode);
            let sections = all["sections"].as_array().unwrap();
            let last = sections.iter().find(|s| s["kind"] == "join" && s["threads"] == threads && is_within(s, "work"));
            let last = last.unwrap_or_else(|| panic!("{mode}: {all:#}"));
            assert_eq!(last["instances"], if mode == "again" { 2 } else { 1 }, "{mode}: {last:#}");
            assert_eq!(last["end_line"], line_of("tail.c", "pthread_join(ids[t]"), "{mode}: {last:#}");
        }
        let all = run(&scene, &["planted", &number], threads);
        has_only(&all, threads, "tail.c", "planted");
        let found: Vec<&Value> =
            all["sections"].as_array().unwrap().iter().filter(|s| !important(s).is_empty()).collect();
        assert_eq!(found.len(), 2, "the part after the last barrier, and all from creation to join: {all:#}");
        let section = found.iter().find(|s| s["encloses"] == false).unwrap_or_else(|| panic!("{all:#}"));
        assert_eq!((&section["kind"], is_within(section, "work")), (&"join".into(), true), "{section:#}");
        assert!(marked("tail.c", "planted").contains(&important(section)[0].0), "{section:#}");
        assert_eq!(section["line"], line_of("tail.c", "pthread_barrier_wait"), "{section:#}");
    }
}

/// Of work in a library that was not instrumented no instruction is counted: there the time tells.
#[test]
fn work_in_a_library_is_compared_by_time() {
    let scene = Scene::new();
    let object = scene.path("library.o");
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-O2", "-c", "-o"]).arg(&object).arg(programs().join("imbalance/library_piece.c"));
    ends_well(&Run::new(gcc).finish().unwrap());
    let flags = ["--threadtalk=control", "-pthread", "-g", object.to_str().unwrap()];
    scene.compile(Compiler::Instrumented, "../imbalance/library.c", "program", &flags);
    for mode in ["even", "planted"] {
        let all = run(&scene, &[mode], 8);
        let section = worst(&all, 8);
        assert_eq!(section["uninstrumented"], true, "{mode}: {section:#}");
        // By instructions the last thread has all there is. Times differ on a machine that others use, too.
        let percent = section["imbalance_percent"].as_f64().unwrap();
        assert_eq!(percent > 60.0, mode == "planted", "{mode}: {section:#}");
        if mode == "planted" {
            assert!(marked("library.c", "planted").contains(&important(section)[0].0), "{section:#}");
        }
        let text = scene.threadtalk(&["imbalance", "p.ttp"]).stdout_text();
        assert!(text.contains("CPU time: most of it was taken by code that was not instrumented"), "{text}");
        // Who asks for work is given work.
        let done = scene.threadtalk(&["imbalance", "p.ttp", "--by", "work", "--format", "json"]);
        let by_work: Value = serde_json::from_str(&done.stdout_text()).unwrap();
        let section = worst(&by_work, 8);
        assert_eq!(section["uninstrumented"], false, "{section:#}");
        assert!(section["imbalance_percent"].as_f64().unwrap() > 99.0, "{section:#}");
    }
}

/// Where one line makes all threads, it is what they run that makes them a team.
#[test]
fn threads_that_one_function_makes_are_teams_by_what_they_run() {
    let scene = scene("wrapper.c", &["-pthread", "-O1", "-g"]);
    for (mode, wanted) in [("even", 0.0), ("planted", 200.0 / 3.0)] {
        let all = run(&scene, &[mode], 2);
        let sections = all["sections"].as_array().unwrap();
        let of = |name: &str| {
            let section = sections.iter().find(|s| s["runs"] == serde_json::json!([name]));
            section.unwrap_or_else(|| panic!("{mode} {name}: {all:#}"))
        };
        // The leader works beside the worker that it has made; 3 is the worker, and 2 the reader.
        assert_eq!(of("work")["team"], serde_json::json!([1, 3]), "{mode}: {all:#}");
        assert!((of("work")["imbalance_percent"].as_f64().unwrap() - wanted).abs() < 0.1, "{mode}: {all:#}");
        assert_eq!((&of("leader")["threads"], &of("reader")["threads"]), (&1.into(), &1.into()), "{mode}: {all:#}");
        let text = scene.threadtalk(&["imbalance", "p.ttp"]).stdout_text();
        assert!(!text.contains("another thread is late") && !text.contains("sections above"), "{text}");
        assert_eq!(text.contains("in make, which run work  (2 threads, 1 instance)"), mode == "planted", "{text}");
    }
}

/// Sums over the instances hide what happens in each.
#[test]
fn turns_are_told_from_work_that_is_even() {
    let scene = scene("turns.c", &["-pthread", "-g"]);
    let all = run(&scene, &["8"], 8);
    // The first of 24 turns begins where the threads do.
    let sections = all["sections"].as_array().unwrap();
    let section = sections.iter().find(|s| s["instances"] == 23).unwrap_or_else(|| panic!("{all:#}"));
    assert!(section["imbalance_percent"].as_f64().unwrap() > 99.0, "{section:#}");
    let text = scene.threadtalk(&["imbalance", "p.ttp"]).stdout_text();
    let told: Vec<&str> =
        text.lines().filter(|l| l.contains("another thread is late each time: sums differ by")).collect();
    assert_eq!(told.len(), 1, "{text}");
    ends_well(&scene.threadtalk(&["imbalance", "p.ttp", "-o", "out", "--format", "html"]));
    let page = std::fs::read_to_string(scene.path("out/index.html")).unwrap();
    assert!(page.contains("instructions per thread, sums of 23 instances; imbalance "), "{page}");
}

/// Who waits in a loop of the program's own does nothing, however often the loop turns.
#[test]
fn loops_that_wait_are_no_work() {
    let scene = scene("spins.c", &["-pthread", "-O2"]);
    let all = run(&scene, &["7"], 7);
    let section = worst(&all, 7);
    assert!(section["imbalance_percent"].as_f64().unwrap() > 99.0, "{section:#}");
    assert_eq!(section["arrived_together"], false, "{section:#}");
    let waits: Vec<&Value> = all["waits"].as_array().unwrap().iter().filter(|w| w["kind"] == "spin").collect();
    for (word, thread) in [("load", 2), ("volatile", 3), ("exchange", 4), ("flag", 5), ("compare", 6)] {
        let lines = marked("spins.c", &format!("spins: {word}"));
        let of = |w: &&&Value| w["line"].as_u64().is_some_and(|line| lines.contains(&line));
        let wait = waits.iter().find(of).unwrap_or_else(|| panic!("{word}: {waits:#?}"));
        assert_eq!(wait["threads"], serde_json::json!([thread]), "{wait:#}");
        assert!(wait["seconds"].as_f64().unwrap() > 0.0, "{wait:#}");
    }
    assert_eq!(waits.len(), 5, "{waits:#?}");
}

/// Counts begin where the part does, whichever part it shares that moment with, and those that go on from a barrier
/// have none of what was before it.
#[test]
fn parts_between_barriers_and_the_region_around_them_have_their_own_counts() {
    let program = "barriers.c";
    let scene = scene(program, &["-fopenmp", "-O1"]);
    let all = run(&scene, &[], 4);
    let units = |section: &Value| -> Vec<u64> {
        // Four instructions an iteration, 1000 iterations a unit, three instances.
        let values = section["values"].as_array().unwrap().iter().filter_map(Value::as_f64);
        values.map(|instructions| (instructions / 12_000.0).round() as u64).collect()
    };
    let of = |kind: &str, begin: &str, end: &str| {
        let is_it = |s: &&Value| {
            s["kind"] == kind && s["line"] == line_of(program, begin) && s["end_line"] == line_of(program, end)
        };
        let section = all["sections"].as_array().unwrap().iter().find(is_it);
        let section = section.unwrap_or_else(|| panic!("{kind} from {begin}: {all:#}"));
        assert_eq!(section["instances"], 3, "{section:#}");
        units(section)
    };
    let (region, first, second) = ("parallel num_threads(4)", "barrier // 1", "barrier // 2");
    assert_eq!(of("omp_barrier", region, first), [1, 2, 3, 4]);
    assert_eq!(of("omp_barrier", first, second), [5; 4]);
    assert_eq!(of("omp_barrier", second, region), [4, 3, 2, 1]);
    assert_eq!(of("omp_parallel", region, region), [10; 4]);
    let plain = "parallel for num_threads(4)";
    assert_eq!(of("omp_parallel", plain, plain), [3, 3, 3, 9]);
}

/// libomp does not say that a thread leaves an untied task to go on with it later: what it waits for afterwards counts
/// all the same, and its pieces have their numbers.
#[test]
fn waits_of_threads_that_left_tasks_are_waits() {
    let scene = scene("untied.c", &["-fopenmp", "-O2"]);
    let all = run(&scene, &["4"], 4);
    let lines = marked("untied.c", "waits");
    let waits = all["waits"].as_array().unwrap();
    let of = |w: &&Value| w["kind"] == "omp_barrier" && w["line"].as_u64().is_some_and(|line| lines.contains(&line));
    let wait = waits.iter().find(of).unwrap_or_else(|| panic!("{all:#}"));
    assert_eq!((&wait["count"], &wait["threads"]), (&20.into(), &serde_json::json!([0, 1, 2, 3])), "{wait:#}");
    // Three threads wait for one.
    let sections = all["sections"].as_array().unwrap();
    let section = sections.iter().find(|s| s["end_line"] == wait["line"]).unwrap_or_else(|| panic!("{all:#}"));
    let cpu = section["cpu"].as_array().unwrap().iter().filter_map(Value::as_f64).fold(0.0, f64::max);
    assert!(cpu > 0.0 && wait["seconds"].as_f64().unwrap() > cpu, "{cpu} {wait:#}");
}

/// Fine-grained programs wait in each task for children that are all done.
#[test]
fn a_task_without_children_does_not_wait_for_them() {
    let scene = scene("taskwaits.c", &["-fopenmp", "-O2"]);
    let all = run(&scene, &[], 2);
    let waits = all["waits"].as_array().unwrap().iter().filter(|wait| wait["kind"] == "omp_taskwait");
    let of = |name: &str| {
        let lines = marked("taskwaits.c", name);
        let at = waits.clone().filter(|wait| wait["line"].as_u64().is_some_and(|line| lines.contains(&line)));
        at.map(|wait| wait["count"].as_u64().unwrap()).sum::<u64>()
    };
    let counts = ["deferred", "inside", "none", "undeferred"].map(of);
    assert_eq!(counts, [10, 10, 0, 0], "{:#?}", waits.collect::<Vec<_>>());
}
