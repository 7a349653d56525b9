//! Shared and static libraries, instrumented.

use std::process::Command;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::execute::Run;
use threadtalk_tests::scene::Scene;

const N: i64 = 100;

fn with_library() -> Scene {
    let scene = Scene::new();
    scene.compile(Compiler::Instrumented, "shared_half.c", "libhalf.so", &["-shared", "-fPIC"]);
    scene
}

#[test]
fn a_linked_shared_library_counts_under_its_own_functions() {
    let scene = with_library();
    let folder = scene.path("");
    let search = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    scene.compile(Compiler::Instrumented, "uses_library.c", "program", &[&search, "-lhalf", &path]);
    assert_eq!(scene.profile("p.ttp").ending(), "exit 0");
    let report = scene.report("p.ttp");
    assert_eq!(report.total("total_raw", 1, 2), N);
    assert_eq!(report.total("total_raw", 3, 4), N);
    let regions = report.regions();
    assert!(
        regions.iter().any(|r| r["name"] == "library_take" && r["file"].as_str().unwrap().ends_with("shared_half.c"))
    );
}

#[test]
fn a_loaded_library_counts_after_each_load() {
    let scene = with_library();
    scene.compile(Compiler::Instrumented, "loads_library.c", "program", &[]);
    let mut command = scene.command("program");
    command.arg(scene.path("libhalf.so")).env("THREADTALK_OUT", scene.path("p.ttp"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    let report = scene.report("p.ttp");
    assert_eq!(report.threads(), 7);
    for writer in [1, 3, 5] {
        assert_eq!(report.total("total_raw", writer, writer + 1), N, "from {writer}");
    }
}

/// The functions that instrumented code calls keep all registers; a call that is bound when it is first made loses r10.
#[test]
fn the_preloaded_runtime_binds_its_calls_when_it_is_loaded() {
    let library = Scene::new().tool().root().join("lib/threadtalk/libthreadtalk_rt.so");
    let sections = Command::new("readelf").args(["--dynamic", "--wide"]).arg(library).output().unwrap();
    let sections = String::from_utf8(sections.stdout).unwrap();
    assert!(sections.lines().any(|line| line.contains("(FLAGS_1)") && line.contains("NOW")), "{sections}");
}

#[test]
fn an_instrumented_library_works_in_a_program_that_is_not() {
    let scene = with_library();
    let folder = scene.path("");
    let search = format!("-L{}", folder.display());
    let path = format!("-Wl,-rpath,{}", folder.display());
    // The library's runtime comes at run time: the linker of a program that knows nothing of it cannot find it.
    let flags = [&search, "-lhalf", &path, "-Wl,--allow-shlib-undefined"];
    scene.compile(Compiler::Native, "uses_library.c", "program", &flags);
    let mut command = scene.command("program");
    command.env("LD_PRELOAD", scene.tool().root().join("lib/threadtalk/libthreadtalk_rt.so"));
    command.env("THREADTALK_OUT", scene.path("p.ttp"));
    let done = Run::new(command).finish().unwrap();
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    assert_eq!(scene.report("p.ttp").total("total_raw", 3, 4), N);
}

#[test]
fn a_native_library_is_no_communication() {
    let scene = Scene::new();
    scene.compile(Compiler::Native, "shared_half.c", "libhalf.so", &["-shared", "-fPIC"]);
    scene.compile(Compiler::Instrumented, "loads_library.c", "program", &[]);
    let mut command = scene.command("program");
    command.arg(scene.path("libhalf.so")).env("THREADTALK_OUT", scene.path("p.ttp"));
    assert_eq!(Run::new(command).finish().unwrap().ending(), "exit 0");
    let report = scene.report("p.ttp");
    assert_eq!(report.total("total_raw", 1, 2), N);
    assert_eq!(report.total("total_raw", 3, 4), 0);
}

#[test]
fn a_static_executable_is_profiled() {
    let scene = Scene::with("hand_over.c", &["-static"]);
    let done = scene.profile("p.ttp");
    assert_eq!(done.ending(), "exit 42", "{}", done.stderr_text());
    assert_eq!(scene.report("p.ttp").total("total_raw", 1, 2), N);
}

#[test]
fn strip_and_link_time_optimisation_keep_regions_and_lines() {
    for flags in [&["-flto"][..], &["-flto=thin"], &["-fno-pie", "-no-pie"], &["-fuse-ld=lld"], &["-Wl,--gc-sections"]]
    {
        let scene = Scene::new();
        if flags[0] == "-fuse-ld=lld" && Command::new("ld.lld-19").arg("--version").output().is_err() {
            continue;
        }
        scene.compile(Compiler::Instrumented, "hand_over.c", "program", flags);
        let stripped = Command::new("strip").arg(scene.path("program")).status().unwrap();
        assert!(stripped.success());
        assert_eq!(scene.profile("p.ttp").ending(), "exit 42", "{flags:?}");
        let report = scene.report("p.ttp");
        assert_eq!(report.total("total_raw", 1, 2), N, "{flags:?}");
        let take = report.regions().iter().find(|r| r["name"] == "take" && r["kind"] == "function");
        let take = take.unwrap_or_else(|| panic!("{flags:?}: no region take"));
        assert!(take["file"].as_str().unwrap().ends_with("handover.h") && take["line"].as_u64().unwrap() > 0, "{take}");
    }
}
