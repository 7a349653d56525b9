//! The child process: started with our standard streams, waited for, and sent the signals that reach us.

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

/// Asks of others to end or to do something: handed on to the program. Those that a terminal sends go to the program
/// anyway; see [`from_terminal`].
const HANDED_ON: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
];

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub struct End(ExitStatus);

impl End {
    /// The status to exit with.
    pub fn status(self) -> u8 {
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => code as u8,
            (None, signal) => 128u8.wrapping_add(signal.unwrap_or_default() as u8),
        }
    }

    /// The signal that ended it.
    pub fn signal(self) -> Option<i32> {
        self.0.signal()
    }
}

/// Runs the program to its end. Variables without a value are taken out of its environment.
pub fn run(program: &[OsString], environment: &[(&str, Option<OsString>)]) -> std::io::Result<End> {
    let (name, args) = program.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    // Blocked before the start, so that none is lost between the start and the wait. A child inherits the mask, so
    // it is given back the one that we were started with.
    let (signals, inherited) = block();
    let mut command = Command::new(name);
    command.args(args);
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // SAFETY: pthread_sigmask is async-signal-safe, and the closure does nothing else.
    unsafe {
        command.pre_exec(move || {
            libc::pthread_sigmask(libc::SIG_SETMASK, &inherited, std::ptr::null_mut());
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    let pid = child.id() as i32;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End(status));
        }
        let info = wait(&signals);
        if info.si_signo != libc::SIGCHLD && info.si_signo > 0 && !from_terminal(&info) {
            // SAFETY: the child is not reaped yet, so the number is still its own.
            unsafe { libc::kill(pid, info.si_signo) };
        }
    }
}

/// The kernel sends a terminal's signals to all of the foreground group, the program included.
fn from_terminal(info: &libc::siginfo_t) -> bool {
    info.si_code == libc::SI_KERNEL
}

/// Blocks what is waited for; returns that set and the mask before.
fn block() -> (libc::sigset_t, libc::sigset_t) {
    let mut set = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set before anything else reads it; the other calls get valid pointers.
    // A parent that ignores SIGCHLD hands that down, and then there would be no status to wait for.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigemptyset(set.as_mut_ptr());
        for signal in HANDED_ON.into_iter().chain([libc::SIGCHLD]) {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
        (set.assume_init(), before.assume_init())
    }
}

fn wait(signals: &libc::sigset_t) -> libc::siginfo_t {
    // SAFETY: all zeros is a valid siginfo_t (a plain C structure of integers and pointers).
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call. An interrupted wait leaves signal number 0.
    unsafe { libc::sigwaitinfo(signals, &mut info) };
    info
}
