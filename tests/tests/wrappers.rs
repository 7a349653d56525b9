//! The compiler wrappers as CC and CXX of build systems that know nothing of them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use threadtalk_tests::distribution::programs;
use threadtalk_tests::execute::{Finished, Run};
use threadtalk_tests::scene::Scene;

const N: i64 = 100;

/// The project of `programs/special/project`, copied into the scene.
fn project() -> Scene {
    let scene = Scene::new();
    for entry in std::fs::read_dir(programs().join("special/project")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), scene.path(entry.file_name())).unwrap();
    }
    scene
}

/// A command of the machine in the scene's folder, with the wrappers as compilers.
fn build(scene: &Scene, program: impl AsRef<OsStr>, arguments: &[&str]) -> Finished {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(scene.path(""));
    command.env("CC", scene.tool().program("threadtalk-cc")).env("CXX", scene.tool().program("threadtalk-c++"));
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "THREADTALK_WRAPPER"] {
        command.env_remove(variable);
    }
    Run::new(command).limit(Duration::from_secs(120)).finish().unwrap()
}

fn cc(scene: &Scene, arguments: &[&str]) -> Finished {
    build(scene, scene.tool().program("threadtalk-cc"), arguments)
}

/// clang itself with the same arguments.
fn clang(scene: &Scene, arguments: &[&str]) -> Finished {
    build(scene, "clang-19", arguments)
}

fn counts_are_right(scene: &Scene, program: impl AsRef<Path>) {
    let mut command = scene.command(program);
    command.env("THREADTALK_OUT", scene.path("p.ttp"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stdout_text().trim()), ("exit 0", "4950"), "{}", done.stderr_text());
    let report = scene.report("p.ttp");
    let take = report.regions().iter().find(|r| r["name"] == "add_shared" && r["kind"] == "function");
    assert!(take.unwrap()["file"].as_str().unwrap().ends_with("shared.c"));
    assert_eq!(report.total("total_raw", 1, 2), N);
}

#[test]
fn make_builds_static_and_shared_libraries() {
    let scene = project();
    let done = build(&scene, "make", &["-e"]);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    assert_eq!(done.stderr_text(), "");
    for dependencies in ["static.d", "shared.d"] {
        assert!(std::fs::read_to_string(scene.path(dependencies)).unwrap().contains("numbers.h"), "{dependencies}");
    }
    counts_are_right(&scene, "program");
}

#[test]
fn make_with_link_time_optimisation_counts_the_same() {
    let scene = project();
    let done = build(&scene, "make", &["-e", "CFLAGS=-O2 -g -flto", "CXXFLAGS=-O2 -g -flto", "AR=llvm-ar-19"]);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    counts_are_right(&scene, "program");
}

/// Whether there is a CMake: then the project is built by it in `build`, with these options.
fn cmake(scene: &Scene, options: &[&str]) -> bool {
    if Command::new("cmake").arg("--version").output().is_err() {
        eprintln!("no cmake on this machine: nothing to test");
        return false;
    }
    let configured = build(scene, "cmake", &[&["-S", ".", "-B", "build"], options].concat());
    assert_eq!(configured.ending(), "exit 0", "{}", configured.stderr_text());
    assert!(configured.stdout_text().contains("Clang 19"), "{}", configured.stdout_text());
    let built = build(scene, "cmake", &["--build", "build"]);
    assert_eq!(built.ending(), "exit 0", "{}{}", built.stdout_text(), built.stderr_text());
    true
}

#[test]
fn cmake_accepts_the_wrappers() {
    let scene = project();
    if cmake(&scene, &["-DCMAKE_BUILD_TYPE=RelWithDebInfo"]) {
        counts_are_right(&scene, "build/program");
    }
}

/// CMake then uses no archiver but that of the compiler's tool chain.
#[test]
fn cmake_with_link_time_optimisation_counts_the_same() {
    let scene = project();
    if cmake(&scene, &["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"]) {
        let cache = std::fs::read_to_string(scene.path("build/CMakeCache.txt")).unwrap();
        assert!(cache.contains("/threadtalk-llvm-ar\n"), "{cache}");
        counts_are_right(&scene, "build/program");
    }
}

#[test]
fn archivers_are_those_of_the_compiler() {
    let scene = Scene::new();
    let version = |program: &std::ffi::OsStr| build(&scene, program, &["--version"]);
    for (ours, llvms) in [("threadtalk-llvm-ar", "llvm-ar-19"), ("threadtalk-llvm-ranlib", "llvm-ranlib-19")] {
        let (ours, llvms) = (version(scene.tool().program(ours).as_os_str()), version(llvms.as_ref()));
        assert_eq!((ours.ending(), ours.stdout_text()), (llvms.ending(), llvms.stdout_text()));
    }
    let mut command = Command::new(scene.tool().program("threadtalk-llvm-ar"));
    command.env("THREADTALK_CC", "/nowhere/clang");
    let done = Run::new(command).finish().unwrap();
    assert_eq!(done.ending(), "exit 1");
    assert!(done.stderr_text().contains("THREADTALK_CC names no program"), "{}", done.stderr_text());
}

