//! What a compiler command line asks for, as far as the wrapper must know: does it compile, does it link an executable?
//!
//! Parsed as clang's driver does, by its table of options that take a separate value; a differential test in
//! `tests/wrapper.rs` holds the outcome against `clang -###`.

use std::ffi::OsString;

/// What the command line asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// At least one input goes through the optimiser.
    pub compiles: bool,
    /// An executable is linked.
    pub links_executable: bool,
    /// A shared library is linked.
    pub links_shared: bool,
    /// It is linked with the C library's archive.
    pub is_static: bool,
    /// The user decided about debug information.
    pub debug_chosen: bool,
    /// The linker is told to refuse undefined symbols in shared libraries.
    pub refuses_undefined: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// `--version`, `-print-...`: clang answers and ends.
    Question,
    /// `-E`, `-M`, `-fsyntax-only`: ends before code generation.
    Parse,
    /// `-c`, `-S`, `-emit-llvm`.
    Compile,
    Link,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Source,
    Header,
    Assembly,
    Linkable,
}

/// Reads a command line without its program name, response files expanded.
pub fn read(args: &[OsString]) -> Request {
    let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let mut request = Request::default();
    let mut phase = Phase::Link;
    let mut inputs = Vec::new();
    let mut language: Option<Input> = None;
    let (mut shared, mut relocatable) = (false, false);
    let mut linker_args = Vec::new();
    let mut i = 0;
    while i < args.len() {
        let arg = &*args[i];
        i += 1;
        let value = args.get(i).map_or("", |next| &**next);
        match arg {
            "--" => {
                inputs.extend(args[i..].iter().map(|name| language.unwrap_or_else(|| by_extension(name))));
                break;
            }
            "-c" | "--compile" | "-S" | "--assemble" => phase = phase.min(Phase::Compile),
            "-E"
            | "--preprocess"
            | "-M"
            | "--dependencies"
            | "-MM"
            | "--user-dependencies"
            | "-fsyntax-only"
            | "--analyze"
            | "-emit-ast"
            | "--precompile"
            | "-verify-pch"
            | "-rewrite-objc"
            | "-emit-interface-stubs"
            | "-module-file-info" => {
                phase = phase.min(Phase::Parse);
            }
            "--version" | "-dumpmachine" | "-dumpversion" | "-help" | "--help" | "--help-hidden" => {
                phase = Phase::Question
            }
            _ if arg.starts_with("-print-") || arg.starts_with("--print-") || arg.starts_with("--autocomplete=") => {
                phase = Phase::Question;
            }
            "-shared" | "--shared" => shared = true,
            "-static" | "--static" | "-static-pie" => request.is_static = true,
            "-r" => relocatable = true,
            "-x" => {
                language = by_language(value);
                i += 1;
            }
            "-Xlinker" => {
                linker_args.push(value.to_string());
                i += 1;
            }
            "-z" => {
                linker_args.extend(["-z".to_string(), value.to_string()]);
                i += 1;
            }
            _ if arg.starts_with("-Wl,") => linker_args.extend(arg[4..].split(',').map(str::to_string)),
            _ if arg.starts_with("-x") => language = by_language(&arg[2..]),
            // A library is an input of the linker, also after `-x`.
            "-l" => {
                inputs.push(Input::Linkable);
                i += 1;
            }
            _ if arg.starts_with("-l") => inputs.push(Input::Linkable),
            _ if chooses_debug(arg) => request.debug_chosen = true,
            _ if takes_value(arg) => i += 1,
            _ if arg.starts_with('-') && arg != "-" => {}
            _ => inputs.push(language.unwrap_or_else(|| by_extension(arg))),
        }
    }
    shared |= linker_args.iter().any(|arg| matches!(&**arg, "-shared" | "--shared" | "-Bshareable"));
    relocatable |= linker_args.iter().any(|arg| matches!(&**arg, "-r" | "-i" | "--relocatable"));
    request.refuses_undefined =
        linker_args.iter().any(|arg| arg == "--no-undefined" || arg == "-no-undefined" || arg == "-zdefs")
            || linker_args.windows(2).any(|pair| pair[0] == "-z" && pair[1] == "defs");
    request.compiles = phase >= Phase::Compile && inputs.contains(&Input::Source);
    // A header alone is precompiled, and nothing is linked.
    let links = phase == Phase::Link && inputs.iter().any(|input| *input != Input::Header) && !relocatable;
    request.links_executable = links && !shared;
    request.links_shared = links && shared;
    request
}

