//! Options, lists and annotations, and what goes wrong with them.

mod support;

use support::{Project, function, must_fail, must_succeed};

const SOURCE: &str =
    "int a; void left(void) { a = 1; } void alone(void) { a = 2; } int main(void) { left(); alone(); }";

fn is_instrumented(ir: &str, name: &str) -> bool {
    function(ir, name).contains("threadtalk")
}

fn error(project: &Project) -> String {
    must_fail(project.clang("clang-19").args(["-c", "a.c", "-o", "a.o"]))
}

#[test]
fn a_bad_option_is_an_error_of_the_compilation_in_one_line() {
    let stderr = error(&Project::new("a.c", SOURCE).options("fast=1"));
    let known = "known: opt, inline_limit, ignorelist, verify, stats, features, control_all, functions";
    assert!(
        stderr.starts_with(&format!("error: threadtalk: THREADTALK_PASS_OPTIONS: unknown option 'fast' ({known})\n")),
        "{stderr}"
    );
    assert!(!stderr.contains("PLEASE submit a bug report"), "{stderr}");
}

#[test]
fn a_missing_ignorelist_is_named() {
    let stderr = error(&Project::new("a.c", SOURCE).options("ignorelist=/does/not/exist"));
    assert!(stderr.starts_with("error: threadtalk: cannot use the ignorelist '/does/not/exist': "), "{stderr}");
    assert!(stderr.contains("No such file"), "{stderr}");
}

#[test]
fn a_broken_ignorelist_is_explained() {
    let project = Project::new("a.c", SOURCE);
    project.add("list", "fun\n");
    let path = project.path("list").display().to_string();
    let stderr = error(&project.options(&format!("ignorelist={path}")));
    assert!(stderr.contains("malformed"), "{stderr}");
}

#[test]
fn ignorelists_name_functions_and_files() {
    for (list, left, alone) in
        [("fun:alo*\n", true, false), ("[threadtalk]\nfun:left\n", false, true), ("src:*/a.c\n", false, false)]
    {
        let project = Project::new("a.c", SOURCE);
        project.add("list", list);
        let path = project.path("list").display().to_string();
        let ir = project.options(&format!("ignorelist={path}")).ir("a.c", &["-O0"]);
        assert_eq!((is_instrumented(&ir, "left"), is_instrumented(&ir, "alone")), (left, alone), "{list}");
    }
}

#[test]
fn annotated_functions_are_left_alone() {
    for attribute in ["annotate(\"threadtalk_ignore\")", "disable_sanitizer_instrumentation"] {
        let source = SOURCE.replace("void alone", &format!("__attribute__(({attribute})) void alone"));
        let ir = Project::new("a.c", &source).ir("a.c", &["-O0"]);
        assert!(is_instrumented(&ir, "left") && !is_instrumented(&ir, "alone"), "{attribute}");
    }
}

#[test]
fn resolvers_and_naked_functions_are_left_alone() {
    let source = "\
int a;
static void one(void) { a = 1; }
static void *resolve(void) { a = 2; return one; }
void chosen(void) __attribute__((ifunc(\"resolve\")));
__attribute__((naked)) void bare(void) { __asm__(\"ret\"); }
int main(void) { chosen(); bare(); }
";
    let ir = Project::new("a.c", source).ir("a.c", &["-O0"]);
    assert!(is_instrumented(&ir, "one") && !is_instrumented(&ir, "resolve") && !is_instrumented(&ir, "bare"));
}

#[test]
fn modules_without_accesses_stay_as_they_are() {
    let ir = Project::new("a.c", "int f(int x) { return x + 1; }").ir("a.c", &["-O1"]);
    assert!(!ir.contains("threadtalk"), "{ir}");
}

#[test]
fn statistics_are_printed_on_request() {
    let project = Project::new("a.c", SOURCE).options("stats=1");
    let output = must_succeed(project.clang("clang-19").args(["-O0", "-c", "a.c", "-o", "a.o"]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("threadtalk: a.c: 2 functions (0 without inlining), 2 events"), "{stderr}");
}

#[test]
fn other_targets_are_refused() {
    let project = Project::new("a.c", SOURCE).flags(&["--target=aarch64-linux-gnu"]);
    let stderr = must_fail(project.clang("clang-19").args(["-S", "-emit-llvm", "a.c", "-o", "a.ll"]));
    assert!(stderr.contains("threadtalk: cannot instrument code for 'aarch64"), "{stderr}");
}
