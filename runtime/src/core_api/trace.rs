//! The feature `trace` writes each call to a file, one line each, so that tests can check order and arguments.

/// `trace!("name", numbers...)`.
macro_rules! trace {
    ($name:literal $(, $value:expr)*) => {{
        #[cfg(feature = "trace")]
        $crate::core_api::trace::write($name, &[$($value as i64),*]);
        #[cfg(not(feature = "trace"))]
        { $(let _ = $value;)* }
    }};
}
pub(super) use trace;

/// Appends `name number...` to the file that `THREADTALK_TRACE` names; one system call, so that lines do not mix.
#[cfg(feature = "trace")]
pub(super) fn write(name: &str, values: &[i64]) {
    use core::sync::atomic::{AtomicI32, Ordering::Relaxed};
    static FILE: AtomicI32 = AtomicI32::new(-1);
    let mut file = FILE.load(Relaxed);
    if file < 0 {
        // SAFETY: constant C strings; the result is checked.
        file = unsafe {
            let path = libc::getenv(c"THREADTALK_TRACE".as_ptr());
            if path.is_null() {
                return;
            }
            libc::open(path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC, 0o600)
        };
        FILE.store(file, Relaxed);
    }
    let mut line = Line { text: [0; 160], used: 0 };
    // A line is shorter than the buffer: names have at most 24 bytes, numbers 20, and there are at most three.
    let _ = core::fmt::write(&mut line, format_args!("{name}"));
    for value in values {
        let _ = core::fmt::write(&mut line, format_args!(" {value}"));
    }
    let _ = core::fmt::write(&mut line, format_args!("\n"));
    // SAFETY: the buffer is valid for `used` bytes; a failed write shows as a missing line in the test.
    unsafe { libc::write(file, line.text.as_ptr().cast(), line.used) };
}

#[cfg(feature = "trace")]
struct Line {
    text: [u8; 160],
    used: usize,
}

#[cfg(feature = "trace")]
impl core::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.used + text.len();
        self.text.get_mut(self.used..end).ok_or(core::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}
