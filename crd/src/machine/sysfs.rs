//! Caches as Linux describes them under `/sys/devices/system/cpu`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Cache;
use super::described::parse_size;

/// Where Linux describes processors.
pub const SYSFS_CPU: &str = "/sys/devices/system/cpu";

/// Why the caches of this machine are not known. Some virtual machines and containers hide them.
#[derive(Debug, thiserror::Error)]
pub enum SysfsError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}; describe the caches instead, for example 32K,1M,32M:shared=8", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file holds something unexpected.
    #[error("{} holds `{text}`, which is no {what}; describe the caches instead", path.display())]
    Unexpected {
        /// Which.
        path: PathBuf,
        /// What it holds.
        text: String,
        /// What it should hold.
        what: &'static str,
    },
    /// No data cache at all.
    #[error("{} names no data cache; describe the caches instead, for example 32K,1M,32M:shared=8", root.display())]
    None {
        /// The folder searched.
        root: PathBuf,
    },
    /// No processor.
    #[error("{} names no processor; describe the topology in a file instead", root.display())]
    NoProcessor {
        /// The folder searched.
        root: PathBuf,
    },
}

/// Data and unified caches of the processors described under `root` (normally [`SYSFS_CPU`]), by level.
///
/// Where processors differ (performance and efficiency cores), a level is the smallest of its kind: a
/// thread may run on any of them.
pub fn read(root: &Path) -> Result<Vec<Cache>, SysfsError> {
    let mut levels: BTreeMap<u8, Cache> = BTreeMap::new();
    for cpu in folders(root, "cpu")? {
        let caches = cpu.join("cache");
        // A processor that is offline has no folder `cache`.
        if !caches.is_dir() {
            continue;
        }
        for index in folders(&caches, "index")? {
            if let Some(cache) = read_cache(&index)? {
                let known = levels.entry(cache.level).or_insert(cache);
                if cache.bytes < known.bytes {
                    *known = cache;
                }
            }
        }
    }
    if levels.is_empty() {
        return Err(SysfsError::None { root: root.to_owned() });
    }
    Ok(levels.into_values().collect())
}

/// Folders in `root` whose names are `prefix` and a number, by name.
pub(super) fn folders(root: &Path, prefix: &str) -> Result<Vec<PathBuf>, SysfsError> {
    let unreadable = |source| SysfsError::Unreadable { path: root.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(root).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let number = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_prefix(prefix));
        if number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A file of a folder and what it holds.
pub(super) fn text(folder: &Path, name: &str) -> Result<(PathBuf, String), SysfsError> {
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Ok((path, text.trim().to_owned())),
        Err(source) => Err(SysfsError::Unreadable { path, source }),
    }
}

pub(super) fn unexpected((path, text): (PathBuf, String), what: &'static str) -> SysfsError {
    SysfsError::Unexpected { path, text, what }
}

fn read_cache(index: &Path) -> Result<Option<Cache>, SysfsError> {
    if text(index, "type")?.1 == "Instruction" {
        return Ok(None);
    }
    let level = text(index, "level")?;
    let level = level.1.parse().map_err(|_| unexpected(level, "cache level"))?;
    let size = text(index, "size")?;
    let bytes = parse_size(&size.1).ok_or_else(|| unexpected(size, "size"))?;
    let cpus = text(index, "shared_cpu_list")?;
    let shared_by = count_cpus(&cpus.1).ok_or_else(|| unexpected(cpus, "list of processors"))?;
    Ok(Some(Cache { level, bytes, shared_by }))
}

/// Number of processors in a list such as `0-3,8,10-11`.
fn count_cpus(list: &str) -> Option<u32> {
    let mut count = 0u32;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}
