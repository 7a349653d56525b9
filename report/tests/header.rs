//! `threadtalk.h`: compiles without a warning in old and new C and C++, does nothing without the runtime, and calls it
//! where it is there.

use std::process::Command;

const PROGRAM: &str = r#"
#include "threadtalk.h"
THREADTALK_IGNORE static int ignored(void) { return 0; }
int main(void) {
    threadtalk_thread_name("m");
    threadtalk_stop();
    threadtalk_start();
    threadtalk_region_begin("outer");
    { THREADTALK_REGION("inner"); }
    threadtalk_region_end("outer");
    return ignored();
}
"#;

/// Stands for the runtime: writes down the calls.
const RUNTIME: &str = r#"
#include <stdio.h>
void __threadtalk_region_begin(const char *n) { printf("begin %s\n", n); }
void __threadtalk_region_end(const char *n) { printf("end %s\n", n); }
void __threadtalk_start(void) { printf("start\n"); }
void __threadtalk_stop(void) { printf("stop\n"); }
void __threadtalk_thread_name(const char *n) { printf("name %s\n", n); }
"#;

const CALLS: &str = "name m\nstop\nstart\nbegin outer\nbegin inner\nend inner\nend outer\n";

fn build_and_run(language: &str, flags: &[&str], runtime: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (source, hooks) = (folder.path().join("prog.x"), folder.path().join("hooks.c"));
    std::fs::write(&source, PROGRAM).unwrap();
    std::fs::write(&hooks, RUNTIME).unwrap();
    let object = folder.path().join("hooks.o");
    assert!(Command::new("clang-19").arg("-c").arg(&hooks).arg("-o").arg(&object).status().unwrap().success());
    let program = folder.path().join("prog");
    let mut compile = Command::new(if language == "c" { "clang-19" } else { "clang++-19" });
    compile.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-x", language]).args(flags).arg(&source);
    compile.arg("-I").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/include")).arg("-o").arg(&program);
    if runtime {
        compile.args(["-x", "none"]).arg(&object);
    }
    let output = compile.output().unwrap();
    assert!(output.status.success(), "{language} {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_dialect_compiles_and_calls_the_runtime_if_there_is_one() {
    for (language, flags) in [
        ("c", &["-std=c89"][..]),
        ("c", &["-std=c11", "-O2"]),
        ("c", &["-std=c23", "-fPIE", "-pie"]),
        ("c++", &["-std=c++98", "-fno-exceptions"]),
        ("c++", &["-std=c++20", "-O2"]),
    ] {
        assert_eq!(build_and_run(language, flags, true), CALLS, "{language} {flags:?}");
        assert_eq!(build_and_run(language, flags, false), "", "{language} {flags:?}");
    }
}

#[test]
fn disabled_it_is_nothing() {
    for language in ["c", "c++"] {
        assert_eq!(build_and_run(language, &["-DTHREADTALK_DISABLE"], true), "");
    }
}
