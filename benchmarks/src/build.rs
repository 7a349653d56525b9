//! Building a kernel, and the command that runs it, for each tool of the tables.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::kernels::Kernel;
use crate::{Error, Result};

/// What a program runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Nothing.
    Native,
    /// This profiler, with what its compiler adds unasked.
    Threadtalk,
    /// Another installation of this profiler, against which it is compared.
    Before,
    /// With the memory instrumentation alone.
    Memory,
    /// With the counters of control flow alone, by the number of threads that there are (*nominal*).
    Control,
    /// The same program, by the number of threads that do not wait (*effective*).
    Effective,
    /// ThreadSanitizer of the same compiler.
    Tsan,
    /// Valgrind's helgrind on the native build.
    Helgrind,
    /// Valgrind's drd on the native build.
    Drd,
}

impl Tool {
    /// As in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Native => "native",
            Tool::Threadtalk => "threadtalk",
            Tool::Before => "before",
            Tool::Memory => "memory",
            Tool::Control => "control",
            Tool::Effective => "effective",
            Tool::Tsan => "tsan",
            Tool::Helgrind => "helgrind",
            Tool::Drd => "drd",
        }
    }

    /// The tool whose binary it runs.
    pub fn build(self) -> Tool {
        match self {
            Tool::Helgrind | Tool::Drd => Tool::Native,
            Tool::Effective => Tool::Control,
            own => own,
        }
    }

    /// Whether it runs a binary of its own.
    pub fn compiles(self) -> bool {
        self.build() == self
    }

    /// The flag that makes a compiler build for the tool.
    fn flag(self) -> Option<&'static str> {
        match self.build() {
            Tool::Memory => Some("--threadtalk=memory"),
            Tool::Control => Some("--threadtalk=control"),
            Tool::Tsan => Some("-fsanitize=thread"),
            _ => None,
        }
    }

    /// Runs `program` under the tool with what the tool writes going to `scratch`.
    pub fn command(self, program: &Path, scratch: &Path) -> Command {
        let mut command = match self {
            Tool::Helgrind | Tool::Drd => {
                let mut valgrind = Command::new("valgrind");
                // Only the cost is of interest here, not what they report.
                valgrind.args([&format!("--tool={}", self.name()), "--quiet", "--error-limit=yes"]).arg(program);
                valgrind
            }
            _ => Command::new(program),
        };
        // Waiting threads sleep: spinning would be counted as work of the program, most of all with more threads than
        // cores.
        command.env("OMP_WAIT_POLICY", "passive");
        match self {
            Tool::Threadtalk | Tool::Before | Tool::Memory | Tool::Control => {
                command.env("THREADTALK_OUT", profile(scratch));
            }
            Tool::Effective => {
                let options = std::env::var("THREADTALK_OPTIONS").unwrap_or_default();
                command.env("THREADTALK_OUT", profile(scratch));
                command.env("THREADTALK_OPTIONS", options + ":parallelism=effective");
            }
            Tool::Tsan => {
                // The cost without the reports: libomp is not instrumented, so that its barriers look like races.
                command.env("TSAN_OPTIONS", "report_bugs=0:exitcode=0").env("OMP_TOOL", "disabled");
            }
            Tool::Native | Tool::Helgrind | Tool::Drd => {}
        }
        command
    }
}

/// Where a program that runs under threadtalk leaves its profile. It must be taken away before the next run, which
/// would give its own another name.
pub fn profile(scratch: &Path) -> PathBuf {
    scratch.join("profile.ttp")
}

/// The compilers in use.
#[derive(Clone, Debug)]
pub struct Compilers {
    clang: PathBuf,
    clangxx: PathBuf,
    home: PathBuf,
    before: Option<PathBuf>,
}

impl Compilers {
    /// `THREADTALK_CLANG` and `THREADTALK_CLANGXX` or clang-19 for the native build and ThreadSanitizer; threadtalk
    /// from `THREADTALK_HOME` or from `target/threadtalk` of this checkout.
    pub fn find() -> Compilers {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace");
        Compilers {
            clang: variable("THREADTALK_CLANG").unwrap_or_else(|| "clang-19".into()),
            clangxx: variable("THREADTALK_CLANGXX").unwrap_or_else(|| "clang++-19".into()),
            home: variable("THREADTALK_HOME").unwrap_or_else(|| checkout.join("target/threadtalk")),
            before: None,
        }
    }

