//! The compiler wrapper: which arguments reach clang, and that its reading of a command line is clang's own.

mod support;

use std::os::unix::process::CommandExt;
use std::process::Command;
use support::{Scratch, assert_error, err, out, tool};
use threadtalk::wrapper::arguments;

/// Arguments of the fake compiler for `threadtalk cc ARGS`.
fn cc(args: &[&str]) -> Vec<String> {
    let scratch = Scratch::new();
    let output = scratch.tool().arg("cc").args(args).output().unwrap();
    assert_eq!((output.status.code(), out(&output), err(&output)), (Some(7), String::new(), String::new()));
    scratch.compiler_args()
}

fn has(args: &[String], start: &str) -> bool {
    args.iter().any(|arg| arg.starts_with(start))
}

#[test]
fn compiling_adds_the_plugin_and_line_tables_and_keeps_the_arguments() {
    let args = cc(&["-O2", "-c", "a b.c", "-o", "a.o"]);
    assert!(has(&args, "-fpass-plugin=") && has(&args, "-gline-tables-only"));
    assert!(!has(&args, "-Xlinker"));
    assert_eq!(args[args.len() - 5..], ["-O2", "-c", "a b.c", "-o", "a.o"]);
}

#[test]
fn a_choice_about_debug_information_is_left_alone() {
    for choice in ["-g", "-g0", "-g3", "-ggdb3", "-gdwarf-4", "-gline-tables-only", "-g1"] {
        assert_eq!(cc(&[choice, "-c", "a.c"]).iter().filter(|arg| arg.starts_with("-g")).count(), 1, "{choice}");
    }
    for other in ["-gz", "-gsplit-dwarf", "-gno-column-info"] {
        assert!(cc(&[other, "-c", "a.c"]).contains(&"-gline-tables-only".to_string()), "{other}");
    }
}

#[test]
fn executables_get_the_runtime_and_libraries_do_not() {
    let runtime = |args: &[&str]| cc(args).iter().any(|arg| arg.ends_with("libthreadtalk_rt.a"));
    assert!(runtime(&["a.c"]));
    assert!(runtime(&["a.o", "-o", "prog"]));
    assert!(!runtime(&["-shared", "a.o", "-o", "liba.so"]));
    assert!(!runtime(&["-r", "a.o", "b.o", "-o", "ab.o"]));
    assert!(!runtime(&["-c", "a.c"]));
}

#[test]
fn a_static_executable_gets_the_runtime_that_needs_no_dynamic_linker() {
    for option in ["-static", "-static-pie"] {
        let args = cc(&[option, "a.o"]);
        assert!(args.iter().any(|arg| arg.ends_with("libthreadtalk_rt_static.a")), "{args:?}");
        assert!(!args.iter().any(|arg| arg.ends_with("libthreadtalk_rt.a") || arg.starts_with("--export")), "{args:?}");
        assert!(args.windows(2).any(|pair| pair == ["-Xlinker", "--wrap=free"]), "{args:?}");
    }
    assert!(!has(&cc(&["-static", "-c", "a.c"]), "-Xlinker"));
}

#[test]
fn static_executables_get_the_runtime_that_the_linker_puts_before_the_c_library() {
    for option in ["-static", "-static-pie"] {
        let args = cc(&[option, "a.o"]);
        assert!(args.iter().any(|arg| arg.ends_with("libthreadtalk_rt_static.a")));
        assert!(args.windows(2).any(|pair| pair == ["-Xlinker", "--wrap=fork"]));
        assert!(!has(&args, "--dynamic-list"));
    }
}

#[test]
fn a_library_that_must_not_have_undefined_symbols_may_miss_the_hooks() {
    let args = cc(&["-shared", "a.o", "-Wl,-z,defs", "--", "b.o"]);
    let end = args.len() - 2;
    assert_eq!(args[end..], ["--", "b.o"]);
    assert_eq!(args[end - 4..end], ["-Xlinker", "-z", "-Xlinker", "undefs"]);
    assert!(!cc(&["-shared", "a.o"]).contains(&"undefs".to_string()));
}

#[test]
fn questions_reach_the_compiler_as_they_are() {
    for question in ["--version", "-dumpmachine", "-print-search-dirs", "--help", "-v"] {
        assert_eq!(cc(&[question]), [question]);
    }
    assert_eq!(cc(&["-E", "a.c"]), ["-E", "a.c"]);
}

