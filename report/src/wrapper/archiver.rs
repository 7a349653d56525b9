//! The archivers of the compiler behind the wrappers, under the names by which CMake looks for them beside a compiler
//! called `threadtalk-cc`: it takes `threadtalk-` for the prefix of a tool chain. Projects that ask for link time
//! optimisation (`INTERPROCEDURAL_OPTIMIZATION`) use no other, and older ones cannot read the objects' bitcode.

use super::{Language, compiler};
use crate::error::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// LLVM's name for a program, if it is called as one of its archivers.
pub fn of_program(program: &Path) -> Option<&'static str> {
    match program.file_name()?.to_str()? {
        "threadtalk-llvm-ar" => Some("llvm-ar"),
        "threadtalk-llvm-ranlib" => Some("llvm-ranlib"),
        _ => None,
    }
}

/// Becomes the archiver. Returns only if that fails.
pub fn exec(name: &str, args: Vec<OsString>) -> Error {
    let archiver = match compiler::find(Language::C) {
        Ok(compiler) => beside(&compiler, name),
        Err(error) => return error,
    };
    let error = Command::new(&archiver).args(args).exec();
    Error::file("start the archiver", &archiver, &error)
}

/// What the compiler says; the name alone, to be found in `PATH`, if it says nothing.
fn beside(compiler: &Path, name: &str) -> PathBuf {
    let option = format!("-print-prog-name={name}");
    let told = Command::new(compiler).arg(option).output().map(|out| out.stdout).unwrap_or_default();
    let told = OsString::from_vec(told.trim_ascii().to_vec());
    PathBuf::from(if told.is_empty() { OsStr::new(name) } else { &told })
}
