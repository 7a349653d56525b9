//! What `run` says at the end.

use super::Launch;
use super::child::End;
use std::path::PathBuf;

/// Ten lines at most, on standard error.
pub fn print(_launch: &Launch, profiles: &[PathBuf], _end: End) {
    for profile in profiles {
        eprintln!("threadtalk: {}", profile.display());
    }
}
