//! `threadtalk run`: the program is itself, and what is said afterwards is true.

mod support;
#[path = "support/synthetic.rs"]
mod synthetic;

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{Scratch, assert_error, err, out};

/// A scratch folder with a ready profile, and a program that "writes" it as the runtime would.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let ready = scratch.path("ready");
    std::fs::write(&ready, synthetic::profile(4)).unwrap();
    scratch.script(
        "prog",
        &format!("cp '{}' \"$(echo \"$THREADTALK_OUT\" | sed \"s/%n/prog/; s/%p/$$/\")\"\n\"$@\"", ready.display()),
    );
    scratch
}

#[test]
fn the_status_is_the_programs() {
    let scratch = scratch();
    for (script, status) in [("exit 0", 0), ("exit 43", 43), ("kill -TERM $$", 128 + 15), ("kill -SEGV $$", 128 + 11)] {
        let output = scratch.tool().args(["run", "-q", "--", "sh", "-c", script]).output().unwrap();
        assert_eq!((output.status.code(), err(&output)), (Some(status), String::new()), "{script}");
    }
}

#[test]
fn failures_of_its_own_are_told_apart() {
    let scratch = scratch();
    let run = |args: &[&str]| scratch.tool().arg("run").args(args).output().unwrap();
    assert_error(
        &run(&["--", "./no-such-program"]),
        127,
        &["cannot start: ./no-such-program; there is no such program"],
    );
    scratch.file("data", "");
    assert_error(&run(&["--", "./data"]), 126, &["cannot start: ./data; it may not be executed: check its mode"]);
    assert_error(
        &run(&["--mode", "fuzzy", "--", "true"]),
        125,
        &["invalid value 'fuzzy'", "choose one of: hashed exact"],
    );
    assert_error(
        &run(&[]),
        125,
        &["missing argument: <PROG> [ARGS]...; usage: threadtalk run [-o FILE] [OPTIONS] -- PROG"],
    );
    assert_error(&run(&["--signature-bytes", "many", "--", "true"]), 125, &["invalid value 'many'", "64M"]);
    assert_error(&run(&["-x", "noequals", "--", "true"]), 125, &["invalid value 'noequals'", "NAME=VALUE"]);
    assert_error(&run(&["-o", "data", "--", "true"]), 125, &["cannot write the profile: ", "data; it exists already"]);
    assert_error(&run(&["-o", ".", "--", "true"]), 125, &["it is a folder: name a file in it"]);
    assert_error(&run(&["-o", "none/x.ttp", "--", "true"]), 125, &["none; there is no such folder: create it first"]);
    std::fs::write(scratch.script("orphan", ""), "#!/no/such/interpreter\n").unwrap();
    assert_error(&run(&["--", "./orphan"]), 127, &["cannot start: ./orphan; there is no such program"]);
}

