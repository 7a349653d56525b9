//! What the processor and the kernel count: in sections, in programs that close what they have not opened, and where
//! nothing is counted.

use serde_json::Value;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::execute::{Finished, Run};
use threadtalk_tests::planted::{important, marked};
use threadtalk_tests::scene::Scene;

/// Whether the doctor says that this is counted here.
fn is_counted(scene: &Scene, event: &str) -> bool {
    let text = scene.threadtalk(&["doctor"]).stdout_text();
    let mut lines = text.lines().filter(|line| line.contains("  counters "));
    lines.any(|line| line.starts_with("ok") && line.contains(event))
}

fn run(scene: &Scene, arguments: &[&str], counters: &str) -> Finished {
    let _ = std::fs::remove_file(scene.path("p.ttp"));
    let mut command = scene.command("program");
    command.args(arguments).env("THREADTALK_OUT", scene.path("p.ttp"));
    command.env("THREADTALK_OPTIONS", format!("counters={counters}"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    done
}

fn imbalance(scene: &Scene, arguments: &[&str]) -> Value {
    let done = scene.threadtalk(&[&["imbalance", "p.ttp", "--format", "json"], arguments].concat());
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    serde_json::from_str(&done.stdout_text()).unwrap()
}

#[test]
fn the_line_that_makes_one_thread_fault_is_found() {
    const THREADS: usize = 8;
    let scene = Scene::new();
    let flags = ["--threadtalk=control", "-pthread"];
    scene.compile(Compiler::Instrumented, "../imbalance/faults.c", "program", &flags);
    let done = run(&scene, &["8"], "page-faults,task-clock");
    if !is_counted(&scene, "page-faults") {
        assert!(done.stderr_text().contains("not counted: page-faults"), "{}", done.stderr_text());
        return;
    }
    let all = imbalance(&scene, &["--by", "page-faults"]);
    assert_eq!(all["dependent"], "page-faults");
    let between = |s: &&Value| s["kind"] == "barrier" && s["end_line"].as_u64() > s["line"].as_u64();
    let section = all["sections"].as_array().unwrap().iter().find(between).unwrap_or_else(|| panic!("{all:#}"));
    let faults: Vec<f64> = section["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(faults.len(), THREADS);
    for (thread, &faults) in faults.iter().enumerate() {
        // What the runtime itself touches in between are some tens; there is room for a busy machine.
        let touched = if thread == THREADS / 2 { 600.0 } else { 20.0 };
        assert!((touched..touched + 300.0).contains(&faults), "{thread}: {section:#}");
    }
    let found = important(section);
    assert!(found.len() == 1 && marked("faults.c", "faults").contains(&found[0].0), "{section:#}");
    // Totals are those of the threads: no less than their sections'.
    let totals = &all["counters"]["page-faults"];
    assert_eq!(totals["threads"], THREADS + 1, "with the first thread");
    assert!(totals["max"].as_f64() >= Some(600.0) && totals["min"].as_f64() >= Some(1.0), "{totals:#}");
    assert!(all["counters"]["task-clock"]["avg"].as_f64() > Some(0.0), "{:#}", all["counters"]);
}

#[test]
fn programs_that_fork_or_close_everything_end_as_they_do() {
    for (program, argument) in [("closes_all.c", None), ("forks.c", Some("return")), ("forks.c", Some("exec"))] {
        let plain = Scene::with(program, &["-pthread"]);
        let ends = |scene: &Scene, options: &str| {
            let mut command = scene.command("program");
            command.args(argument).env("THREADTALK_OUT", scene.path("p.%p.ttp")).env("THREADTALK_OPTIONS", options);
            let done = Run::new(command).finish().unwrap();
            (done.ending(), done.stdout_text())
        };
        let wanted = ends(&plain, "quiet");
        let counted = ends(&plain, "quiet:counters=page-faults,task-clock,context-switches");
        assert_eq!(counted, wanted, "{program}");
        for profile in plain.profiles(".") {
            let done = plain.threadtalk(&["validate", &profile]);
            assert_eq!(done.ending(), "exit 0", "{program}: {}", done.stderr_text());
        }
    }
}

#[test]
fn what_is_not_counted_is_said_in_one_line_and_nothing_else_changes() {
    let scene = Scene::new();
    let flags = ["--threadtalk=control", "-pthread"];
    scene.compile(Compiler::Instrumented, "../imbalance/faults.c", "program", &flags);
    let done = run(&scene, &["4"], "instructions");
    let said = done.stderr_text();
    if is_counted(&scene, "instructions") {
        assert!(imbalance(&scene, &["--by", "instructions"])["counters"]["instructions"]["avg"].as_f64() > Some(0.0));
        return;
    }
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("not counted")).collect();
    assert!(
        lines.len() == 1 && lines[0].contains("instructions (") && lines[0].contains("threadtalk doctor"),
        "{said}"
    );
    assert!(imbalance(&scene, &[])["counters"].is_null());
    let done = scene.threadtalk(&["imbalance", "p.ttp", "--by", "instructions"]);
    assert_eq!(done.ending(), "exit 2");
    assert!(done.stderr_text().contains("no counts of instructions"), "{}", done.stderr_text());
}
