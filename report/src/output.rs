//! Writing: standard output, and folders in which nothing foreign is overwritten.

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Names the files that an earlier report wrote to a folder, one a line: these may be replaced.
const MANIFEST: &str = ".threadtalk-report";

/// Writes all bytes to standard output.
pub fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| Error::stdout(&e))
}

/// Gives standard output to what writes much to it, in large parts. `Stdout` would look for line ends in each.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let stdout = std::io::stdout().lock();
    let written = stdout.as_fd().try_clone_to_owned().and_then(|fd| write(&mut File::from(fd)));
    written.map_err(|e| Error::stdout(&e))
}

/// The text that `write` would give to a file.
///
/// # Panics
/// If it is no UTF-8.
pub fn in_memory(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes all");
    String::from_utf8(bytes).expect("what is written is text")
}

/// Writes one file, all of it or nothing. A file that is there already is replaced only if `may_go` says that it is one
/// of ours, or by `force`.
pub fn to_file(path: &Path, bytes: &[u8], force: bool, may_go: impl Fn(&Path) -> bool) -> Result<()> {
    let is_there = path.symlink_metadata();
    // What is no regular file (a pipe, /dev/null) holds nothing that could be lost.
    let is_special = path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir());
    if is_special {
        return std::fs::write(path, bytes).map_err(|e| Error::file("write", path, &e));
    }
    if is_there.is_ok() && path.is_file() && !force && !may_go(path) {
        let advice =
            "threadtalk did not write this file: choose another name, or pass --force to replace it".to_string();
        return Err(Error::File { action: "write", path: path.to_path_buf(), advice });
    }
    let fail = |e: std::io::Error| Error::file("write", path, &e);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(fail(std::io::ErrorKind::IsADirectory.into()));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = std::fs::write(&draft, bytes).and_then(|()| std::fs::rename(&draft, path));
    written.map_err(|e| {
        // The draft may not be there: it could not be made.
        let _ = std::fs::remove_file(&draft);
        fail(e)
    })
}

/// A folder that is being filled. Nothing is written before [`Folder::write`], so that a refusal leaves it as it was.
pub struct Folder {
    path: PathBuf,
    /// Files of an earlier report.
    own: BTreeSet<String>,
    force: bool,
    files: Vec<(String, Vec<u8>)>,
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
    pub fn add(&mut self, name: &str, contents: impl Into<Vec<u8>>) -> Result<()> {
        let path = self.path.join(name);
        if !self.force && !self.own.contains(name) && path.symlink_metadata().is_ok() {
            let advice = "no report wrote this file: choose another folder, or pass --force to replace it".to_string();
            return Err(Error::File { action: "write", path, advice });
        }
        self.files.push((name.to_string(), contents.into()));
        Ok(())
    }

    /// Takes several files.
    pub fn add_all(&mut self, files: impl IntoIterator<Item = (impl AsRef<str>, impl Into<Vec<u8>>)>) -> Result<()> {
        files.into_iter().try_for_each(|(name, contents)| self.add(name.as_ref(), contents))
    }

    /// Writes all files, removes those of the earlier report that are not among them, and gives the paths for the user.
    pub fn write(self) -> Result<String> {
        let names: BTreeSet<&str> = self.files.iter().map(|(name, _)| name.as_str()).collect();
        // First the promise, then the files: what a crash leaves behind is replaceable.
        let mut listed: BTreeSet<&str> = self.own.iter().map(String::as_str).collect();
        listed.extend(&names);
        self.put(MANIFEST, lines(&listed).as_bytes())?;
        for (name, contents) in &self.files {
            self.put(name, contents)?;
        }
        for stale in self.own.iter().filter(|name| !names.contains(name.as_str()) && is_plain(name)) {
            // One that is gone already is as good as removed.
            let _ = std::fs::remove_file(self.path.join(stale));
        }
        self.put(MANIFEST, lines(&names).as_bytes())?;
        Ok(self.summary(&names))
    }

    fn put(&self, name: &str, contents: &[u8]) -> Result<()> {
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
