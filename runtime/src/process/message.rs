//! The one line on stderr.

use crate::file::name::Path;

/// Builds one line and writes it with one system call, so that lines of several processes do not mix.
pub struct Line(Path);

impl Line {
    /// A line that begins with the tool's name.
    pub fn new() -> Self {
        let mut path = Path::new();
        path.push(b"threadtalk: ");
        Self(path)
    }

    /// Appends text.
    pub fn text(mut self, text: &[u8]) -> Self {
        self.0.push(text);
        self
    }

    /// Appends a number.
    pub fn number(mut self, number: u64) -> Self {
        self.0.push_number(number);
        self
    }

    /// Writes the line to stderr.
    pub fn print(mut self) {
        self.0.push(b"\n");
        let bytes = self.0.as_bytes();
        // SAFETY: a valid buffer; errors are of no interest: there is nowhere to report them.
        unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
    }
}
