//! `threadtalk run`: starts the program, stays out of its way, and says afterwards where the profile is.

mod bind;
mod child;
mod found;
mod summary;

use crate::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use threadtalk_crd::machine::format_cpus;

/// A failure of `run` itself, as `env` and `timeout` report theirs.
const OWN_FAILURE: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// What to run and how.
#[derive(Debug)]
pub struct Launch {
    /// Where the profile goes.
    pub output: Option<PathBuf>,
    /// Options of the runtime, `name=value`.
    pub options: Vec<String>,
    /// Where threads run: see [`bind::processors`].
    pub bind: Option<String>,
    /// No summary.
    pub quiet: bool,
    /// Program and arguments.
    pub program: Vec<OsString>,
}

/// Runs the program to its end. The exit status is the program's, or 128 + n if signal n killed it.
pub fn run(launch: &Launch) -> Result<ExitCode> {
    let failed = |error| Error::Launch { status: OWN_FAILURE, source: Box::new(error) };
    let place = found::Place::choose(launch.output.as_deref()).map_err(failed)?;
    let processors = launch.bind.as_deref().map(bind::processors).transpose().map_err(failed)?;
    let before = place.profiles();
    let environment = environment(launch, &place, processors.as_deref());
    let end = child::run(&launch.program, &environment).map_err(|error| launch_error(launch, &error))?;
    if !launch.quiet {
        let new: Vec<PathBuf> = place.profiles().difference(&before).cloned().collect();
        summary::print(launch, &new, end);
    }
    Ok(ExitCode::from(end.status()))
}

/// The caller's own settings come first, so that those of the command line win. The end of the run is ours to tell.
fn environment(
    launch: &Launch,
    place: &found::Place,
    processors: Option<&[u32]>,
) -> Vec<(&'static str, Option<OsString>)> {
    let inherited = std::env::var_os("THREADTALK_OPTIONS").filter(|value| !value.is_empty());
    let bind = processors.map(|list| format!("bind={}", format_cpus(list)).into());
    let own = launch.options.iter().map(OsString::from).chain(bind).chain([OsString::from("quiet=1")]);
    let options: Vec<OsString> = inherited.into_iter().chain(own).collect();
    let mut environment = vec![
        ("THREADTALK_OPTIONS", Some(options.join(OsStr::new(":")))),
        ("THREADTALK_OUT", Some(place.pattern.clone().into())),
    ];
    if processors.is_some() {
        environment.extend(bind::environment());
    }
    environment
}

fn launch_error(launch: &Launch, error: &std::io::Error) -> Error {
    let program = PathBuf::from(launch.program.first().cloned().unwrap_or_default());
    let (status, advice) = match error.kind() {
        std::io::ErrorKind::NotFound => (NOT_FOUND, "there is no such program: check its name".to_string()),
        std::io::ErrorKind::PermissionDenied => {
            (NOT_EXECUTABLE, "it may not be executed: check its mode (chmod +x)".to_string())
        }
        _ => (NOT_EXECUTABLE, format!("{error}: is it a program for this machine?")),
    };
    Error::Launch { status, source: Box::new(Error::File { action: "start", path: program, advice }) }
}
