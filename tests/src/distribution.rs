//! Where the tool under test lies.

use std::env;
use std::path::{Path, PathBuf};

/// The folder that `scripts/build.sh` fills: `bin`, `lib` and `include`.
#[derive(Clone, Debug)]
pub struct Distribution {
    root: PathBuf,
}

/// Why there is nothing to test.
#[derive(Debug, thiserror::Error)]
#[error("no built tool in {0}: run scripts/build.sh first, or set THREADTALK_HOME to a built distribution")]
pub struct Missing(PathBuf);

impl Distribution {
    /// `THREADTALK_HOME` if set, else `target/threadtalk` of this workspace.
    pub fn find() -> Result<Self, Missing> {
        let root = env::var_os("THREADTALK_HOME").map_or_else(|| workspace().join("target/threadtalk"), PathBuf::from);
        Self::at(root)
    }

    /// The distribution in `root`.
    pub fn at(root: PathBuf) -> Result<Self, Missing> {
        if root.join("bin/threadtalk").is_file() { Ok(Self { root }) } else { Err(Missing(root)) }
    }

    /// An executable of the tool: `threadtalk`, `threadtalk-cc` or `threadtalk-c++`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }

    /// The folder of `threadtalk.h`.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// The root of the checkout.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in a folder of the workspace").to_path_buf()
}

/// The folder of the test programs.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_says_what_to_run() {
        let message = Distribution::at("/nonexistent/threadtalk".into()).unwrap_err().to_string();
        assert!(message.contains("/nonexistent/threadtalk: run scripts/build.sh"), "{message}");
    }
}
