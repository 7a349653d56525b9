//! From the user's compiler command line to clang's.

use super::Language;
use super::arguments::{self, Request};
use super::response;
use crate::error::{Error, Result};
use crate::install::Installation;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Environment variable that carries options to the pass: `a=1:b=2`.
pub const PASS_OPTIONS: &str = "THREADTALK_PASS_OPTIONS";

/// What to execute.
#[derive(Debug)]
pub struct Prepared {
    /// The compiler.
    pub compiler: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Value of [`PASS_OPTIONS`] if it is to change.
    pub pass_options: Option<OsString>,
}

/// What `--threadtalk=` takes: what is compiled into the program.
const FEATURES: [&str; 3] = ["memory", "control", "cache"];

/// Takes `--threadtalk=FEATURES`, `--threadtalk-NAME=VALUE` and `--ignorelist=FILE` out of a command line; they
/// become the pass's options.
pub fn split_own_options(args: Vec<OsString>) -> Result<(Vec<OsString>, Vec<OsString>)> {
    let (mut own, mut rest) = (Vec::new(), Vec::with_capacity(args.len()));
    for arg in args {
        let bytes = arg.as_bytes();
        let option = match bytes.strip_prefix(b"--threadtalk-") {
            Some(option) => Some(option.to_vec()),
            None => match bytes.strip_prefix(b"--threadtalk=") {
                Some(features) => Some([b"features=", check_features(features)?].concat()),
                None => bytes.starts_with(b"--ignorelist=").then(|| bytes[2..].to_vec()),
            },
        };
        let Some(option) = option else {
            rest.push(arg);
            continue;
        };
        let text = arg.to_string_lossy();
        if !option.contains(&b'=') {
            return Err(Error::usage("option without a value", text, "write it as --threadtalk-NAME=VALUE"));
        }
        if option.contains(&b':') {
            return Err(Error::usage(
                "option with a colon in its value",
                text,
                "options are joined by colons: rename the file",
            ));
        }
        if let Some(file) = option.strip_prefix(b"ignorelist=") {
            let file = PathBuf::from(OsStr::from_bytes(file));
            std::fs::File::open(&file).map_err(|e| Error::file("read the ignorelist", &file, &e))?;
        }
        own.push(OsStr::from_bytes(&option).to_os_string());
    }
    Ok((own, rest))
}

/// The features, if there are such.
fn check_features(features: &[u8]) -> Result<&[u8]> {
    let text = String::from_utf8_lossy(features);
    match text.split(',').find(|name| !FEATURES.contains(name)) {
        None => Ok(features),
        Some(unknown) => Err(Error::usage(
            "unknown feature",
            format!("--threadtalk={unknown}"),
            "there are memory (who communicates with whom), control (imbalance) and cache, with commas between them",
        )),
    }
}

/// The arguments for the compiler. Ours come first: after `--` or `-x c` they would mean something else, and for a
/// whole archive the place among the inputs does not matter.
pub fn prepare(
    language: Language,
    compiler: PathBuf,
    own: &[OsString],
    args: Vec<OsString>,
    installation: &Installation,
) -> Result<Prepared> {
    let request = arguments::read(&response::expand(&args));
    let mut ours = Vec::new();
    if request.compiles {
        let mut plugin = OsString::from("-fpass-plugin=");
        plugin.push(installation.plugin()?);
        ours.push(plugin);
        if !request.debug_chosen {
            // Names and lines of regions and accesses; costs no optimisation.
            // The second keeps full names of C++ functions in the line tables.
            ours.push("-gline-tables-only".into());
            ours.push("-fdebug-info-for-profiling".into());
        }
    }
    ours.extend(link_arguments(&request, installation)?);
    let mut all = Vec::with_capacity(ours.len() + args.len() + 4);
    // Where an action of the driver takes no notice of one of ours (`-c` of assembly), it must not warn. Flang's driver
    // does not know the brackets.
    let brackets = !ours.is_empty() && language != Language::Fortran;
    all.extend(brackets.then(|| "--start-no-unused-arguments".into()));
    all.append(&mut ours);
    all.extend(brackets.then(|| "--end-no-unused-arguments".into()));
    // The linker obeys the last of these, and everything after `--` is an input.
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    all.extend_from_slice(&args[..end]);
    if request.links_shared && request.refuses_undefined {
        all.extend(["-Xlinker", "-z", "-Xlinker", "undefs"].map(OsString::from));
    }
    all.extend_from_slice(&args[end..]);
    Ok(Prepared { compiler, args: all, pass_options: pass_options(own) })
}

/// What an executable needs so that the hooks are there: for its own code and, exported, for the shared libraries that
/// it loads. Libraries themselves stay without the runtime, so that a process has exactly one.
pub fn link_arguments(request: &Request, installation: &Installation) -> Result<Vec<OsString>> {
    if !request.links_executable {
        return Ok(Vec::new());
    }
    let mut args: Vec<OsString> = Vec::new();
    let mut linker = |arg: OsString| args.extend(["-Xlinker".into(), arg]);
    linker("--whole-archive".into());
    if request.is_static {
        // Inside a static executable nothing can be put in front of the C library but by the linker itself.
        linker(installation.static_runtime()?.into());
        linker("--no-whole-archive".into());
        let list = installation.wrap_list()?;
        let options = std::fs::read_to_string(&list).map_err(|e| Error::file("read", &list, &e))?;
        options.lines().for_each(|option| linker(option.into()));
    } else {
        linker(installation.runtime()?.into());
        linker("--no-whole-archive".into());
        let mut option = OsString::from("--dynamic-list=");
        option.push(installation.dynamic_list()?);
        linker(option);
    }
    args.extend(["-lpthread".into(), "-ldl".into()]);
    Ok(args)
}

/// The caller's own pass options first, so that those of the command line win.
fn pass_options(own: &[OsString]) -> Option<OsString> {
    if own.is_empty() {
        return None;
    }
    let inherited = std::env::var_os(PASS_OPTIONS).filter(|value| !value.is_empty());
    let parts: Vec<OsString> = inherited.into_iter().chain(own.iter().cloned()).collect();
    Some(parts.join(OsStr::new(":")))
}
