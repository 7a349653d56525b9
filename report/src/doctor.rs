//! `threadtalk doctor`: what is there, what is missing, and what to do about it.

mod check;
mod counters;

use crate::error::Result;
use crate::install::Installation;
use crate::number;
use crate::wrapper::{Language, compiler};
use check::Check;
use std::path::Path;
use std::process::{Command, ExitCode};
use threadtalk_abi::LEAST_ADDRESSES;

/// Prints one line for each thing looked at. Fails if something needed is missing.
pub fn run() -> Result<ExitCode> {
    let checks = all()?;
    let mut text = String::new();
    for check in &checks {
        text += &check.line();
    }
    let missing = checks.iter().filter(|check| check.is_missing()).count();
    text += &match missing {
        0 => "all that is needed is there\n".to_string(),
        1 => "1 thing is missing\n".to_string(),
        n => format!("{n} things are missing\n"),
    };
    crate::output::to_stdout(text.as_bytes())?;
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn all() -> Result<Vec<Check>> {
    let installation = Installation::find()?;
    let mut checks = vec![
        compiler_check("C compiler", Language::C, true),
        compiler_check("C++ compiler", Language::Cxx, true),
        compiler_check("Fortran compiler", Language::Fortran, false),
    ];
    let parts = [
        ("compiler plugin", installation.plugin()),
        ("runtime library", installation.runtime()),
        ("shared runtime", installation.shared_runtime()),
        ("header folder", installation.include()),
    ];
    for (name, part) in parts {
        checks.push(match part {
            Ok(path) => Check::good(name, path.display()),
            Err(_) => Check::missing(
                name,
                format_args!(
                    "not under {}: run scripts/build.sh, or set THREADTALK_HOME",
                    installation.root().display()
                ),
            ),
        });
    }
    if let (Ok(plugin), Ok(clang)) = (installation.plugin(), compiler::find(Language::C)) {
        checks.push(loads(&clang, &plugin));
    }
    checks.extend([openmp(), huge_pages(), overcommit(), address_space(), caches(), processors()]);
    checks.extend(counters::checks());
    Ok(checks)
}

fn compiler_check(name: &'static str, language: Language, needed: bool) -> Check {
    match compiler::find(language) {
        Ok(path) => Check::good(name, path.display()),
        Err(error) if needed => Check::missing(name, error),
        Err(error) => Check::note(name, format_args!("{error} (needed for Fortran only)")),
    }
}

/// Compiles an empty file with the plugin: the one test that tells whether the versions fit.
fn loads(clang: &Path, plugin: &Path) -> Check {
    let mut pass = std::ffi::OsString::from("-fpass-plugin=");
    pass.push(plugin);
    let output = Command::new(clang).arg(pass).args(["-x", "c", "-c", "/dev/null", "-o", "/dev/null"]).output();
    match output {
        Ok(output) if output.status.success() => Check::good("plugin loads", "yes"),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            let first = words.lines().next().unwrap_or("no message").to_string();
            Check::missing("plugin loads", format_args!("no: {first}; rebuild it with scripts/build.sh for this clang"))
        }
        Err(error) => Check::missing("plugin loads", error),
    }
}

fn openmp() -> Check {
    let libraries = ["/usr/lib/llvm-19/lib/libomp.so.5", "/usr/lib/llvm-19/lib/libomp.so"];
    match libraries.iter().find(|path| Path::new(path).exists()) {
        Some(path) => Check::good("OpenMP runtime", path),
        None => {
            Check::note("OpenMP runtime", "not found (needed for -fopenmp only): install the package libomp-19-dev")
        }
    }
}

fn huge_pages() -> Check {
    match std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled") {
        Ok(text) if text.contains("[never]") => Check::note(
            "huge pages",
            "off: profiled programs are slower; echo madvise into transparent_hugepage/enabled",
        ),
        Ok(text) => {
            let chosen = text.split(['[', ']']).nth(1).unwrap_or("unknown").to_string();
            Check::good("huge pages", chosen)
        }
        Err(_) => Check::note("huge pages", "unknown: the kernel does not say; profiled programs may be slower"),
    }
}

/// The directory of cells is 64 GiB of address space, of which almost nothing is touched.
fn overcommit() -> Check {
    match std::fs::read_to_string("/proc/sys/vm/overcommit_memory").as_deref().map(str::trim) {
        Ok("2") => Check::missing("overcommit", "strict (vm.overcommit_memory=2): set it to 0 or 1"),
        Ok("1") => Check::good("overcommit", "always"),
        Ok("0") => Check::good("overcommit", "heuristic"),
        _ => Check::note("overcommit", "unknown: /proc/sys/vm/overcommit_memory cannot be read"),
    }
}

fn address_space() -> Check {
    match check::address_space_limit() {
        None => Check::good("address space", "unlimited"),
        Some(bytes) if bytes < LEAST_ADDRESSES => Check::missing(
            "address space",
            format_args!(
                "limited to {} MiB: raise it to {} GiB at least (ulimit -v unlimited)",
                bytes >> 20,
                LEAST_ADDRESSES >> 30
            ),
        ),
        Some(bytes) => Check::good("address space", format_args!("{} GiB", bytes >> 30)),
    }
}

fn caches() -> Check {
    match threadtalk_crd::machine::read(Path::new(threadtalk_crd::machine::SYSFS_CPU)) {
        Ok(caches) => {
            let levels: Vec<_> =
                caches.iter().map(|c| format!("L{} {}", c.level, number::bytes(c.bytes as f64))).collect();
            Check::good("caches", levels.join(", "))
        }
        Err(error) => Check::note("caches", error),
    }
}

fn processors() -> Check {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    if count > 1 {
        Check::good("processors", count)
    } else {
        Check::note("processors", "1: threads only take turns; counts are right, times are not those of a parallel run")
    }
}
