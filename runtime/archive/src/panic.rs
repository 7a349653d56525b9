//! A panic is a defect of the runtime, with the program's frames below it and nothing to unwind to.

use core::fmt::Write;
use core::panic::PanicInfo;
use threadtalk_runtime::lifecycle;

/// Says where, once, and ends the process as `abort` would: returning is impossible, and a thread that stops here would
/// hang the program. The profile keeps what it holds; handlers that the program has for the signal run.
#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    lifecycle::deactivate();
    let mut line = Line { text: [0; 400], used: 0 };
    let _ = write!(line, "threadtalk: internal error: {}", info.message());
    if let Some(place) = info.location() {
        let _ = write!(line, " at {}:{}", place.file(), place.line());
    }
    let _ = line.write_str("; please report it. THREADTALK_DISABLE=1 runs the program without it");
    let end = line.used.min(line.text.len() - 1);
    line.text[end] = b'\n';
    // SAFETY: a valid buffer; the signal goes to this thread.
    unsafe {
        libc::write(2, line.text.as_ptr().cast(), end + 1);
        libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::syscall(libc::SYS_gettid), libc::SIGABRT);
    }
    loop {
        // SAFETY: does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, 128 + libc::SIGABRT) };
    }
}

struct Line {
    text: [u8; 400],
    used: usize,
}

impl Write for Line {
    /// Cuts what does not fit.
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            if self.used < self.text.len() - 1 {
                self.text[self.used] = byte;
                self.used += 1;
            }
        }
        Ok(())
    }
}