#[test]
fn probes_get_what_clang_gives() {
    let scene = Scene::new();
    std::fs::write(scene.path("conftest.c"), "int main(void) { return 0; }\n").unwrap();
    std::fs::write(scene.path("broken.c"), "int main(void) { return undeclared; }\n").unwrap();
    for arguments in [
        &["--version"][..],
        &["-v"],
        &["-dumpmachine"],
        &["-print-prog-name=ld"],
        &["-print-search-dirs"],
        &["-E", "conftest.c"],
        &["-E", "-dM", "conftest.c"],
        &["-M", "conftest.c"],
        &["-fsyntax-only", "conftest.c"],
        &["-fsyntax-only", "-Werror", "-Wall", "-Wextra", "conftest.c"],
        &["-c", "broken.c"],
        &["-c", "missing.c"],
        &["-fno-such-option", "conftest.c"],
        &[],
    ] {
        let (wrapped, plain) = (cc(&scene, arguments), clang(&scene, arguments));
        assert_eq!(wrapped.ending(), plain.ending(), "{arguments:?}: {}", wrapped.stderr_text());
        assert_eq!(wrapped.stdout_text(), plain.stdout_text(), "{arguments:?}");
        // clang -v tells its options and its own path, which differ.
        let told = |done: &Finished| {
            done.stderr_text().lines().filter(|l| l.contains("error:")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(told(&wrapped), told(&plain), "{arguments:?}");
    }
}

#[test]
fn configure_probes_are_silent_and_run() {
    let scene = Scene::new();
    std::fs::write(
        scene.path("conftest.c"),
        "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"out\", \"w\"); return !f; }\n",
    )
    .unwrap();
    for arguments in [
        &["conftest.c"][..],
        &["-o", "conftest", "-g", "-O2", "-Werror", "-Wall", "-Wextra", "-pedantic", "conftest.c"],
        &["-o", "conftest", "-fPIC", "-fopenmp", "conftest.c", "-lm", "-lpthread"],
        &["-o", "conftest", "-Wl,--as-needed", "-Wl,-z,now", "-Wl,--no-undefined", "conftest.c"],
        &["-x", "c", "-std=c99", "-o", "conftest", "conftest.c"],
    ] {
        let done = cc(&scene, arguments);
        assert_eq!((done.ending().as_str(), done.stderr_text().as_str()), ("exit 0", ""), "{arguments:?}");
        assert!(done.stdout.is_empty());
    }
    let mut command = scene.command("conftest");
    command.env("THREADTALK_OPTIONS", "quiet=1");
    let done = Run::new(command).finish().unwrap();
    assert_eq!((done.ending().as_str(), done.stderr_text().as_str()), ("exit 0", ""));
}

#[test]
fn a_function_that_is_not_there_is_not_found_by_a_probe() {
    let scene = Scene::new();
    // The way autoconf asks whether a library function exists.
    let probe = |function: &str| {
        let text = format!("char {function}(void);\nint main(void) {{ return {function}(); }}\n");
        std::fs::write(scene.path("conftest.c"), text).unwrap();
        cc(&scene, &["-Wno-builtin-requires-header", "-o", "conftest", "conftest.c"]).ending()
    };
    assert_eq!(probe("getpid"), "exit 0");
    assert_eq!(probe("no_such_function_anywhere"), "exit 1");
}

#[test]
fn assembly_bitcode_and_precompiled_headers_come_out() {
    let scene = Scene::new();
    std::fs::write(scene.path("a.c"), "int x; int f(int *p) { return *p; }\n").unwrap();
    std::fs::write(scene.path("a.h"), "int x;\n").unwrap();
    assert_eq!(cc(&scene, &["-O2", "-S", "a.c"]).ending(), "exit 0");
    let assembly = std::fs::read_to_string(scene.path("a.s")).unwrap();
    assert!(assembly.contains("threadtalk.gate.read4"), "the assembly is not instrumented");
    assert_eq!(cc(&scene, &["-c", "a.s"]).ending(), "exit 0");
    assert_eq!(cc(&scene, &["-O2", "-S", "-emit-llvm", "a.c"]).ending(), "exit 0");
    assert!(std::fs::read_to_string(scene.path("a.ll")).unwrap().contains("threadtalk.gate.read4"));
    assert_eq!(cc(&scene, &["-x", "c-header", "a.h", "-o", "a.h.pch"]).ending(), "exit 0");
    assert_eq!(cc(&scene, &["-r", "a.o", "-o", "both.o"]).ending(), "exit 0");
    let done = cc(&scene, &["-c", "-o", "-", "a.c"]);
    assert_eq!(done.ending(), clang(&scene, &["-c", "-o", "-", "a.c"]).ending());
}

#[test]
fn the_wrapper_can_be_switched_off() {
    let scene = Scene::new();
    std::fs::write(scene.path("a.c"), "int f(int *p) { return *p; }\n").unwrap();
    let mut command = Command::new(scene.tool().program("threadtalk-cc"));
    command.args(["-O2", "-S", "a.c", "-o", "off.s"]).current_dir(scene.path("")).env("THREADTALK_WRAPPER", "off");
    assert_eq!(Run::new(command).finish().unwrap().ending(), "exit 0");
    assert!(!std::fs::read_to_string(scene.path("off.s")).unwrap().contains("__threadtalk"));
}

#[test]
fn plain_clang_works_with_what_the_tool_prints() {
    let scene = project();
    let print = |what: &str| {
        let done = scene.threadtalk(&["print", what]);
        assert_eq!(done.ending(), "exit 0", "print {what}: {}", done.stderr_text());
        done.stdout_text().trim().to_owned()
    };
    let script = format!(
        "set -e; plugin=-fpass-plugin={}; clang-19 $plugin -O2 -g -c static.c shared.c; \
         clang++-19 $plugin -O2 -g main.cpp static.o shared.o -o program {}",
        print("plugin"),
        print("ldflags")
    );
    let done = build(&scene, "sh", &["-c", &script]);
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    counts_are_right(&scene, "program");
}
