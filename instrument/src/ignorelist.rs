//! The user's list of functions and files to leave alone.

use crate::error::PassError;
use crate::llvm::ffi;
use std::ffi::{CStr, CString, c_char, c_void};

/// A list in clang's special case list format: lines `fun:pattern` and `src:pattern`, in the section `[threadtalk]` or
/// in none.
pub struct Ignorelist(*mut c_void);

impl Ignorelist {
    /// Reads a list.
    pub fn open(path: &str) -> Result<Self, PassError> {
        let mut reason: [c_char; 512] = [0; 512];
        // SAFETY: path and buffer live during the call, which ends the message with a NUL.
        let list = unsafe {
            ffi::threadtalk_shim_ignorelist_open(path.as_ptr().cast(), path.len(), reason.as_mut_ptr(), reason.len())
        };
        if list.is_null() {
            // SAFETY: NUL-terminated, see above.
            let reason = unsafe { CStr::from_ptr(reason.as_ptr()) }.to_string_lossy().trim().to_string();
            return Err(PassError::Ignorelist { path: path.to_string(), reason });
        }
        Ok(Ignorelist(list))
    }

    /// Whether the list names this text under `fun` or `src`.
    pub fn contains(&self, prefix: &str, text: &str) -> bool {
        let Ok(prefix) = CString::new(prefix) else { return false };
        // SAFETY: a list that `open` made.
        unsafe { ffi::threadtalk_shim_ignorelist_contains(self.0, prefix.as_ptr(), text.as_ptr().cast(), text.len()) }
    }
}

impl Drop for Ignorelist {
    fn drop(&mut self) {
        // SAFETY: a list that `open` made, closed once.
        unsafe { ffi::threadtalk_shim_ignorelist_close(self.0) };
    }
}
