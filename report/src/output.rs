//! Writing: standard output, and folders in which nothing foreign is overwritten.

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Names the files that an earlier report wrote to a folder, one a line: these may be replaced.
const MANIFEST: &str = ".threadtalk-report";

/// Writes all bytes to standard output.
pub fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| Error::stdout(&e))
}

/// A folder that is being filled. Nothing is written before [`Folder::write`], so that a refusal leaves it as it was.
pub struct Folder {
    path: PathBuf,
    /// Files of an earlier report.
    own: BTreeSet<String>,
    force: bool,
    files: Vec<(String, String)>,
}

impl Folder {
    /// Creates the folder if needed.
    pub fn open(path: &Path, force: bool) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(|e| Error::file("create the folder", path, &e))?;
        let own = std::fs::read_to_string(path.join(MANIFEST)).unwrap_or_default();
        let own = own.lines().map(str::to_string).collect();
        Ok(Self { path: path.to_path_buf(), own, force, files: Vec::new() })
    }

    /// Takes a file. An error if a file of this name is there that no report wrote.
    pub fn add(&mut self, name: &str, contents: String) -> Result<()> {
        let path = self.path.join(name);
        if !self.force && !self.own.contains(name) && path.symlink_metadata().is_ok() {
            let advice = "no report wrote this file: choose another folder, or pass --force to replace it".to_string();
            return Err(Error::File { action: "write", path, advice });
        }
        self.files.push((name.to_string(), contents));
        Ok(())
    }

    /// Writes all files, removes those of the earlier report that are not among them, and gives the paths for the user.
    pub fn write(self) -> Result<String> {
        let names: BTreeSet<&str> = self.files.iter().map(|(name, _)| name.as_str()).collect();
        // First the promise, then the files: what a crash leaves behind is replaceable.
        let mut listed: BTreeSet<&str> = self.own.iter().map(String::as_str).collect();
        listed.extend(&names);
        self.put(MANIFEST, &lines(&listed))?;
        for (name, contents) in &self.files {
            self.put(name, contents)?;
        }
        for stale in self.own.iter().filter(|name| !names.contains(name.as_str()) && is_plain(name)) {
            // One that is gone already is as good as removed.
            let _ = std::fs::remove_file(self.path.join(stale));
        }
        self.put(MANIFEST, &lines(&names))?;
        Ok(self.summary(&names))
    }

    fn put(&self, name: &str, contents: &str) -> Result<()> {
        let path = self.path.join(name);
        let parent = path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(parent).map_err(|e| Error::file("create the folder", parent, &e))?;
        std::fs::write(&path, contents).map_err(|e| Error::file("write", &path, &e))
    }

    fn summary(&self, names: &BTreeSet<&str>) -> String {
        let pictures = names.iter().filter(|name| name.ends_with(".svg")).count();
        let mut text = String::new();
        for name in names.iter().filter(|name| !name.ends_with(".svg")) {
            text += &format!("{}\n", self.path.join(name).display());
        }
        if pictures > 0 {
            text += &format!("{} ({pictures} pictures)\n", self.path.join("*.svg").display());
        }
        text
    }
}

fn lines(names: &BTreeSet<&str>) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}

/// A manifest that somebody edited must not make us remove files elsewhere.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains('/') && name != MANIFEST
}