#[test]
fn switched_off_it_is_the_plain_compiler() {
    let scratch = Scratch::new();
    scratch.tool().env("THREADTALK_WRAPPER", "off").args(["cc", "-O1", "a.c", "--threadtalk-x=1"]).output().unwrap();
    assert_eq!(scratch.compiler_args(), ["-O1", "a.c"]);
}

#[test]
fn the_name_of_the_executable_chooses_the_language() {
    for name in ["threadtalk-cc", "threadtalk-c++", "threadtalk-fc"] {
        let scratch = Scratch::new();
        let mut command = scratch.tool();
        command.arg0(format!("/usr/bin/{name}")).args(["-c", "a.c"]);
        assert_eq!(command.output().unwrap().status.code(), Some(7), "{name}");
        // Flang's driver does not know the brackets.
        assert_eq!(has(&scratch.compiler_args(), "--start-no-unused-arguments"), name != "threadtalk-fc", "{name}");
    }
}

#[test]
fn options_of_the_pass_travel_in_the_environment() {
    let scratch = Scratch::new();
    let list = scratch.file("list.txt", "fun:hot_*\n");
    let ignore = format!("--ignorelist={}", list.display());
    let mut command = scratch.tool();
    command
        .env("THREADTALK_PASS_OPTIONS", "a=0")
        .args(["cc", "-c", "a.c", &ignore, "--threadtalk-loops=off", "--threadtalk=control,cache"])
        .output()
        .unwrap();
    assert_eq!(scratch.pass_options(), format!("a=0:ignorelist={}:loops=off:features=control,cache", list.display()));
    assert!(!has(&scratch.compiler_args(), "--ignorelist"));
}

#[test]
fn mistakes_in_the_pass_options_are_told() {
    let scratch = Scratch::new();
    let run = |arg: &str| scratch.tool().args(["cc", "-c", "a.c", arg]).output().unwrap();
    assert_error(&run("--threadtalk-loops"), 2, &["option without a value: --threadtalk-loops; write it as"]);
    let features = &["unknown feature: --threadtalk=flow; there are memory (who communicates with whom), control"];
    assert_error(&run("--threadtalk=memory,flow"), 2, features);
    assert_error(&run("--ignorelist=a:b"), 2, &["option with a colon in its value: --ignorelist=a:b; "]);
    assert_error(&run("--ignorelist=no.txt"), 1, &["cannot read the ignorelist: no.txt; there is no such file"]);
}

#[test]
fn missing_parts_are_named() {
    let scratch = Scratch::new();
    let run = |args: &[&str]| scratch.tool().arg("cc").args(args).output().unwrap();
    std::fs::remove_file(scratch.path("lib/threadtalk/libthreadtalk_rt.syms")).unwrap();
    assert_error(&run(&["a.o"]), 1, &["list of exported names not found: "]);
    std::fs::remove_file(scratch.path("lib/threadtalk/libthreadtalk_rt_static.wrap")).unwrap();
    assert_error(&run(&["-static", "a.o"]), 1, &["list of wrapped names not found: "]);
    std::fs::remove_file(scratch.path("lib/threadtalk/libthreadtalk_rt.a")).unwrap();
    assert_error(
        &run(&["a.o"]),
        1,
        &["runtime library not found: ", "libthreadtalk_rt.a; build it with scripts/build.sh"],
    );
    std::fs::remove_file(scratch.path("lib/threadtalk/libthreadtalk_pass.so")).unwrap();
    assert_error(&run(&["-c", "a.c"]), 1, &["compiler plugin not found: ", "set THREADTALK_HOME"]);
}

#[test]
fn missing_compilers_are_named() {
    let scratch = Scratch::new();
    let output = scratch.tool().env("THREADTALK_CC", "/no/clang").args(["cc", "a.c"]).output().unwrap();
    assert_error(
        &output,
        1,
        &["THREADTALK_CC names no program: /no/clang; set it to an LLVM 19 compiler such as clang-19"],
    );
    let broken = scratch.script("broken", "");
    std::fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    let output = scratch.tool().env("THREADTALK_CC", &broken).args(["cc", "a.c"]).output().unwrap();
    assert_error(&output, 1, &["cannot start the compiler: ", "broken; there is no such file or folder"]);
}

