//! Where a profile's bytes are.

use memmap2::Mmap;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::mem::size_of;
use std::path::Path;

use super::header;
use crate::error::ErrorKind;
use crate::layout::{FILE_MAGIC, FileHeader};

/// The bytes of a profile.
pub enum Source {
    /// Mapped from a file.
    Mapped(Mmap),
    /// Copied.
    Memory(Vec<u8>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

impl Source {
    /// Maps a sealed file; copies one whose process may still be writing to it, so that what was checked stays as it
    /// was.
    pub fn open(path: &Path) -> Result<Self, ErrorKind> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(ErrorKind::NotAProfile);
        }
        let mut head = Vec::new();
        (&mut file).take(size_of::<FileHeader>() as u64).read_to_end(&mut head)?;
        // Enough to say what is wrong with it; a file of another kind may be of any length.
        if head.len() < size_of::<FileHeader>() || !head.starts_with(&FILE_MAGIC) {
            return Ok(Self::Memory(head));
        }
        if header::is_running(&head) {
            return Ok(Self::Memory(fs::read(path)?));
        }
        // SAFETY: the mapping is read only. A sealed profile is not written to any more by the runtime; a user who
        // truncates it while it is read ends this process by SIGBUS, as with any tool that maps its input.
        Ok(Self::Mapped(unsafe { Mmap::map(&file) }?))
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}
