//! Where the profile goes: `THREADTALK_OUT` with its placeholders, never over an existing file.

use crate::process::environment;
use core::ffi::CStr;

/// A path under construction; what does not fit is an error, not a cut.
pub struct Path {
    bytes: [u8; 4096],
    len: usize,
    overflow: bool,
}

impl Path {
    /// The empty path.
    pub const fn new() -> Self {
        Self { bytes: [0; 4096], len: 0, overflow: false }
    }

    /// Appends bytes.
    pub fn push(&mut self, part: &[u8]) {
        // One byte stays for the NUL.
        let room = self.bytes.len() - 1;
        for &b in part {
            match self.bytes.get_mut(self.len) {
                Some(place) if self.len < room => *place = b,
                _ => {
                    self.overflow = true;
                    return;
                }
            }
            self.len += 1;
        }
    }

    /// Appends a number in decimal.
    pub fn push_number(&mut self, number: u64) {
        let mut digits = [0u8; 20];
        let mut length = 0;
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            length += 1;
            if rest == 0 {
                break;
            }
        }
        self.push(digits.get(digits.len() - length..).unwrap_or(&[]));
    }

    /// The path, if all of it fitted.
    pub fn as_c_str(&self) -> Option<&CStr> {
        if self.overflow { None } else { CStr::from_bytes_until_nul(&self.bytes).ok() }
    }

    /// The bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.get_mut(len..self.len).unwrap_or(&mut []).fill(0);
        self.len = len;
        self.overflow = false;
    }
}

/// Expands `%p` (process), `%n` and `%e` (program's name), `%h` (host), `%t` (seconds since 1970), `%q{VAR}`
/// (environment), `%%`. Other letters stay as they are.
pub fn expand(pattern: &[u8], program: &[u8], out: &mut Path) {
    let mut rest = pattern;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        let Some((&letter, after)) = rest.split_first().filter(|_| c == b'%') else {
            out.push(&[c]);
            continue;
        };
        rest = after;
        match letter {
            // SAFETY: getpid has no preconditions.
            b'p' => out.push_number(unsafe { libc::getpid() } as u64),
            b'n' | b'e' => out.push(program),
            b'h' => push_host(out),
            b't' => out.push_number(crate::process::clock::unix_ns() / 1_000_000_000),
            b'%' => out.push(b"%"),
            b'q' if rest.first() == Some(&b'{') && rest.contains(&b'}') => {
                let end = rest.iter().position(|&b| b == b'}').unwrap_or(0);
                out.push(rest.get(1..end).and_then(environment::get).unwrap_or(b""));
                rest = rest.get(end + 1..).unwrap_or(&[]);
            }
            other => out.push(&[b'%', other]),
        }
    }
}

fn push_host(out: &mut Path) {
    let mut name = [0u8; 256];
    // SAFETY: the buffer and its length are given; the last byte stays zero.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } == 0 {
        let end = name.iter().position(|&b| b == 0).unwrap_or(0);
        out.push(name.get(..end).unwrap_or(&[]));
    }
}

/// Creates the file; if it exists already, tries `.1`, `.2` ... `.999`. Leaves the name that was used in `path`.
pub fn create(path: &mut Path) -> Result<i32, i32> {
    let stem = path.len;
    for attempt in 0..1000u64 {
        if attempt > 0 {
            path.truncate(stem);
            path.push(b".");
            path.push_number(attempt);
        }
        let Some(name) = path.as_c_str() else { return Err(libc::ENAMETOOLONG) };
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: a NUL-terminated path.
        let fd = unsafe { libc::open(name.as_ptr(), flags, 0o644) };
        if fd >= 0 {
            return Ok(out_of_the_way(fd));
        }
        // SAFETY: errno of this thread.
        let error = unsafe { *libc::__errno_location() };
        if error != libc::EEXIST {
            path.truncate(stem);
            return Err(error);
        }
    }
    path.truncate(stem);
    Err(libc::EEXIST)
}

/// Moves the descriptor above those that programs count on getting (0, 1, 2, 3...) or close in a loop.
fn out_of_the_way(fd: i32) -> i32 {
    for floor in [900, 200] {
        // SAFETY: duplicates a descriptor of ours.
        let moved = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, floor) };
        if moved >= 0 {
            // SAFETY: the old number is ours and not used any more.
            unsafe { libc::close(fd) };
            return moved;
        }
    }
    fd
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(pattern: &str) -> std::string::String {
        let mut out = Path::new();
        expand(pattern.as_bytes(), b"lu", &mut out);
        std::string::String::from_utf8(out.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn placeholders() {
        assert_eq!(expanded("threadtalk.%n.%p.ttp"), std::format!("threadtalk.lu.{}.ttp", std::process::id()));
        assert_eq!(expanded("100%%-%x-%"), "100%-%x-%");
        assert_eq!(expanded("a%q{THREADTALK_SURELY_UNSET}b"), "ab");
        assert_eq!(expanded("%q{unfinished"), "%q{unfinished");
    }

    #[test]
    fn an_existing_file_is_never_overwritten() {
        let dir = std::env::temp_dir().join(std::format!("threadtalk-name-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let wanted = dir.join("x.ttp");
        std::fs::write(&wanted, "precious").unwrap();
        let mut path = Path::new();
        path.push(wanted.to_str().unwrap().as_bytes());
        let fd = create(&mut path).unwrap();
        assert!(fd >= 0);
        assert!(path.as_bytes().ends_with(b"x.ttp.1"));
        assert_eq!(std::fs::read(&wanted).unwrap(), b"precious");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_missing_directory_is_an_error_and_a_long_name_too() {
        let mut path = Path::new();
        path.push(b"/nowhere-at-all/x.ttp");
        assert_eq!(create(&mut path), Err(libc::ENOENT));
        let mut long = Path::new();
        long.push(&[b'a'; 5000]);
        assert_eq!(create(&mut long), Err(libc::ENAMETOOLONG));
    }
}
