//! A folder with one compiled program, for tests that do more with it than run it to its end.

use crate::compile::{Compiler, compile_silently};
use crate::distribution::{Distribution, programs};
use crate::execute::{Finished, Run};
use crate::report::Report;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The folder, gone with the value.
pub struct Scene {
    tool: Distribution,
    folder: TempDir,
}

impl Scene {
    /// An empty folder; panics with what to do if the tool was not built.
    pub fn new() -> Self {
        let tool = Distribution::find().unwrap_or_else(|e| panic!("{e}"));
        Self { tool, folder: tempfile::tempdir().expect("the folder for temporary files is writable") }
    }

    /// A folder in which `program` was compiled from `programs/special/SOURCE` at -O2 with `flags`.
    pub fn with(source: &str, flags: &[&str]) -> Self {
        let scene = Self::new();
        scene.compile(Compiler::Instrumented, source, "program", flags);
        scene
    }

    /// Compiles `programs/special/SOURCE` into the folder.
    pub fn compile(&self, which: Compiler, source: &str, output: &str, flags: &[&str]) {
        let flags = [&["-O2"], flags].concat();
        let source = programs().join("special").join(source);
        compile_silently(&self.tool, which, &source, &self.path(output), &flags);
    }

    /// The tool.
    pub fn tool(&self) -> &Distribution {
        &self.tool
    }

    /// A path in the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command that runs in the folder, with the tool's variables as a user has them: unset.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(self.path(program.as_ref()));
        command.current_dir(self.folder.path());
        for variable in ["THREADTALK_OUT", "THREADTALK_OPTIONS", "THREADTALK_DISABLE", "THREADTALK_WRAPPER"] {
            command.env_remove(variable);
        }
        command
    }

    /// `threadtalk` with arguments.
    pub fn threadtalk(&self, arguments: &[&str]) -> Finished {
        let mut command = self.command(self.tool.program("threadtalk"));
        command.args(arguments);
        Run::new(command).finish().unwrap_or_else(|e| panic!("threadtalk {arguments:?}: {e}"))
    }

    /// Runs `program` with its profile in `name` and returns how it ended.
    pub fn profile(&self, name: &str) -> Finished {
        let mut command = self.command("program");
        command.env("THREADTALK_OUT", self.path(name));
        Run::new(command).finish().unwrap_or_else(|e| panic!("{e}"))
    }

    /// What a command prints that ends well.
    pub fn output(&self, command: Command) -> Result<String, String> {
        let done = Run::new(command).finish().map_err(|e| e.to_string())?;
        if done.ending() != "exit 0" {
            return Err(format!("{}: {}", done.ending(), done.stderr_text()));
        }
        Ok(done.stdout_text().trim_end().to_owned())
    }

    /// What a program prints that is run with options, and its report. The profile is gone afterwards: another run
    /// would not write over it.
    pub fn profiled(&self, mut command: Command, options: &str) -> Result<(String, Report), String> {
        let profile = self.path("profiled.ttp");
        command.env("THREADTALK_OUT", &profile).env("THREADTALK_OPTIONS", format!("quiet=1:{options}"));
        let output = self.output(command)?;
        let report = Report::of(&self.tool, &profile)?;
        std::fs::remove_file(&profile).map_err(|e| e.to_string())?;
        Ok((output, report))
    }

    /// The report of a profile in the folder.
    pub fn report(&self, name: &str) -> Report {
        Report::of(&self.tool, &self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names of the profiles in `folder`, sorted.
    pub fn profiles(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("the folder is there");
        let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|n| n.ends_with(".ttp")).collect();
        names.sort();
        names
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}
