//! The compiler wrapper: clang with the pass plugin, and with the runtime where it links an executable.
//!
//! It prints nothing of its own and replaces itself by the compiler, so that configure scripts, CMake and make see
//! clang's output, exit status and signals. `THREADTALK_WRAPPER=off` makes it plain clang.

pub mod archiver;
pub mod arguments;
pub mod command;
pub mod compiler;
pub mod response;

use crate::error::Error;
use crate::install::Installation;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// What is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// clang
    C,
    /// clang++
    Cxx,
    /// flang
    Fortran,
}

impl Language {
    /// The language of a wrapper by the name of its executable, if it is one.
    pub fn of_program(program: &Path) -> Option<Self> {
        match program.file_name()?.to_str()? {
            "threadtalk-cc" => Some(Self::C),
            "threadtalk-c++" => Some(Self::Cxx),
            "threadtalk-fc" => Some(Self::Fortran),
            _ => None,
        }
    }
}

/// Becomes the compiler. Returns only if that fails.
pub fn exec(language: Language, args: Vec<OsString>) -> Error {
    let prepared = match prepare(language, args) {
        Ok(prepared) => prepared,
        Err(error) => return error,
    };
    let mut command = Command::new(&prepared.compiler);
    command.args(&prepared.args);
    if let Some(options) = &prepared.pass_options {
        command.env(command::PASS_OPTIONS, options);
    }
    let error = command.exec();
    Error::file("start the compiler", &prepared.compiler, &error)
}

fn prepare(language: Language, args: Vec<OsString>) -> crate::error::Result<command::Prepared> {
    let compiler = compiler::find(language)?;
    let (own, args) = command::split_own_options(args)?;
    if std::env::var_os("THREADTALK_WRAPPER").is_some_and(|value| value == "off") {
        return Ok(command::Prepared { compiler, args, pass_options: None });
    }
    command::prepare(language, compiler, &own, args, &Installation::find()?)
}
