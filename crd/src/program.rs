//! What ran and how it was recorded.

use std::collections::BTreeMap;
use threadtalk_profile::layout::{CrdMode, SignatureMode};
use threadtalk_profile::{Profile, State};

use crate::model::{Ended, Program, Recording};
use crate::options::Options;

/// Keys under which the runtime notes the executable, best first.
const NAME_KEYS: [&str; 3] = ["program", "executable", "exe"];

/// The program and its run.
pub fn program(profile: &Profile) -> Program {
    let header = profile.header();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let meta: BTreeMap<String, String> = profile.meta().iter().cloned().collect();
    let path = NAME_KEYS.iter().find_map(|key| meta.get(*key)).map_or("", String::as_str);
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
