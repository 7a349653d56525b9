//! Compiles programs with the plugin and runs them over the fake runtime (`tests/fake_runtime`).
#![allow(dead_code)] // each test file uses its part

pub mod flow;
pub mod random_program;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The optimisation levels that everything must work at.
pub const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// Options of all projects; later ones of the same name count.
const BASE: &str = "verify=1:features=memory";

/// The plugin, which cargo puts beside the tests.
pub fn plugin() -> PathBuf {
    let exe = std::env::current_exe().expect("a test has a path");
    let deps = exe.parent().expect("tests lie in a folder");
    ["libthreadtalk_instrument.so", "../libthreadtalk_instrument.so"]
        .iter()
        .map(|name| deps.join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no plugin in {}", deps.display()))
}

/// The fake runtime as an object file, with the functions that instrumented code calls; compiled once for each test
/// program.
fn fake_runtime() -> &'static Path {
    static OBJECT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &OBJECT
        .get_or_init(|| {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let [functions, object] = ["functions.o", "fake.o"].map(|name| dir.path().join(name));
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_runtime");
            let clang = || Command::new("clang-19");
            let contract = [("CHUNK_SHIFT", threadtalk_abi::CHUNK_SHIFT), ("ABI_VERSION", threadtalk_abi::ABI_VERSION)];
            let contract = contract.map(|(name, value)| format!("-D{name}={value}"));
            let parts = ["registry", "accesses", "questions", "log"].map(|part| {
                let (source, part) =
                    (sources.join(part).with_extension("c"), dir.path().join(part).with_extension("o"));
                must_succeed(clang().args(["-O1", "-g", "-fPIC", "-c", "-o"]).arg(&part).args(&contract).arg(source));
                part
            });
            must_succeed(functions_of_the_archive(&mut clang()).args(["-c", "-o"]).arg(&functions));
            must_succeed(Command::new("ld").args(["-r", "-o"]).args([&object, &functions]).args(parts));
            (dir, object)
        })
        .1
}

/// Makes clang compile the functions that instrumented code calls.
pub fn functions_of_the_archive(clang: &mut Command) -> &mut Command {
    let plugin = format!("-fpass-plugin={}", plugin().display());
    clang.env("THREADTALK_PASS_OPTIONS", "verify=1:functions=1").args(["-O2", "-fPIC", &plugin, "-x", "c", "/dev/null"])
}

/// A folder with sources, and what is compiled from them.
pub struct Project {
    dir: TempDir,
    options: String,
    flags: Vec<String>,
}

impl Project {
    /// A project with one source file. The module verifier is on. Only accesses to memory are instrumented, if
    /// [`Project::options`] do not say otherwise.
    pub fn new(file: &str, source: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let project = Project { dir, options: BASE.into(), flags: vec!["-g".into()] };
        project.add(file, source);
        project
    }

    /// Another file.
    pub fn add(&self, file: &str, source: &str) {
        std::fs::write(self.path(file), source).expect("a source can be written");
    }

    /// Options of the pass.
    pub fn options(mut self, options: &str) -> Self {
        self.options = format!("{BASE}:{options}");
        self
    }