    /// The same, with another installation for [`Tool::Before`].
    pub fn against(&self, before: Option<PathBuf>) -> Compilers {
        Compilers { before, ..self.clone() }
    }

    /// A program of the installation: `threadtalk`, `threadtalk-cc` or `threadtalk-c++`.
    pub fn threadtalk(&self, name: &str) -> Result<PathBuf> {
        installed(&self.home, name)
    }

    /// The native C compiler.
    pub fn clang(&self) -> &Path {
        &self.clang
    }

    /// The compiler of `tool`, with the flag that makes it that.
    fn compiler(&self, tool: Tool, cxx: bool) -> Result<Command> {
        let own = if cxx { "threadtalk-c++" } else { "threadtalk-cc" };
        let mut command = Command::new(match tool.build() {
            Tool::Threadtalk | Tool::Memory | Tool::Control => self.threadtalk(own)?,
            Tool::Before => installed(self.before.as_ref().unwrap_or(&self.home), own)?,
            _ if cxx => self.clangxx.clone(),
            _ => self.clang.clone(),
        });
        command.args(tool.flag());
        Ok(command)
    }

    /// The compiler of `tool` for a file: C if its name ends in `.c`, else C++.
    pub fn object(&self, tool: Tool, file: &Path) -> Result<Command> {
        self.compiler(tool, file.extension().is_none_or(|extension| extension != "c"))
    }

    /// The command that compiles `kernel` for `tool`: to an object file (`object`) or to a program.
    pub fn command(&self, kernel: &Kernel, tool: Tool, object: bool, output: &Path) -> Result<Command> {
        let mut command = self.compiler(tool, kernel.is_cxx())?;
        command.args(kernel.flags());
        if object {
            command.arg("-c");
        }
        command.arg(kernel.path()).arg("-o").arg(output);
        if !object {
            command.arg("-lm");
        }
        Ok(command)
    }
}

fn installed(home: &Path, name: &str) -> Result<PathBuf> {
    let path = home.join("bin").join(name);
    if path.is_file() { Ok(path) } else { Err(Error::NotBuilt(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;

    #[test]
    fn a_missing_installation_says_what_to_do() {
        let compilers = Compilers { clang: "cc".into(), clangxx: "c++".into(), home: "/nowhere".into(), before: None };
        let error =
            compilers.command(&kernels::ALL[0], Tool::Threadtalk, true, Path::new("x.o")).unwrap_err().to_string();
        assert_eq!(error, "/nowhere/bin/threadtalk-cc is missing: run scripts/build.sh first, or set THREADTALK_HOME");
    }

    #[test]
    fn what_a_tool_runs_was_built_for_it() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        std::fs::write(home.path().join("bin/threadtalk-cc"), "").unwrap();
        let compilers = Compilers { clang: "cc".into(), clangxx: "c++".into(), home: home.path().into(), before: None };
        let built = |tool| {
            let command = compilers.command(&kernels::ALL[0], tool, false, Path::new("x")).unwrap();
            let program = Path::new(command.get_program()).file_name().unwrap().to_str().unwrap().to_owned();
            let first = command.get_args().next().unwrap().to_str().unwrap().to_owned();
            (program, first)
        };
        let is = |program: &str, first: &str| (program.to_owned(), first.to_owned());
        assert_eq!(built(Tool::Tsan), is("cc", "-fsanitize=thread"));
        assert_eq!(built(Tool::Drd), is("cc", "-O2"));
        assert_eq!(built(Tool::Threadtalk), is("threadtalk-cc", "-O2"));
        assert_eq!(built(Tool::Memory), is("threadtalk-cc", "--threadtalk=memory"));
        assert_eq!(built(Tool::Effective), built(Tool::Control));
        let error = compilers.against(Some("/nowhere".into())).object(Tool::Before, Path::new("x.c")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/bin/threadtalk-cc is missing"), "{error}");
    }

    #[test]
    fn effective_counts_are_an_option_of_the_run() {
        let value = |tool: Tool| {
            let command = tool.command(Path::new("x"), Path::new("scratch"));
            let found = command.get_envs().find(|(name, _)| *name == "THREADTALK_OPTIONS").and_then(|(_, value)| value);
            found.map(|value| value.to_str().unwrap().to_owned())
        };
        assert!(value(Tool::Effective).unwrap().ends_with(":parallelism=effective"));
        assert_eq!(value(Tool::Control), None);
    }
}
