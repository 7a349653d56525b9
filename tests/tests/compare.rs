//! `threadtalk compare` on real programs: what a suggestion promised, followed and measured.

use serde_json::Value;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::scene::Scene;

/// Blocks of iterations that become longer and longer, and the same iterations dealt out one by one.
#[test]
fn dealt_out_iterations_keep_the_promise_about_imbalance() {
    let scene = Scene::new();
    for (program, profile) in [("load_imbalance.c", "base.ttp"), ("load_imbalance_dealt.c", "new.ttp")] {
        let flags = ["-fopenmp", "--threadtalk=memory,control"];
        scene.compile(Compiler::Instrumented, &format!("../suggest/{program}"), "program", &flags);
        assert_eq!(scene.profile(profile).ending(), "exit 0");
    }
    let done = scene.threadtalk(&["compare", "base.ttp", "new.ttp", "--format", "json"]);
    let all: Value = serde_json::from_str(&done.stdout_text()).unwrap();
    let section = &all["sections"][0];
    assert_eq!(
        (section["kind"].as_str(), section["verdict"].as_str()),
        (Some("omp_parallel"), Some("better")),
        "{all:#}"
    );
    // The threads tell each other next to nothing.
    assert_eq!(all["program"]["verdict"], "better", "{all:#}");
    let percent = |side: &str| section[side]["imbalance_percent"].as_f64().unwrap();
    // Thread t of 4 has the iterations from 100 t on, each as long as its number: sums are as 1, 3, 5, 7.
    let expected = 100.0 * (7.0 - 4.0) / 7.0 * 4.0 / 3.0;
    assert!((percent("base") - expected).abs() < 1.0 && percent("new") < 2.0, "{section:#}");
    let promise = all["promises"].as_array().unwrap().iter().find(|p| p["rule"] == "load-imbalance").unwrap();
    assert_eq!((promise["kept"].as_bool(), &promise["new"]), (Some(true), &section["new"]["imbalance_percent"]));

    let text = scene.threadtalk(&["compare", "base.ttp", "new.ttp"]).stdout_text();
    let row = text.lines().find(|line| line.contains("load-imbalance  imbalance ")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains(" %  ") && row.contains("  yes   ") && row.contains(" load_imbalance.c:"), "{row}");
    assert!(text.contains("  followed: load-imbalance in "), "{text}");
    let page = scene.threadtalk(&["compare", "base.ttp", "new.ttp", "--format", "html"]).stdout_text();
    assert!(page.contains("<h2>What suggestions for base promise to lower</h2>") && page.contains("load-imbalance"));

    let done = scene.threadtalk(&["compare", "new.ttp", "base.ttp", "--fail-on", "imbalance>+10"]);
    assert_eq!(done.ending(), "exit 1");
    let line = done.stderr_text();
    assert!(line.starts_with("threadtalk: imbalance>+10 holds: imbalance of parallel sections "), "{line}");
    let text = done.stdout_text();
    assert!(text.contains("Parallel sections (instructions of each thread; "), "{text}");
}

/// A loop reads two arrays that one thread has filled: parts of one, all of the other. Filling the first by its readers
/// is all that can be done, and it is done.
#[test]
fn a_parallel_initialisation_keeps_its_promise_and_is_not_suggested_again() {
    let scene = Scene::new();
    let programs = [("serial_initialisation_mixed.c", "base.ttp"), ("serial_initialisation_followed.c", "new.ttp")];
    for (program, profile) in programs {
        let flags = ["-fopenmp", "-O2", "--threadtalk=memory"];
        scene.compile(Compiler::Instrumented, &format!("../suggest/{program}"), "program", &flags);
        assert_eq!(scene.profile(profile).ending(), "exit 0");
    }
    let done = scene.threadtalk(&["compare", "base.ttp", "new.ttp", "--format", "json"]);
    let all: Value = serde_json::from_str(&done.stdout_text()).unwrap();
    let promises = all["promises"].as_array().unwrap();
    let promise = promises.iter().find(|p| p["rule"] == "serial-initialisation").unwrap();
    assert_eq!((promise["kept"].as_bool(), promise["still_made"].as_bool()), (Some(true), Some(false)), "{promise:#}");
    // Three of four threads have read a quarter of 160 000 doubles each, and all 10 000 of the table, two elements
    // each.
    let (parts, table) = (3.0 * 2.0 * 160_000.0 / 4.0, 3.0 * 2.0 * 10_000.0);
    let near = |figure: &str, expected: f64| {
        let found = promise[figure].as_f64().unwrap();
        assert!((found - expected).abs() < 1000.0, "{figure}: {found} for {expected}");
    };
    near("base", parts + table);
    near("new", table);
}
