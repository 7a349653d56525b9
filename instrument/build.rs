//! Compiles the C++ shim against the headers of LLVM 19.

use std::path::PathBuf;
use std::process::Command;

const SOURCES: &[&str] = &[
    "plugin.cpp",
    "alignment.cpp",
    "pointers.cpp",
    "control.cpp",
    "control_flow.cpp",
    "distances.cpp",
    "debug_info.cpp",
    "ignorelist.cpp",
    "loop_accesses.cpp",
    "loop_copies.cpp",
    "nests.cpp",
    "objects.cpp",
    "read_ahead.cpp",
    "searches.cpp",
    "target.cpp",
    "way.cpp",
];

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_SYS_191_PREFIX");
    println!("cargo:rerun-if-changed=shim");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").flag("-fno-rtti").flag("-fno-exceptions").include(include_dir());
    // LLVM's headers are not warning-free; ours are compiled with the same flags.
    build.flag_if_supported("-Wno-unused-parameter").flag_if_supported("-Wno-comment").define("_GNU_SOURCE", None);
    for macro_name in ["__STDC_CONSTANT_MACROS", "__STDC_FORMAT_MACROS", "__STDC_LIMIT_MACROS"] {
        build.define(macro_name, None);
    }
    for source in SOURCES {
        build.file(PathBuf::from("shim").join(source));
    }
    build.compile("threadtalk_shim");
}

/// LLVM's include directory: the prefix that llvm-sys uses too, else what llvm-config says.
fn include_dir() -> PathBuf {
    let mut tools = vec![PathBuf::from("llvm-config-19"), PathBuf::from("llvm-config")];
    if let Some(prefix) = std::env::var_os("LLVM_SYS_191_PREFIX") {
        tools.insert(0, PathBuf::from(prefix).join("bin/llvm-config"));
    }
    for tool in &tools {
        let Ok(output) = Command::new(tool).args(["--version", "--includedir"]).output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines();
        if let (Some(version), Some(dir)) = (lines.next(), lines.next())
            && version.starts_with("19.")
        {
            return PathBuf::from(dir);
        }
    }
    panic!("LLVM 19 not found: install llvm-19-dev, or set LLVM_SYS_191_PREFIX to its prefix (looked for {tools:?})");
}
