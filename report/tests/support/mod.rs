//! What the tests of the command line share: the tool, a scratch folder and a compiler that writes down its arguments.
#![allow(dead_code)] // each test file uses a part

pub mod schema;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The tool, with an environment in which nothing of the tester's own settings has a say.
pub fn tool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadtalk"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("THREADTALK_") {
            command.env_remove(name);
        }
    }
    command
}

/// Standard output as text.
pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error as text.
pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An error as the user meets it: one line with these words, nothing on standard output, this status.
#[track_caller]
pub fn assert_error(output: &Output, status: i32, words: &[&str]) {
    let text = err(output);
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert_eq!(out(output), "");
    assert!(text.starts_with("threadtalk: ") && text.lines().count() == 1, "not one line: {text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

/// A folder with an installation whose parts are empty files, and a compiler that writes its arguments to `args`.
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let scratch = Self { folder: tempfile::tempdir().unwrap() };
        for part in ["_pass.so", "_rt.a", "_rt.syms", "_rt_static.a"] {
            scratch.file(&format!("lib/threadtalk/libthreadtalk{part}"), "");
        }
        scratch.file("lib/threadtalk/libthreadtalk_rt_static.wrap", "--wrap=free\n--wrap=fork\n");
        scratch.file("include/threadtalk.h", "");
        scratch.script(
            "fake-clang",
            "printf '%s\\n' \"$@\" > \"$ARGS\"\nprintf '%s' \"$THREADTALK_PASS_OPTIONS\" > \"$ARGS.options\"\nexit 7",
        );
        scratch
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// Writes an executable shell script.
    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name, &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The tool in this folder, with its installation and its fake compilers.
    pub fn tool(&self) -> Command {
        let mut command = tool();
        command
            .current_dir(self.folder.path())
            .env("THREADTALK_HOME", self.folder.path())
            .env("ARGS", self.path("args"));
        for variable in ["THREADTALK_CC", "THREADTALK_CXX", "THREADTALK_FC"] {
            command.env(variable, self.path("fake-clang"));
        }
        command
    }

    /// What the fake compiler was called with.
    pub fn compiler_args(&self) -> Vec<String> {
        std::fs::read_to_string(self.path("args")).unwrap().lines().map(str::to_string).collect()
    }

    /// `THREADTALK_PASS_OPTIONS` as the fake compiler saw it.
    pub fn pass_options(&self) -> String {
        std::fs::read_to_string(self.path("args.options")).unwrap()
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }
}
