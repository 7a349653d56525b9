//! What happens to the profile when the process ends, forks, becomes another program, or cannot write.

use std::fs::read_to_string;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};
use threadtalk_abi::LEAST_ADDRESSES;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::distribution;
use threadtalk_tests::execute::Run;
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

/// Elements that `hand_over` of the programs gives from worker 1 to worker 2.
const N: i64 = 100;

#[test]
fn a_killed_program_leaves_its_counts() {
    let scene = Scene::with("endless.c", &[]);
    let mut command = scene.command("program");
    command.env("THREADTALK_OUT", scene.path("killed.ttp"));
    let mut running = Run::new(command).start().unwrap();
    let start = Instant::now();
    while running.stdout_so_far().unwrap().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "the program does not come to its thousandth sweep");
        std::thread::sleep(Duration::from_millis(20));
    }
    let before = scene.report("killed.ttp");
    running.kill().unwrap();
    assert_eq!(running.finish(Duration::from_secs(10)).unwrap().ending(), "signal 9");
    let after = scene.report("killed.ttp");
    for report in [&before, &after] {
        assert_eq!(report.ended(), "abnormally");
        assert_eq!(report.total("total_raw", 1, 2), N);
    }
    // The thousandth sweep was over before the line was printed.
    assert!(before.total("total_rar", 1, 2) >= 999 * N, "{}", before.total("total_rar", 1, 2));
    assert!(after.total("total_rar", 1, 2) >= before.total("total_rar", 1, 2));
}

#[test]
fn output_and_status_are_the_programs_own() {
    let scene = Scene::with("hand_over.c", &[]);
    scene.compile(Compiler::Native, "hand_over.c", "native", &[]);
    let native = Run::new(scene.command("native")).finish().unwrap();
    let alone = scene.profile("alone.ttp");
    assert_eq!((alone.ending(), alone.stdout_text()), (native.ending(), native.stdout_text()));
    assert!(alone.stderr_text().starts_with("to stderr\n"), "{}", alone.stderr_text());
    let added = alone.stderr_text().lines().count() - native.stderr_text().lines().count();
    assert!(added <= 1, "more than one line of its own: {}", alone.stderr_text());
    let under = scene.threadtalk(&["run", "-o", "under.ttp", "--", "./program"]);
    assert_eq!((under.ending(), under.stdout_text()), (native.ending(), native.stdout_text()));
    assert_eq!(scene.report("under.ttp").total("total_raw", 1, 2), N);
}

#[test]
fn quiet_prints_nothing_of_its_own() {
    let scene = Scene::with("hand_over.c", &[]);
    let mut command = scene.command("program");
    command.env("THREADTALK_OUT", scene.path("quiet.ttp")).env("THREADTALK_OPTIONS", "quiet=1");
    assert_eq!(Run::new(command).finish().unwrap().stderr_text(), "to stderr\n");
}

#[test]
fn the_default_name_has_program_and_process() {
    let scene = Scene::with("hand_over.c", &[]);
    for _ in 0..2 {
        Run::new(scene.command("program")).finish().unwrap();
    }
    let profiles = scene.profiles("");
    assert_eq!(profiles.len(), 2, "{profiles:?}");
    let numbered = |name: &String| {
        let middle = name.strip_prefix("threadtalk.program.").and_then(|n| n.strip_suffix(".ttp"));
        middle.is_some_and(|pid| pid.parse::<u32>().is_ok())
    };
    assert!(profiles.iter().all(numbered), "{profiles:?}");
}

#[test]
fn placeholders_of_the_name_are_filled_in() {
    let scene = Scene::with("hand_over.c", &[]);
    let mut command = scene.command("program");
    command.env("THREADTALK_OUT", scene.path("of-%p.ttp"));
    Run::new(command).finish().unwrap();
    let profiles = scene.profiles("");
    assert!(profiles.len() == 1 && !profiles[0].contains('%'), "{profiles:?}");
}

/// With a variable of the environment a program leaves no profile and says what it says by itself.
fn leaves_no_profile(variable: &str, value: &str) {
    let scene = Scene::with("hand_over.c", &[]);
    let mut command = scene.command("program");
    command.env(variable, value);
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stderr_text().as_str()), ("exit 42", "to stderr\n"));
    assert!(scene.profiles("").is_empty());
}

