//! Where profiles go and which ones a run wrote. A program may be a script that starts several instrumented ones, so
//! the folder is looked through instead of guessing a process number.

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use threadtalk_profile::layout::FILE_MAGIC;

/// Name of the profile if nobody chooses one.
const DEFAULT: &str = "threadtalk.%n.%p.ttp";

/// Where the runtime shall write.
#[derive(Debug)]
pub struct Place {
    /// For `THREADTALK_OUT`: absolute, because the program may change its folder.
    pub pattern: PathBuf,
}

impl Place {
    /// The user's `-o`, else `THREADTALK_OUT`, else [`DEFAULT`] in the current folder. A file that exists is refused:
    /// the runtime would evade it by another name.
    pub fn choose(output: Option<&Path>) -> Result<Self> {
        let inherited = std::env::var_os("THREADTALK_OUT").filter(|value| !value.is_empty()).map(PathBuf::from);
        let pattern = output.map(Path::to_path_buf).or(inherited).unwrap_or_else(|| DEFAULT.into());
        let pattern = std::path::absolute(&pattern).map_err(|e| Error::file("use as profile", &pattern, &e))?;
        if pattern.is_dir() {
            let advice = "it is a folder: name a file in it".to_string();
            return Err(Error::File { action: "write the profile", path: pattern, advice });
        }
        if pattern.symlink_metadata().is_ok() {
            let advice = "it exists already: remove it or choose another name".to_string();
            return Err(Error::File { action: "write the profile", path: pattern, advice });
        }
        let place = Self { pattern };
        let folder = place.folder();
        if !has_placeholder(folder) && !folder.is_dir() {
            let advice = "there is no such folder: create it first".to_string();
            return Err(Error::File { action: "write the profile", path: folder.to_path_buf(), advice });
        }
        Ok(place)
    }

    /// All profiles that are there now.
    pub fn profiles(&self) -> BTreeSet<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.folder()) else { return BTreeSet::new() };
        entries.flatten().map(|entry| entry.path()).filter(|path| is_profile(path)).collect()
    }

    fn folder(&self) -> &Path {
        self.pattern.parent().unwrap_or(Path::new("/"))
    }
}

fn has_placeholder(path: &Path) -> bool {
    path.to_string_lossy().contains('%')
}

/// True if the file begins as profiles do. Devices and pipes are not touched: opening one can block.
fn is_profile(path: &Path) -> bool {
    let mut magic = [0; FILE_MAGIC.len()];
    path.metadata().is_ok_and(|meta| meta.is_file())
        && std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == FILE_MAGIC
}
