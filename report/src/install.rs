//! Where the plugin, the runtime and the header are: beside this executable, or under `THREADTALK_HOME`.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The installation folder, with `bin`, `lib/threadtalk` and `include` in it.
#[derive(Clone, Debug)]
pub struct Installation {
    root: PathBuf,
}

impl Installation {
    /// `THREADTALK_HOME`, or the parent of the folder that holds this executable (symbolic links resolved, so that
    /// links such as `/usr/local/bin/threadtalk-cc` work).
    pub fn find() -> Result<Self> {
        if let Some(home) = std::env::var_os("THREADTALK_HOME").filter(|home| !home.is_empty()) {
            return Ok(Self { root: PathBuf::from(home) });
        }
        let exe = std::env::current_exe().map_err(|e| Error::file("find", Path::new("/proc/self/exe"), &e))?;
        let root = exe.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_path_buf();
        Ok(Self { root })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The pass plugin, for `-fpass-plugin=`.
    pub fn plugin(&self) -> Result<PathBuf> {
        self.part("compiler plugin", "lib/threadtalk/libthreadtalk_pass.so")
    }

    /// The runtime to link into executables.
    pub fn runtime(&self) -> Result<PathBuf> {
        self.part("runtime library", "lib/threadtalk/libthreadtalk_rt.a")
    }

    /// What executables must export of the runtime to the shared libraries that they load.
    pub fn dynamic_list(&self) -> Result<PathBuf> {
        self.part("list of exported names", "lib/threadtalk/libthreadtalk_rt.syms")
    }

    /// The runtime to link into executables that are linked statically.
    pub fn static_runtime(&self) -> Result<PathBuf> {
        self.part("runtime library", "lib/threadtalk/libthreadtalk_rt_static.a")
    }

    /// The linker's options that put the static runtime in front of the C library, one a line.
    pub fn wrap_list(&self) -> Result<PathBuf> {
        self.part("list of wrapped names", "lib/threadtalk/libthreadtalk_rt_static.wrap")
    }

    /// The runtime as a shared library, for programs whose main executable is not instrumented.
    pub fn shared_runtime(&self) -> Result<PathBuf> {
        self.part("shared runtime library", "lib/threadtalk/libthreadtalk_rt.so")
    }

    /// The folder of `threadtalk.h`.
    pub fn include(&self) -> Result<PathBuf> {
        self.part("header", "include/threadtalk.h").map(|header| header.with_file_name(""))
    }

    fn part(&self, part: &'static str, below: &str) -> Result<PathBuf> {
        let path = self.root.join(below);
        if path.is_file() { Ok(path) } else { Err(Error::Installation { part, path }) }
    }
}