#[test]
fn disabled_leaves_no_profile() {
    leaves_no_profile("THREADTALK_DISABLE", "1");
}

#[test]
fn a_profile_that_nobody_wants_leaves_no_file() {
    leaves_no_profile("THREADTALK_OUT", "/dev/null");
    let beside = std::fs::read_dir("/dev").unwrap().flatten().map(|entry| entry.file_name().display().to_string());
    assert_eq!(beside.filter(|name| name.starts_with("null.")).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_forked_child_leaves_the_parents_profile_alone() {
    let scene = Scene::with("forks.c", &[]);
    let ways = ["return", "_exit", "abort", "exec", "clone", "syscall"];
    for (way, told) in ways.map(|way| (way, if way == "abort" { "-6" } else { "7" })) {
        let name = format!("{way}.ttp");
        let mut command = scene.command("program");
        command.arg(way).env("THREADTALK_OUT", scene.path(&name));
        let done = Run::new(command).finish().unwrap();
        assert_eq!((done.ending().as_str(), done.stdout_text().trim()), ("exit 0", told), "{way}");
        let report = scene.report(&name);
        assert_eq!((report.threads(), report.ended()), (5, "normally"), "{way}");
        assert_eq!(report.total("total_raw", 1, 2), N, "{way}");
        assert_eq!(report.total("total_raw", 3, 4), N, "{way}");
    }
    assert_eq!(scene.profiles("").len(), ways.len(), "children made profiles: {:?}", scene.profiles(""));
}

#[test]
fn spawned_programs_do_not_disturb() {
    let scene = Scene::with("spawns.c", &[]);
    let done = scene.profile("spawns.ttp");
    assert_eq!((done.ending().as_str(), done.stdout_text().trim()), ("exit 0", "12 from the pipe"));
    let report = scene.report("spawns.ttp");
    assert_eq!((report.total("total_raw", 1, 2), report.ended()), (N, "normally"));
}

#[test]
fn exec_ends_one_profile_and_begins_another() {
    let scene = Scene::with("execs.c", &[]);
    scene.compile(Compiler::Instrumented, "hand_over.c", "next", &[]);
    let mut command = scene.command("program");
    command.arg(scene.path("next")).env("THREADTALK_OUT", scene.path("of-%n-%p.ttp"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 42", "to stdout\n"));
    let reports: Vec<Report> = scene.profiles("").iter().map(|name| scene.report(name)).collect();
    let ends: Vec<&str> = reports.iter().map(Report::ended).collect();
    assert!(ends.contains(&"exec") && ends.contains(&"normally") && ends.len() == 2, "{ends:?}");
    assert!(reports.iter().all(|r| r.total("total_raw", 1, 2) == N));
}

#[test]
fn exec_of_an_uninstrumented_program_is_told() {
    let scene = Scene::with("execs.c", &[]);
    let mut command = scene.command("program");
    command.args(["/bin/sh", "-c", "exit 6"]).env("THREADTALK_OUT", scene.path("exec.ttp"));
    assert_eq!(Run::new(command).finish().unwrap().ending(), "exit 6");
    let report = scene.report("exec.ttp");
    assert_eq!((report.ended(), report.total("total_raw", 1, 2)), ("exec", N));
}

#[test]
fn a_failed_exec_goes_on_counting() {
    let scene = Scene::with("execs.c", &[]);
    let mut command = scene.command("program");
    command.arg("/nonexistent/program").env("THREADTALK_OUT", scene.path("failed.ttp"));
    assert_eq!(Run::new(command).finish().unwrap().ending(), "exit 3");
    let report = scene.report("failed.ttp");
    assert_eq!((report.ended(), report.total("total_raw", 1, 2)), ("normally", N));
}

#[test]
fn a_folder_that_cannot_be_written_changes_nothing_else() {
    let scene = Scene::with("hand_over.c", &[]);
    std::fs::create_dir(scene.path("temporary")).unwrap();
    for target in ["/nonexistent/folder/x.ttp", "/proc/x.ttp"] {
        let mut command = scene.command("program");
        command.env("THREADTALK_OUT", target).env("TMPDIR", scene.path("temporary"));
        let done = Run::new(command).finish().unwrap();
        assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 42", "to stdout\n"));
        let told: Vec<String> = done.stderr_text().lines().filter(|l| *l != "to stderr").map(String::from).collect();
        // One line says both: what could not be written and where the profile is.
        assert!(told.len() == 1 && told[0].contains(target), "{told:?}");
        assert!(told[0].contains(&scene.path("temporary").display().to_string()), "{told:?}");
    }
}

#[test]
fn a_working_directory_that_cannot_be_written_falls_back() {
    let scene = Scene::with("hand_over.c", &[]);
    std::fs::create_dir(scene.path("locked")).unwrap();
    std::fs::create_dir(scene.path("temporary")).unwrap();
    std::fs::set_permissions(scene.path("locked"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = scene.command("program");
    command.current_dir(scene.path("locked")).env("TMPDIR", scene.path("temporary"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 42", "to stdout\n"));
    // The superuser may write everywhere.
    let place = if scene.profiles("locked").is_empty() { "temporary" } else { "locked" };
    let profiles = scene.profiles(place);
    assert_eq!(profiles.len(), 1, "{}", done.stderr_text());
    assert_eq!(scene.report(&format!("{place}/{}", profiles[0])).total("total_raw", 1, 2), N);
}

#[test]
fn a_limit_on_file_sizes_does_not_end_the_program() {
    let scene = Scene::with("hand_over.c", &[]);
    // In KiB: no room at all, room for the header, room for some blocks. The outputs go through pipes, which have no
    // limit.
    for limit in [0, 16, 100] {
        let mut command = Command::new("bash");
        let script = format!("( ulimit -f {limit}; ./program; echo status $? ) 2>&1 | cat");
        command.arg("-c").arg(script).current_dir(scene.path("")).env("THREADTALK_OUT", scene.path("limited.ttp"));
        let printed = Run::new(command).finish().unwrap().stdout_text();
        for line in ["to stdout", "to stderr", "status 42"] {
            assert!(printed.lines().any(|l| l == line), "limit {limit} KiB: no `{line}` in {printed}");
        }
    }
}

#[test]
fn a_full_disk_does_not_end_the_program() {
    let scene = Scene::with("hand_over.c", &[]);
    std::fs::create_dir(scene.path("small")).unwrap();
    // A file system of 64 KiB in a namespace of its own; where the kernel does not allow that, there is nothing to
    // test.
    let script = "mount -t tmpfs -o size=64k none small || exit 99; \
                  THREADTALK_OUT=small/x.ttp ./program; status=$?; \
                  df --output=avail small | tail -1; exit $status";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script]).current_dir(scene.path(""));
    let done = Run::new(command).finish().unwrap();
    if done.ending() == "exit 99" || done.stderr_text().starts_with("unshare:") {
        eprintln!("no small file system could be mounted: {}", done.stderr_text());
        return;
    }
    assert_eq!(done.ending(), "exit 42", "{}", done.stderr_text());
    assert!(done.stdout_text().contains("to stdout\n"), "{}", done.stdout_text());
}

#[test]
fn ten_thousand_threads_come_and_go() {
    let scene = Scene::with("churn_10000.c", &[]);
    let done = scene.profile("churn.ttp");
    assert_eq!((done.ending().as_str(), done.stdout_text().trim()), ("exit 0", "55000"), "{}", done.stderr_text());
    let text = scene.threadtalk(&["report", "churn.ttp", "--format", "text"]);
    assert_eq!(text.ending(), "exit 0", "{}", text.stderr_text());
    assert!(text.stdout_text().contains("10001") || text.stdout_text().contains("10 001"), "{}", text.stdout_text());
}

#[test]
fn beyond_the_budget_counts_are_marked_as_estimates() {
    let scene = Scene::with("touches_much.c", &[]);
    assert_eq!(scene.profile("hashed.ttp").ending(), "exit 0");
    let hashed = scene.report("hashed.ttp");
    assert_eq!(hashed.json()["options"]["mode"], "hashed");
    let rate = hashed.json()["accuracy"]["estimated_false_rate"].as_f64().unwrap();
    assert!(rate > 0.0 && rate <= 1.0, "{rate}");
    let mut command = scene.command("program");
    command.env("THREADTALK_OUT", scene.path("exact.ttp")).env("THREADTALK_OPTIONS", "mode=exact");
    assert_eq!(Run::new(command).finish().unwrap().ending(), "exit 0");
    let exact = scene.report("exact.ttp");
    assert_eq!(exact.json()["options"]["mode"], "exact");
    assert_eq!(exact.json()["accuracy"]["estimated_false_rate"], 0.0);
    assert_eq!(exact.total("total_raw", 1, 2), 32768);
}

#[test]
fn a_program_that_closes_all_descriptors_keeps_its_own_files() {
    let scene = Scene::with("closes_all.c", &[]);
    let done = scene.profile("p.ttp");
    assert_eq!(
        (done.ending().as_str(), done.stdout_text().trim()),
        ("exit 0", "72 only this"),
        "{}",
        done.stderr_text()
    );
    assert!(scene.report("p.ttp").total("total_raw", 1, 2) == N);
}

#[test]
fn too_little_address_space_is_told_before_the_program_begins() {
    let scene = Scene::with("hand_over.c", &[]);
    // In KiB: less than the directory's reservation.
    for limit in [1_000_000, 8_000_000] {
        let mut command = Command::new("bash");
        let script = format!("ulimit -v {limit}; ./program");
        command.arg("-c").arg(script).current_dir(scene.path("")).env("THREADTALK_OUT", scene.path("p.ttp"));
        let done = Run::new(command).finish().unwrap();
        // Inlined code reads the directory at every access: there is no running without it.
        assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 1", ""), "{limit} KiB");
        let line = done.stderr_text();
        assert!(line.starts_with("threadtalk: ") && line.contains("ulimit -v") && line.lines().count() == 1, "{line}");
    }
}

#[test]
fn the_least_address_space_is_enough_for_a_program() {
    let scene = Scene::with("hand_over.c", &[]);
    let mut command = Command::new("bash");
    let script = format!("ulimit -v {}; ./program", LEAST_ADDRESSES >> 10);
    command.arg("-c").arg(script).current_dir(scene.path("")).env("THREADTALK_OUT", scene.path("p.ttp"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 42", "to stdout\n"));
    let report = scene.report("p.ttp");
    assert_eq!((report.ended(), report.total("total_raw", 1, 2)), ("normally", N));
    let told = format!("{} GiB", LEAST_ADDRESSES >> 30);
    assert!(read_to_string(distribution::workspace().join("README.md")).unwrap().contains(&told), "{told}");
}

#[test]
fn few_descriptors_leave_the_program_alone() {
    let scene = Scene::with("hand_over.c", &[]);
    let mut command = Command::new("bash");
    command.arg("-c").arg("ulimit -n 4; exec ./program").current_dir(scene.path(""));
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stdout_text().as_str()), ("exit 42", "to stdout\n"));
}

#[test]
fn a_daemon_takes_its_profile_along() {
    let scene = Scene::with("daemon.c", &[]);
    assert_eq!(scene.profile("p.ttp").ending(), "exit 0");
    let start = Instant::now();
    loop {
        // The file `done` is written a moment before the profile is sealed.
        let sealed = scene.path("done").exists() && scene.report("p.ttp").ended() == "normally";
        if sealed {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the daemon's profile is not sealed");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(scene.report("p.ttp").total("total_raw", 1, 2), N);
}

#[test]
#[ignore = "long: more threads than there are ids"]
fn more_threads_than_ids_share_the_last_one() {
    let scene = Scene::with("churn_10000.c", &["-DROUNDS=2500"]);
    let done = scene.profile("churn.ttp");
    assert_eq!((done.ending().as_str(), done.stdout_text().trim()), ("exit 0", "110000"), "{}", done.stderr_text());
    let text = scene.threadtalk(&["report", "churn.ttp", "--format", "text"]);
    assert_eq!(text.ending(), "exit 0", "{}", text.stderr_text());
}