    /// More flags for the compiler.
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(ToString::to_string));
        self
    }

    /// The path of a file.
    pub fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    /// Clang with the plugin.
    pub fn clang(&self, driver: &str) -> Command {
        let mut command = Command::new(driver);
        command.current_dir(self.dir.path()).env("THREADTALK_PASS_OPTIONS", &self.options);
        command.arg(format!("-fpass-plugin={}", plugin().display())).args(&self.flags);
        command
    }

    /// The instrumented IR of a file.
    pub fn ir(&self, file: &str, flags: &[&str]) -> String {
        let output = must_succeed(self.clang("clang-19").args(flags).args(["-S", "-emit-llvm", "-o", "-", file]));
        String::from_utf8(output.stdout).expect("IR is text")
    }

    /// Compiles and links files with the fake runtime to `program`.
    pub fn build(&self, files: &[&str], flags: &[&str]) {
        let cxx = files.iter().any(|f| f.ends_with(".cc"));
        let mut command = self.clang(if cxx { "clang++-19" } else { "clang-19" });
        must_succeed(command.args(flags).args(files).arg(fake_runtime()).args(["-pthread", "-o", "program"]));
    }

    /// Runs `program`; what it and the fake runtime wrote.
    pub fn run(&self) -> Run {
        self.run_with(&[])
    }

    /// Runs `program`; the fake runtime prints what it counted of control flow.
    pub fn run_counting(&self) -> Run {
        self.run_with(&[("FAKE_CONTROL", "1")])
    }

    /// Runs `program` so that each access is printed; equal lines are counted.
    pub fn log(&self) -> BTreeMap<String, usize> {
        let mut lines = BTreeMap::new();
        for line in self.run_with(&[("FAKE_LOG", "1")]).stderr.lines() {
            *lines.entry(line.to_string()).or_default() += 1;
        }
        lines
    }

    /// Runs `program` so that each access is printed, in order.
    pub fn sequence(&self) -> Vec<String> {
        self.run_with(&[("FAKE_LOG", "1")]).stderr.lines().map(ToString::to_string).collect()
    }

    /// Runs `program` so that each access is printed by the number of its site, and those of loops that are offered.
    pub fn offers(&self) -> Vec<String> {
        self.run_with(&[("FAKE_OFFERS", "1")]).stderr.lines().map(ToString::to_string).collect()
    }

    fn run_with(&self, environment: &[(&str, &str)]) -> Run {
        let mut command = Command::new(self.path("program"));
        command.current_dir(self.dir.path()).env("LD_LIBRARY_PATH", self.dir.path());
        let output = must_succeed(command.envs(environment.iter().copied()));
        let text = |bytes| String::from_utf8(bytes).expect("output is text");
        Run { stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// What a program wrote.
pub struct Run {
    /// Its own output.
    pub stdout: String,
    /// The fake runtime's.
    pub stderr: String,
}

impl Run {
    /// The lines about events (`raw`, `rar`), sorted.
    pub fn events(&self) -> Vec<&str> {
        let mut lines: Vec<_> =
            self.stderr.lines().filter(|l| l.starts_with("raw ") || l.starts_with("rar ")).collect();
        lines.sort_unstable();
        lines
    }

    /// Events for each kind and pair of threads, over all lines.
    pub fn totals(&self) -> BTreeMap<String, u64> {
        let mut totals = BTreeMap::new();
        for line in self.events() {
            let mut words = line.split(' ');
            let (kind, pair, count) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            *totals.entry(format!("{kind} {pair}")).or_default() += count.parse::<u64>().expect("a count");
        }
        totals
    }

    /// The lines about visits, sorted.
    pub fn visits(&self) -> Vec<&str> {
        let mut lines: Vec<_> = self.stderr.lines().filter(|l| l.starts_with("visit ")).collect();
        lines.sort_unstable();
        lines
    }
}

/// Runs a command that must succeed.
pub fn must_succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the command can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    output
}

/// Runs a command that must fail; its standard error.
pub fn must_fail(command: &mut Command) -> String {
    let output = command.output().expect("the command can be started");
    assert!(!output.status.success(), "{command:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether the machine can run code for a CPU feature.
pub fn cpu_has(feature: &str) -> bool {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpu.split_whitespace().any(|word| OsStr::new(word) == feature)
}

/// The body of a function in IR.
pub fn function<'ir>(ir: &'ir str, name: &str) -> &'ir str {
    let head = ir.find(&format!("@{name}(")).unwrap_or_else(|| panic!("no function {name}"));
    let mut start = head;
    // Calls come before the definition or after it: look for the line that defines it.
    while !ir[..start].rsplit('\n').next().unwrap_or("").starts_with("define") {
        start =
            start + 1 + ir[start + 1..].find(&format!("@{name}(")).unwrap_or_else(|| panic!("{name} is not defined"));
    }
    let body = &ir[start..];
    &body[..body.find("\n}").expect("a body ends")]
}
