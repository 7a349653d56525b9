//! What the profile says about the run: program, arguments, machine, options.

use super::{Process, environment, message::Line, options};
use crate::file::name::Path;
use core::cell::UnsafeCell;
use threadtalk_profile::layout::block;

struct OutPath(UnsafeCell<Path>);
// SAFETY: written once while the process is set up by one thread, only read afterwards.
unsafe impl Sync for OutPath {}
static OUT: OutPath = OutPath(UnsafeCell::new(Path::new()));
/// Where the profile should have gone, and why it did not.
static INSTEAD_OF: OutPath = OutPath(UnsafeCell::new(Path::new()));

/// Remembers where the profile is. Called during the setup only.
pub(super) fn set_path(path: &Path) {
    let mut absolute = Path::new();
    let mut directory = [0u8; 4096];
    if path.as_bytes().first() != Some(&b'/') {
        // SAFETY: the buffer and its length.
        let got = unsafe { libc::getcwd(directory.as_mut_ptr().cast(), directory.len()) };
        if !got.is_null() {
            let end = directory.iter().position(|&b| b == 0).unwrap_or(0);
            absolute.push(directory.get(..end).unwrap_or(&[]));
            absolute.push(b"/");
        }
    }
    absolute.push(path.as_bytes());
    // SAFETY: during the setup, before any reader.
    unsafe { *OUT.0.get() = absolute };
}

/// Remembers a path that could not be written. Called during the setup only.
pub(super) fn set_instead_of(path: &Path, error: i32) {
    let mut text = Path::new();
    text.push(path.as_bytes());
    text.push(b" (error ");
    text.push_number(error.unsigned_abs().into());
    text.push(b")");
    // SAFETY: during the setup, before any reader.
    unsafe { *INSTEAD_OF.0.get() = text };
}

/// The absolute path of the profile; empty if there is none.
pub fn path() -> &'static [u8] {
    // SAFETY: not written after the setup.
    unsafe { (*OUT.0.get()).as_bytes() }
}

/// The last component of the executable's path. From the kernel: the C library's own variable is not set yet when the
/// runtime starts.
pub fn program_name(buffer: &mut [u8; 4096]) -> &[u8] {
    let path = read_link(c"/proc/self/exe", buffer);
    match path.rsplit(|&b| b == b'/').next() {
        Some(name) if !name.is_empty() => name,
        _ => b"program",
    }
}

/// The executable's path.
pub fn executable(buffer: &mut [u8; 4096]) -> &[u8] {
    read_link(c"/proc/self/exe", buffer)
}

fn read_link<'b>(link: &core::ffi::CStr, buffer: &'b mut [u8; 4096]) -> &'b [u8] {
    // SAFETY: the buffer and its length.
    let length = unsafe { libc::readlink(link.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(length).ok().and_then(|n| buffer.get(..n)).unwrap_or(b"")
}

/// Writes the META block.
pub fn write(process: &Process) {
    let Some(target) = process.file.allocate(64 << 10) else { return };
    let mut pairs = Pairs { at: target.payload(), left: target.capacity() as usize, written: 0 };
    pairs.pair(b"runtime", env!("CARGO_PKG_VERSION").as_bytes());
    pairs.link(b"executable", c"/proc/self/exe");
    pairs.file(b"arguments", c"/proc/self/cmdline");
    pairs.link(b"directory", c"/proc/self/cwd");
    // SAFETY: no preconditions.
    let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    pairs.number(b"processors", processors.max(0) as u64);
    pairs.number(b"parent", parent());
    pairs.pair(b"clock", process.ticks.name());
    for variable in [&b"OMP_NUM_THREADS"[..], b"OMP_PROC_BIND", b"OMP_PLACES", b"OMP_SCHEDULE", b"GOMP_CPU_AFFINITY"] {
        if let Some(value) = environment::get(variable) {
            pairs.pair(variable, value);
        }
    }
    options::describe(&process.options, |name, value| {
        let mut key = Path::new();
        key.push(b"option.");
        key.push(name);
        match value {
            Ok(number) => pairs.number(key.as_bytes(), number),
            Err(word) => pairs.pair(key.as_bytes(), word),
        }
    });
    target.publish(block::META, 0, pairs.written as u64);
}

fn parent() -> u64 {
    // SAFETY: no preconditions.
    (unsafe { libc::getppid() }) as u64
}

/// The lines at the end of the run.
pub fn say_end(process: &Process) {
    if process.options.quiet || path().is_empty() || environment::get(b"THREADTALK_QUIET").is_some() {
        return;
    }
    say_where();
    say_used_up(process);
}

/// Where the profile is.
fn say_where() {
    let path = path();
    // SAFETY: not written after the setup.
    let instead_of = unsafe { (*INSTEAD_OF.0.get()).as_bytes() };
    let mut line = Line::new();
    if !instead_of.is_empty() {
        line = line.text(b"cannot write ").text(instead_of).text(b"; ");
    }
    line.text(b"profile in ").text(path).text(b"; see it with: threadtalk report ").text(path).print();
}

/// If cells serve several chunks of memory: that some counts may be false, and what helps.
fn say_used_up(process: &Process) {
    if process.signature.pool.chunks_aliased() == 0 {
        return;
    }
    let bytes = process.options.signature_bytes;
    Line::new()
        .text(b"the budget of ")
        .number(bytes >> 20)
        .text(b" MiB for cells is used up, so that some of what is counted may be false (the report says how much); ")
        .text(b"set THREADTALK_OPTIONS=signature_bytes=")
        .number(bytes >> 19)
        .text(b"M or more, or mode=exact")
        .print();
}

struct Pairs {
    at: *mut u8,
    left: usize,
    written: usize,
}

impl Pairs {
    fn pair(&mut self, key: &[u8], value: &[u8]) {
        if key.len() + value.len() + 2 > self.left {
            return;
        }
        self.bytes(key);
        self.bytes(b"\0");
        // Arguments are separated by NULs themselves.
        for &b in value {
            self.bytes(&[if b == 0 { 0x1f } else { b }]);
        }
        self.bytes(b"\0");
    }

    fn number(&mut self, key: &[u8], value: u64) {
        let mut text = Path::new();
        text.push_number(value);
        self.pair(key, text.as_bytes());
    }

    fn link(&mut self, key: &[u8], link: &core::ffi::CStr) {
        let mut buffer = [0u8; 4096];
        let text = read_link(link, &mut buffer);
        if !text.is_empty() {
            self.pair(key, text);
        }
    }

    fn file(&mut self, key: &[u8], name: &core::ffi::CStr) {
        let mut text = [0u8; 16 << 10];
        // SAFETY: a NUL-terminated name; the buffer and its length; a descriptor of ours.
        let length = unsafe {
            let fd = libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if fd < 0 {
                return;
            }
            let length = libc::read(fd, text.as_mut_ptr().cast(), text.len());
            libc::close(fd);
            length
        };
        if let Some(text) = usize::try_from(length).ok().and_then(|n| text.get(..n)) {
            self.pair(key, text.strip_suffix(b"\0").unwrap_or(text));
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            // SAFETY: `pair` checked the room; `at` stays inside the block's payload.
            unsafe {
                self.at.write(b);
                self.at = self.at.add(1);
            }
        }
        self.left -= bytes.len();
        self.written += bytes.len();
    }
}
