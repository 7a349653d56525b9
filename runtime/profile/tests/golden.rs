//! Profiles of every version that can be read, as files. `THREADTALK_BLESS=1` writes that of the present version.

mod sample;

use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{env, fs};
use threadtalk_profile::Profile;
use threadtalk_profile::layout::{FileHeader, VERSION};
use threadtalk_profile::write::Contents;

fn path(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/version-{version}.ttp"))
}

/// Writes the present version's file if asked to, before any test reads it.
fn bless() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if env::var_os("THREADTALK_BLESS").is_some() {
            fs::write(path(VERSION), sample::contents().encode()).unwrap();
        }
    });
}

#[test]
fn the_present_version_is_written_as_it_was() {
    bless();
    let same = fs::read(path(VERSION)).unwrap() == sample::contents().encode();
    assert!(same, "the format changed: raise its version, or bless the file if nothing was released yet");
}

/// The first runtimes of this version wrote headers that end before the last field.
#[test]
fn shorter_headers_are_read() {
    let mut bytes = sample::contents().encode();
    let shorter = offset_of!(FileHeader, lineless_values) as u32;
    bytes[offset_of!(FileHeader, header_size)..][..4].copy_from_slice(&shorter.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.ttp"), bytes).unwrap();
    let profile = Profile::open(folder.path().join("p.ttp")).unwrap();
    assert_eq!((sample::contents().header.lineless_values, profile.header().lineless_values), (3, 0));
}

#[test]
fn all_versions_are_read() {
    bless();
    for version in 1..=VERSION {
        assert_eq!(Contents::from(&Profile::open(path(version)).unwrap()), sample::contents());
    }
}
