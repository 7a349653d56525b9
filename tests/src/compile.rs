//! Compiling a test program, instrumented or not.

use crate::distribution::{Distribution, programs};
use crate::execute::{Finished, Run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Which compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// `threadtalk-cc` or `threadtalk-c++`, by the name of the source.
    Instrumented,
    /// clang alone: what the program does without the tool.
    Native,
}

/// The compiler's command for a source, without arguments.
pub fn compiler(tool: &Distribution, which: Compiler, source: &Path) -> PathBuf {
    let cxx = source.extension().is_some_and(|e| e == "cpp");
    match which {
        Compiler::Instrumented => tool.program(if cxx { "threadtalk-c++" } else { "threadtalk-cc" }),
        Compiler::Native => PathBuf::from(if cxx { "clang++-19" } else { "clang-19" }),
    }
}

/// Compiles `source` into `output` and returns what the compiler said. `flags` come last, so that libraries may be
/// among them.
pub fn compile(
    tool: &Distribution,
    which: Compiler,
    source: &Path,
    output: &Path,
    flags: &[OsString],
) -> std::io::Result<Finished> {
    compile_with(tool, which, source, output, flags, "")
}

/// As [`compile`], with these options of the pass. LLVM's verifier looks at what it makes.
pub fn compile_with(
    tool: &Distribution,
    which: Compiler,
    source: &Path,
    output: &Path,
    flags: &[OsString],
    pass_options: &str,
) -> std::io::Result<Finished> {
    let mut command = Command::new(compiler(tool, which, source));
    command
        .env("THREADTALK_PASS_OPTIONS", format!("verify=1:{pass_options}"))
        .arg("-g")
        // For `-march=native` on processors with AVX10: clang 19 warns of what it has found out itself.
        .arg("-Wno-invalid-feature-combination")
        .arg("-I")
        .arg(tool.include())
        .arg("-I")
        .arg(programs())
        .arg(source)
        .arg("-o")
        .arg(output)
        .args(flags);
    Run::new(command).limit(Duration::from_secs(120)).finish()
}

/// As [`compile`]; panics with the compiler's messages when it fails or when it prints anything.
pub fn compile_silently(tool: &Distribution, which: Compiler, source: &Path, output: &Path, flags: &[&str]) {
    let flags: Vec<OsString> = flags.iter().map(OsString::from).collect();
    let done = compile(tool, which, source, output, &flags).expect("the compiler can be started");
    assert!(done.status.success(), "{} does not compile:\n{}", source.display(), done.stderr_text());
    assert!(done.stdout.is_empty() && done.stderr.is_empty(), "the compiler printed: {}", done.stderr_text());
}
