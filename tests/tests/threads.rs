//! Names of threads and where they were created.

use std::collections::HashMap;
use threadtalk_tests::distribution::programs;
use threadtalk_tests::execute::Run;
use threadtalk_tests::expectation::Expectation;
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

fn report() -> Report {
    let scene = Scene::with("named_threads.cpp", &["-fopenmp"]);
    let done = scene.profile("p.ttp");
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    scene.report("p.ttp")
}

#[test]
fn names_come_from_the_program_by_every_way() {
    let names = report().thread_names();
    let expected = [(0, "main"), (1, "by header"), (2, "by posix"), (3, "by prctl"), (4, "OpenMP worker 4")];
    for (thread, name) in expected {
        assert_eq!(names[&thread], name, "{names:?}");
    }
}

#[test]
fn creation_is_told_with_file_and_line() {
    let report = report();
    let source = programs().join("special/named_threads.cpp");
    let text = std::fs::read_to_string(&source).unwrap();
    // The marks alone are of interest: the program's counts are not checked here.
    let header = format!("// THREADS: 1\n// EXPECT: raw = 0\n{text}");
    let marks: HashMap<String, u64> = Expectation::parse(&source, &header).unwrap().marks;
    for (thread, mark) in [(1, "first"), (2, "second"), (3, "third"), (4, "team")] {
        let record = &report.json()["threads"][thread];
        assert_eq!(record["created_by"], 0, "{record}");
        assert_eq!(record["created_at"]["line"], marks[mark] - 2, "{record}");
        assert!(record["created_at"]["file"].as_str().unwrap().ends_with("named_threads.cpp"), "{record}");
    }
    assert!(report.json()["threads"][0]["created_by"].is_null());
}

#[test]
fn options_are_listed_and_mistakes_are_told_without_harm() {
    let scene = Scene::with("hand_over.c", &[]);
    let with = |options: &str| {
        let mut command = scene.command("program");
        command.env("THREADTALK_OPTIONS", options).env("THREADTALK_OUT", scene.path("p.ttp"));
        Run::new(command).finish().unwrap()
    };
    let help = with("help=1").stderr_text();
    for option in ["mode", "signature_bytes", "crd", "quiet"] {
        assert!(help.contains(option), "help=1 does not list {option}: {help}");
    }
    for mistake in ["mode=fast", "no_such_option=1", "signature_bytes=lots"] {
        let done = with(mistake);
        assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 42", "to stdout\n"));
        let name = mistake.split('=').next().unwrap();
        assert!(done.stderr_text().contains(name), "{mistake}: {}", done.stderr_text());
    }
    assert_eq!(scene.report("p.ttp").total("total_raw", 1, 2), 100);
    let told = with("mode=exact,quiet=1").stderr_text();
    assert!(told.contains("mode=exact,quiet=1; ignored; colons separate options (help=1"), "{told}");
}