/// What clang would do, told by the jobs that it lists for `-###`.
fn clangs_view(clang: &str, args: &[&str]) -> (bool, bool) {
    let output = Command::new(clang).arg("-###").args(args).output().unwrap();
    let text = err(&output);
    let jobs: Vec<&str> = text.lines().filter(|line| line.starts_with(" \"")).collect();
    let compiles = |job: &&&str| {
        job.contains("\"-cc1\"")
            && !["\"-E\"", "\"-fsyntax-only\"", "\"-Eonly\"", "\"-emit-pch\"", "\"-analyze\""]
                .iter()
                .any(|no| job.contains(no))
    };
    let links = |job: &&&str| {
        job.contains("crt1.o")
            || job.contains("crtbegin")
            || (job.contains("-dynamic-linker") && !job.contains("\"-shared\""))
    };
    let links = jobs.iter().find(links).is_some_and(|job| !job.contains("\"-shared\"") && !job.contains("\"-r\""));
    (jobs.iter().any(|job| compiles(&job)), links)
}

#[test]
fn command_lines_are_read_as_clang_reads_them() {
    let Some(clang) =
        ["clang-19", "/usr/lib/llvm-19/bin/clang"].into_iter().find(|c| Command::new(c).arg("-v").output().is_ok())
    else {
        panic!("clang-19 is needed: install the package clang-19");
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.c", "b.cpp", "c.s", "d.S", "e.o", "f.a", "g.h", "h.so", "i.i", "j.ll", "noext", "k.hpp"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    std::fs::write(folder.path().join("args.rsp"), "-c -o 'x y.o' a.c").unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    for line in [
        "a.c",
        "-c a.c",
        "a.c -c",
        "-S a.c",
        "-E a.c",
        "-M a.c",
        "-MM a.c",
        "-MMD -MF dep a.c",
        "-MD -MT x -MQ y -c a.c",
        "-fsyntax-only a.c",
        "e.o -o prog",
        "e.o f.a -lm",
        "e.o -l m",
        "-shared e.o -o l.so",
        "-shared -fPIC a.c",
        "-r e.o -o r.o",
        "-nostdlib -r e.o",
        "-c c.s",
        "c.s",
        "d.S -c",
        "d.S",
        "a.c c.s",
        "g.h",
        "-x c-header g.h",
        "k.hpp",
        "-x c -c -",
        "-x c - -o x",
        "-xc -E -",
        "-x c++ noext -c",
        "-x c a.c -x none e.o",
        "noext",
        "-I a.c -c b.cpp",
        "-o a.c e.o",
        "-include g.h -c a.c",
        "-D a.c e.o",
        "-Xlinker a.c e.o",
        "-Xclang -disable-llvm-passes -c a.c",
        "-mllvm -inline-threshold=1 -c a.c",
        "-T g.h e.o",
        "-u sym e.o",
        "-e main e.o",
        "-z now e.o",
        "-target x86_64-linux-gnu -c a.c",
        "--sysroot / e.o",
        "--param ssp-buffer-size=4 -c a.c",
        "-isystem . -c a.c",
        "-iquote . a.c",
        "@args.rsp",
        "-flto -c a.c",
        "-flto a.c",
        "-O2 -g -pthread a.c -o p",
        "-static e.o",
        "-static-pie e.o",
        "-emit-llvm -c a.c",
        "-emit-llvm -S a.c",
        "j.ll -c",
        "i.i",
        "-save-temps -c a.c",
        "-Wl,-soname,x -shared e.o",
        "-dM -E -x c /dev/null",
        "--version a.c",
        "-dumpmachine",
        "-print-file-name=libc.so",
        "--print-prog-name=ld",
        "-v",
        "-fopenmp a.c",
        "-framework x e.o",
        "-rpath /x e.o",
        "--compile a.c",
        "--shared e.o",
        "-c -- a.c",
        "-- a.c",
        "-Xassembler -x -c c.s",
        "-L . e.o",
        "-B . e.o",
        "-idirafter . -c a.c",
        "-MJ j.json -c a.c",
        "-working-directory . -c a.c",
        "-dumpdir d -c a.c",
        "-fuse-ld=lld e.o",
        "-Wl,a.c e.o",
        "--analyze a.c",
        "-imacros g.h -c a.c",
        "-A x=y -c a.c",
        "-U X -c a.c",
        "-G 8 -c a.c",
        "-F . -c a.c",
        "-iprefix . -iwithprefix . -c a.c",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let owned: Vec<std::ffi::OsString> = args.iter().map(Into::into).collect();
        let request = arguments::read(&threadtalk::wrapper::response::expand(&owned));
        assert_eq!((request.compiles, request.links_executable), clangs_view(clang, &args), "{line}");
    }
}

#[test]
fn the_wrapper_works_without_any_argument_as_the_compiler_does() {
    let output = tool().args(["cc"]).output().unwrap();
    assert!(err(&output).contains("no input files"), "{}", err(&output));
    assert_eq!(output.status.code(), Some(1));
}
