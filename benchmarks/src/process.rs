//! Running a program and taking its time.

use std::fs::{self, File};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::error::during;
use crate::{Error, Result};

/// What one run took.
#[derive(Clone, Debug)]
pub struct Run {
    /// User and system CPU time of the program and of all children that it waited for, in seconds.
    pub cpu_s: f64,
    /// Wall time in seconds.
    pub wall_s: f64,
    /// Largest resident set in bytes.
    pub peak_bytes: u64,
    /// Standard output.
    pub stdout: String,
}

/// Runs `command` to its end; a status other than 0 or a run longer than `limit` is an error.
///
/// Its output goes through files in `scratch`, so that a full pipe never makes it wait.
pub fn run(mut command: Command, scratch: &Path, limit: Duration) -> Result<Run> {
    let what = describe(&command);
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| scratch.join(name));
    command.stdout(during(|| format!("creating {}", stdout.display()), File::create(&stdout))?);
    command.stderr(during(|| format!("creating {}", stderr.display()), File::create(&stderr))?);
    let begin = Instant::now();
    let mut child = during(|| format!("starting {what}"), command.spawn())?;
    if !ends_within(child.id(), limit).map_err(|source| Error::Io { what: format!("waiting for {what}"), source })? {
        during(|| format!("killing {what}"), child.kill())?;
        during(|| format!("waiting for {what}"), child.wait())?;
        return Err(Error::Timeout { what, seconds: limit.as_secs() });
    }
    let (status, usage) = during(|| format!("waiting for {what}"), reap(child.id()))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let read = |path: &Path| {
        let bytes = during(|| format!("reading {}", path.display()), fs::read(path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    if !status.success() {
        let stderr = read(&stderr)?.lines().last().unwrap_or("nothing on standard error").to_owned();
        return Err(Error::Failed { what, status: status.to_string(), stderr });
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Ok(Run {
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_s,
        peak_bytes: usage.ru_maxrss as u64 * 1024,
        stdout: read(&stdout)?,
    })
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn ends_within(pid: u32, limit: Duration) -> std::io::Result<bool> {
    // SAFETY: the call takes two integers and touches no memory of ours.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor; nobody else owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).as_millis().min(i32::MAX as u128) as i32;
        let mut watched = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd, and the count says one.
        match unsafe { libc::poll(&mut watched, 1, left) } {
            0 => return Ok(false),
            n if n > 0 => return Ok(true),
            _ => {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

fn reap(pid: u32) -> std::io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    // SAFETY: rusage is plain integers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals; `pid` is our unreaped child.
    let reaped = unsafe { libc::wait4(pid as libc::pid_t, &mut status, 0, &mut usage) };
    if reaped < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<Run> {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, scratch.path(), limit)
    }

    #[test]
    fn output_and_cpu_time_of_children_are_counted() {
        let script = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; echo done";
        let run = shell(script, Duration::from_secs(60)).unwrap();
        assert_eq!(run.stdout, "done\n");
        assert!(run.cpu_s > 0.001, "{run:?}");
        assert!(run.peak_bytes > 100_000, "{run:?}");
    }

    #[test]
    fn a_failure_carries_the_last_line_of_standard_error() {
        let error = shell("echo first >&2; echo reason >&2; exit 3", Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.ends_with("ended with exit status: 3: reason"), "{error}");
    }

    #[test]
    fn a_program_that_hangs_is_killed() {
        let error = shell("exec sleep 1000", Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("still running after 0 s"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let error =
            run(Command::new("no-such-program"), scratch.path(), Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.starts_with("starting no-such-program: "), "{error}");
    }
}
