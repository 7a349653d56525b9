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

    /// The runtime to link into executables without shared libraries, and the linker's options that put it in front of the C library.
    pub fn static_runtime(&self) -> Result<(PathBuf, PathBuf)> {
        let archive = self.part("runtime library", "lib/threadtalk/libthreadtalk_rt_static.a")?;
        let options = self.part("linker options", "lib/threadtalk/libthreadtalk_rt_static.wrap")?;
        Ok((archive, options))
    }

    /// The runtime as a shared library, for programs whose main executable is not instrumented.
    pub fn shared_runtime(&self) -> Result<PathBuf> {
        self.part("shared runtime library", "lib/threadtalk/libthreadtalk_rt.so")
    }

    /// Names that executables must export for shared libraries that are loaded later, if the installation has such a list.
    pub fn dynamic_list(&self) -> Option<PathBuf> {
        let path = self.root.join("lib/threadtalk/libthreadtalk_rt.syms");
        path.is_file().then_some(path)
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
