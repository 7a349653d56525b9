//! Running a command with a time limit, its output kept apart.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use wait_timeout::ChildExt;

/// A command to run to its end.
pub struct Run {
    command: Command,
    limit: Duration,
}

/// A command that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

/// A command under way, with files behind its outputs: nothing blocks however much it prints.
pub struct Running {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Run {
    /// A run of `command` with nothing on its standard input and a limit of one minute.
    pub fn new(command: Command) -> Self {
        Self { command, limit: Duration::from_secs(60) }
    }

    /// Another time limit.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts the command in a process group of its own.
    pub fn start(&mut self) -> std::io::Result<Running> {
        let stdout = tempfile::tempfile()?;
        let stderr = tempfile::tempfile()?;
        let child = self
            .command
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .process_group(0)
            .spawn()?;
        Ok(Running { child, stdout, stderr })
    }

    /// Runs the command to its end. Past the limit its whole process group is killed, and an error says so, and what
    /// its threads did.
    pub fn finish(mut self) -> std::io::Result<Finished> {
        let limit = self.limit;
        self.start()?.finish(limit)
    }
}

impl Running {
    /// Process id, which is its group's as well.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed to standard output so far.
    pub fn stdout_so_far(&mut self) -> std::io::Result<String> {
        contents(&mut self.stdout).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// SIGKILL.
    pub fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()
    }

    /// Waits for the end.
    pub fn finish(mut self, limit: Duration) -> std::io::Result<Finished> {
        let Some(status) = self.child.wait_timeout(limit)? else {
            let threads = threads(self.child.id());
            let group = rustix::process::Pid::from_child(&self.child);
            // An error only says that the group has just ended by itself.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            self.child.wait()?;
            let told = String::from_utf8_lossy(&contents(&mut self.stderr)?).into_owned();
            return Err(std::io::Error::new(
                std::io::ErrorKind::TimedOut,
                format!("killed after {limit:?}; its threads: {threads}; on its standard error: {told}"),
            ));
        };
        Ok(Finished { status, stdout: contents(&mut self.stdout)?, stderr: contents(&mut self.stderr)? })
    }
}

impl Finished {
    /// Standard output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// `exit N` or `signal N`.
    pub fn ending(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "stopped".to_owned(),
        }
    }
}

/// How many threads of a process are in which state, in which call of the system: a program that hangs once in some
/// thousand runs is told from one that computes, and from one that has ended without anybody noticing.
fn threads(process: u32) -> String {
    let Ok(all) = std::fs::read_dir(format!("/proc/{process}/task")) else { return "none".to_owned() };
    let mut alike = BTreeMap::<String, usize>::new();
    for thread in all.flatten() {
        let read = |name: &str| std::fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        let status = read("status");
        let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("gone").trim().to_owned();
        let call = read("syscall").split(' ').next().unwrap_or_default().trim().to_owned();
        *alike.entry(format!("{state}, call {call}")).or_default() += 1;
    }
    alike.iter().map(|(what, number)| format!("{number} {what}")).collect::<Vec<_>>().join("; ")
}

/// The whole file. The child shares the file's offset, but it only ever appends at the end, where this leaves it.
fn contents(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Run {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        Run::new(command)
    }

    #[test]
    fn outputs_and_status_are_kept_apart() {
        let done = shell("echo out; echo err >&2; exit 3").finish().unwrap();
        assert_eq!((done.stdout_text().as_str(), done.stderr_text().as_str()), ("out\n", "err\n"));
        assert_eq!(done.ending(), "exit 3");
    }

    #[test]
    fn a_signal_is_told_from_a_status() {
        assert_eq!(shell("kill -KILL $$").finish().unwrap().ending(), "signal 9");
    }

    #[test]
    fn a_hanging_group_is_killed() {
        let error = shell("echo waiting >&2; sleep 600 & wait").limit(Duration::from_millis(200)).finish().unwrap_err();
        let told = error.to_string();
        assert!(told.contains("waiting") && told.contains("its threads: 1 S (sleeping), call "), "{told}");
    }
}