#[test]
fn streams_pass_untouched() {
    let scratch = scratch();
    let mut child = scratch
        .tool()
        .args(["run", "-q", "--", "sh", "-c", "cat; echo problem >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"\x00bytes\xff").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.stdout, output.stderr), (b"\x00bytes\xff".to_vec(), b"problem\n".to_vec()));
}

#[test]
fn options_reach_the_runtime() {
    let scratch = scratch();
    let run = |args: &[&str]| {
        let mut command = scratch.tool();
        command.env("THREADTALK_OPTIONS", "crd=off:huge_pages=0").args(["run", "-q"]).args(args);
        out(&command.args(["--", "sh", "-c", "echo $THREADTALK_OPTIONS; echo $THREADTALK_OUT"]).output().unwrap())
    };
    let folder = scratch.root().canonicalize().unwrap();
    assert_eq!(run(&[]), format!("crd=off:huge_pages=0:quiet=1\n{}/threadtalk.%n.%p.ttp\n", folder.display()));
    let args = [
        "--mode",
        "exact",
        "--signature-bytes",
        "64M",
        "--crd",
        "auto",
        "--start-paused",
        "-x",
        "crd_period=9",
        "-o",
        "my.ttp",
    ];
    assert_eq!(
        run(&args),
        format!(
            "crd=off:huge_pages=0:mode=exact:signature_bytes=64M:crd=auto:paused=1:crd_period=9:quiet=1\n{}/my.ttp\n",
            folder.display()
        )
    );
}

#[test]
fn the_summary_is_short_and_names_the_next_command() {
    let scratch = scratch();
    let output = scratch.tool().args(["record", "-o", "my.ttp", "--", "./prog"]).output().unwrap();
    let text = err(&output);
    assert!(text.lines().count() <= 10 && text.lines().all(|line| line.starts_with("threadtalk: ")), "{text}");
    for words in [
        "solver  (process 4242",
        "my.ttp",
        "RaW 401k",
        "next      threadtalk report my.ttp -o report",
        "loop in solver::update(int)",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    assert_eq!(out(&output), "");
}

#[test]
fn a_program_that_is_not_instrumented_is_told_loudly() {
    let output = scratch().tool().args(["run", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        err(&output).starts_with("threadtalk: no profile was written: true; compile and link it with threadtalk cc"),
        "{}",
        err(&output)
    );
}

#[test]
fn several_processes_write_several_profiles() {
    let scratch = scratch();
    let output = scratch.tool().args(["run", "--", "sh", "-c", "./prog; ./prog"]).output().unwrap();
    let text = err(&output);
    assert!(text.contains("2 profiles were written, one for each process:"), "{text}");
    assert_eq!(text.matches("  threadtalk.prog.").count(), 2, "{text}");
}

#[test]
fn a_profile_that_is_damaged_does_not_change_the_status() {
    let scratch = scratch();
    let whole = synthetic::profile(4);
    std::fs::write(scratch.path("ready"), &whole[..whole.len() / 2]).unwrap();
    let output = scratch.tool().args(["run", "-o", "my.ttp", "--", "./prog", "sh", "-c", "exit 3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(err(&output).contains("my.ttp is truncated"), "{}", err(&output));
}

#[test]
fn a_fatal_signal_is_named() {
    let output = scratch()
        .tool()
        .args(["run", "-o", "my.ttp", "--", "./prog", "sh", "-c", "kill -KILL $PPID"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(137));
    assert!(err(&output).starts_with("threadtalk: the program was killed by signal 9\n"), "{}", err(&output));
}

#[test]
fn signals_are_handed_on() {
    let scratch = scratch();
    let script = "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child =
        scratch.tool().args(["run", "-q", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    stdout.read_exact(&mut ready).unwrap();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((child.wait().unwrap().code(), rest.as_str()), (Some(5), "got it\n"));
}

#[test]
fn it_ends_when_the_program_ends_although_a_grandchild_lives() {
    let scratch = scratch();
    let begin = Instant::now();
    let status = scratch
        .tool()
        .args(["run", "-q", "--", "sh", "-c", "sleep 30 >/dev/null 2>&1 </dev/null & exit 4"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(4));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_plan_reaches_the_runtime_and_openmp_stays_out_of_it() {
    let scratch = scratch();
    let cpu = threadtalk::placement::allowed_cpus().unwrap()[0];
    let plan = format!("{{\"schema\":\"threadtalk.map/1\",\"bind\":[{cpu},{cpu}]}}");
    scratch.file("plan.json", &plan);
    let run = |bind: &str| {
        let mut command = scratch.tool();
        command.env("OMP_PLACES", "cores").env("OMP_PROC_BIND", "close").env("GOMP_CPU_AFFINITY", "0");
        command.args(["run", "-q", "--bind", bind, "--", "sh", "-c"]);
        command.arg(
            "echo $THREADTALK_OPTIONS ${OMP_PROC_BIND-none} $KMP_AFFINITY ${OMP_PLACES-none} ${GOMP_CPU_AFFINITY-none}",
        );
        out(&command.output().unwrap())
    };
    let expected = format!("bind={cpu},{cpu}:quiet=1 none disabled none none\n");
    assert_eq!(run("plan.json"), expected);
    assert_eq!(run(&format!("{cpu},{cpu}")), expected);
    // The profile of four threads, mapped to this machine now.
    let mapped = run("ready");
    let list = mapped.strip_prefix("bind=").and_then(|rest| rest.split_once(':')).unwrap().0;
    assert_eq!(threadtalk_crd::machine::parse_cpus(list).unwrap().len(), 4, "{mapped}");
}

#[test]
fn plans_that_are_none_are_told_before_the_run() {
    let scratch = scratch();
    let fails = |bind: &str, words: &[&str]| {
        let output = scratch.tool().args(["run", "--bind", bind, "--", "touch", "ran"]).output().unwrap();
        assert_error(&output, 125, words);
        assert!(!scratch.path("ran").exists(), "{bind}");
    };
    fails("plan.json", &["cannot read the plan: plan.json; there is no such file"]);
    fails("8191", &["processor 8191 (of thread 0) is none that this process may use: 8191; choose from "]);
    for contents in [
        "not JSON",
        "[]",
        "{\"schema\":\"threadtalk.map/2\",\"bind\":[0]}",
        "{\"schema\":\"threadtalk.map/1\",\"bind\":[]}",
        "{\"schema\":\"threadtalk.map/1\",\"bind\":[-1]}",
    ] {
        scratch.file("plan.json", contents);
        fails(
            "plan.json",
            &["cannot bind by: plan.json; it is neither a list of processors, a plan of threadtalk map"],
        );
    }
}