fn chooses_debug(arg: &str) -> bool {
    let Some(rest) = arg.strip_prefix("-g") else { return false };
    matches!(rest, "" | "0" | "1" | "2" | "3" | "mlt" | "full" | "used" | "line-tables-only" | "line-directives-only")
        || ["gdb", "dwarf", "lldb", "sce", "dbx", "codeview"].iter().any(|kind| rest.starts_with(kind))
}

fn by_language(name: &str) -> Option<Input> {
    match name {
        "none" => None,
        "assembler" | "assembler-with-cpp" => Some(Input::Assembly),
        _ if name.ends_with("-header") || name.ends_with("-system-header") || name.ends_with("-header-unit") => {
            Some(Input::Header)
        }
        _ => Some(Input::Source),
    }
}

fn by_extension(name: &str) -> Input {
    let name = name.rsplit('/').next().unwrap_or(name);
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        _ if name == "-" => Input::Source,
        "c" | "i" | "ii" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "CXX" | "CC" | "c++" | "C++" | "C" | "m" | "mi"
        | "mm" | "mii" | "M" | "cu" | "cui" | "hip" | "cl" | "clcpp" | "ll" | "bc" | "cppm" | "ccm" | "cxxm"
        | "c++m" | "iim" | "ixx" | "pcm" | "f" | "F" | "for" | "FOR" | "fpp" | "FPP" | "f90" | "F90" | "f95"
        | "F95" | "f03" | "F03" | "f08" | "F08" => Input::Source,
        "h" | "hh" | "hp" | "hxx" | "hpp" | "h++" | "H" | "HPP" | "tcc" => Input::Header,
        "s" | "S" | "sx" | "asm" => Input::Assembly,
        _ => Input::Linkable,
    }
}

/// Options whose value is the next argument. Those that may also be joined to it (`-Idir`) are here as they stand
/// alone.
fn takes_value(arg: &str) -> bool {
    const SEPARATE: &[&str] = &[
        "-o",
        "--output",
        "-I",
        "--include-directory",
        "-D",
        "--define-macro",
        "-U",
        "--undefine-macro",
        "-L",
        "--library-directory",
        "-F",
        "-B",
        "--prefix",
        "-T",
        "-Tbss",
        "-Tdata",
        "-Ttext",
        "-u",
        "--force-link",
        "-e",
        "--entry",
        "-A",
        "-G",
        "-J",
        "-include",
        "--include",
        "-imacros",
        "--imacros",
        "-include-pch",
        "-isystem",
        "-isystem-after",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-iwithsysroot",
        "-isysroot",
        "-iframework",
        "-iframeworkwithsysroot",
        "-cxx-isystem",
        "-c-isystem",
        "-ivfsoverlay",
        "-imultilib",
        "-MF",
        "-MT",
        "-MQ",
        "-MJ",
        "-dependency-file",
        "-serialize-diagnostics",
        "--serialize-diagnostics",
        "-dumpdir",
        "--dumpdir",
        "-Xclang",
        "-Xassembler",
        "-Xpreprocessor",
        "-Xanalyzer",
        "-Xflang",
        "-Xopenmp-target",
        "-Xcuda-fatbinary",
        "-Xcuda-ptxas",
        "-Xoffload-linker",
        "-Xarch_host",
        "-Xarch_device",
        "-Xmicrosoft-visualc-tools-root",
        "-mllvm",
        "-mmlir",
        "-mthread-model",
        "-meabi",
        "-arch",
        "-target",
        "--sysroot",
        "-framework",
        "-weak_framework",
        "-rpath",
        "-install_name",
        "-current_version",
        "-compatibility_version",
        "-exported_symbols_list",
        "-unexported_symbols_list",
        "-undefined",
        "-bundle_loader",
        "-force_load",
        "-filelist",
        "-working-directory",
        "--working-directory",
        "--config",
        "-module-dependency-dir",
        "-fmodules-user-build-path",
        "--param",
        "-iapinotes-modules",
        "-module-dir",
        "-ccc-gcc-name",
        "-ccc-install-dir",
        "--assert",
        "--for-linker",
    ];
    SEPARATE.contains(&arg) || arg.starts_with("-Xarch_") || arg.starts_with("-Xopenmp-target=")
}
