//! Which compiler stands behind the wrapper: LLVM 19's, whose plugins the pass is one of.

use super::Language;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian and apt.llvm.org put LLVM 19.
const FALLBACK: &str = "/usr/lib/llvm-19/bin";
/// The only version that can load the plugin.
const VERSION: &str = "19.";

struct Names {
    variable: &'static str,
    versioned: &'static str,
    plain: &'static str,
    package: &'static str,
}

fn names(language: Language) -> Names {
    match language {
        Language::C => Names { variable: "THREADTALK_CC", versioned: "clang-19", plain: "clang", package: "clang-19" },
        Language::Cxx => {
            Names { variable: "THREADTALK_CXX", versioned: "clang++-19", plain: "clang++", package: "clang-19" }
        }
        Language::Fortran => {
            Names { variable: "THREADTALK_FC", versioned: "flang-new-19", plain: "flang-new", package: "flang-19" }
        }
    }
}

/// The compiler named by `THREADTALK_CC`, `THREADTALK_CXX` or `THREADTALK_FC`; else version 19 from `PATH` or
/// from where the distribution puts it; else an unversioned one that says it is 19.
pub fn find(language: Language) -> Result<PathBuf> {
    let names = names(language);
    if let Some(named) = std::env::var_os(names.variable).filter(|value| !value.is_empty()) {
        let named = PathBuf::from(named);
        return in_path(&named).ok_or_else(|| Error::ForeignCompiler {
            what: format!("{} names no program", names.variable),
            path: named,
            advice: format!("set it to an LLVM 19 compiler such as {}, or unset it", names.versioned),
        });
    }
    let unversioned = Path::new(FALLBACK).join(names.plain);
    if let Some(found) = in_path(Path::new(names.versioned)).or_else(|| in_path(&unversioned)) {
        return Ok(found);
    }
    match in_path(Path::new(names.plain)) {
        Some(found) if is_19(&found) => Ok(found),
        Some(found) => Err(Error::ForeignCompiler {
            what: format!("{} is not version 19", names.plain),
            path: found,
            advice: advice(&names),
        }),
        None => {
            let fallback = PathBuf::from(FALLBACK);
            Err(Error::Compiler { compiler: names.versioned.into(), fallback, advice: advice(&names) })
        }
    }
}

fn advice(names: &Names) -> String {
    format!("install the package {}, or set {}", names.package, names.variable)
}

/// The program as a path: itself if it has a folder, else the first executable of that name in `PATH`.
pub fn in_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return is_executable(program).then(|| program.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn is_19(compiler: &Path) -> bool {
    Command::new(compiler).arg("-dumpversion").output().is_ok_and(|out| out.stdout.starts_with(VERSION.as_bytes()))
}
