//! What the archive gives to programs, and what it must not.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::{Linkage, Runtime};

fn symbols(arguments: &[&str], file: &Path) -> Vec<(char, String)> {
    let output = Command::new("nm").args(["--defined-only"]).args(arguments).arg(file).output().expect("nm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let symbol = |line: &str| {
        let mut words = line.split_whitespace().rev();
        let name = words.next()?.to_string();
        Some((words.next()?.chars().next()?, name))
    };
    text.lines().filter_map(symbol).collect()
}

#[test]
fn only_the_interface_is_global_and_the_c_librarys_names_are_weak() {
    let archive = Runtime::get().library().join("libthreadtalk_rt.a");
    let symbols = symbols(&["--extern-only"], &archive);
    for (kind, name) in &symbols {
        let own = name.starts_with("__threadtalk_");
        assert!(if own { "TDBR".contains(*kind) } else { *kind == 'W' }, "{kind} {name}");
    }
    for name in ["__threadtalk_init", "__threadtalk_thread", "__threadtalk_abi_v7", "free", "pthread_create", "_ZdlPv"]
    {
        assert!(symbols.iter().any(|(_, found)| found == name), "{name} is missing");
    }
}

#[test]
fn every_hook_of_the_contract_is_there() {
    let archive = symbols(&["--extern-only"], &Runtime::get().library().join("libthreadtalk_rt.a"));
    let shared = symbols(&["--dynamic"], &Runtime::get().shared());
    for hook in threadtalk_abi::hooks::ALL {
        for symbols in [&archive, &shared] {
            assert!(symbols.iter().any(|(_, name)| name == hook.name), "{} is missing", hook.name);
        }
    }
}

#[test]
fn thread_local_words_need_no_call() {
    let archive = Runtime::get().library().join("libthreadtalk_rt.a");
    let output = Command::new("nm").arg("--undefined-only").arg(archive).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(" dlsym"), "{text}");
    assert!(!text.contains("__tls_get_addr"), "{text}");
}

#[test]
fn another_rust_library_may_be_in_the_program() {
    let runtime = Runtime::get();
    let library = runtime.programs().join("libneighbour.a");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let source = support::folder().join("neighbour.rs");
    let mut compiler = Command::new(rustc);
    support::run(compiler.args(["--edition=2024", "-O", "--crate-type=staticlib", "-o"]).arg(&library).arg(source));
    let program = runtime.programs().join("neighbour");
    let mut compiler = Command::new("clang-19");
    compiler.arg("-o").arg(&program).arg(support::folder().join("neighbour.library.c")).arg(library);
    support::run(compiler.args(runtime.link_arguments(Linkage::Archive)));
    let trace = program.with_extension("trace");
    let _ = fs::remove_file(&trace);
    let output = Command::new(&program)
        .env("THREADTALK_TRACE", &trace)
        .env("THREADTALK_OUT", program.with_extension("ttp"))
        .output()
        .expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "caught a panic, 4 threads gave 1998000\n");
    assert_eq!(output.status.code(), Some(0));
    let trace = fs::read_to_string(trace).expect("the trace is there");
    assert_eq!(trace.lines().filter(|line| line.starts_with("thread_gone ")).count(), 4);
}
