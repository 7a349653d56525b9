//! What ran and how it was recorded.

use std::collections::BTreeMap;
use threadtalk_profile::layout::{CrdMode, SignatureMode};
use threadtalk_profile::{Profile, State};

use crate::model::{Ended, Program, Recording};
use crate::options::Options;

/// Key under which the runtime notes the executable's path.
const EXECUTABLE: &str = "executable";
/// Key of the arguments, which the runtime separates by [`SEPARATOR`].
const ARGUMENTS: &str = "arguments";
/// ASCII's unit separator.
const SEPARATOR: char = '\x1f';

/// The program and its run.
pub fn program(profile: &Profile) -> Program {
    let header = profile.header();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let mut meta: BTreeMap<String, String> = profile.meta().iter().cloned().collect();
    if let Some(arguments) = meta.get_mut(ARGUMENTS) {
        *arguments = arguments.split(SEPARATOR).map(quoted).collect::<Vec<_>>().join(" ");
    }
    let path = meta.get(EXECUTABLE).map_or("", String::as_str);
    let name = path.rsplit('/').next().unwrap_or(path).to_owned();
    Program {
        name,
        pid: header.pid,
        start_unix_s: seconds(header.start_unix_ns),
        duration_s: header.duration_ns.map(seconds),
        cpu_s: header.cpu_ns.map(seconds),
        exit_status: header.exit_status,
        modules: profile.modules().iter().map(|m| m.name.to_string()).collect(),
        meta,
    }
}

/// An argument as one would type it in a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=./:,@%^".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// How the process ended.
pub fn ended(profile: &Profile) -> Ended {
    match profile.header().state {
        State::Normal => Ended::Normally,
        State::Exec => Ended::Exec,
        State::Running | State::Abrupt => Ended::Abnormally,
    }
}

/// Settings of the run and of the analysis.
pub fn recording(profile: &Profile, options: &Options) -> Recording {
    let header = profile.header();
    Recording {
        granule: header.granule,
        signature_bytes: header.accuracy.signature_budget,
        mode: match header.signature_mode {
            SignatureMode::Hashed => "hashed",
            SignatureMode::Exact => "exact",
        },
        crd: match header.crd_mode {
            CrdMode::Off => "off",
            CrdMode::Auto => "auto",
            CrdMode::Exact => "exact",
        },
        hide_serial: options.hide_serial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_as_they_are_typed() {
        assert_eq!(["-n64", "a b", "", "it's"].map(quoted), ["-n64", "'a b'", "''", "'it'\\''s'"]);
    }
}
