//! The runtime under test, and programs linked with it.

use super::Expectation;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// Ways in which the runtime gets into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// The archive, by the compiler's usual linker.
    Archive,
    /// The archive, by LLVM's linker.
    Lld,
    /// The shared library, preloaded.
    Preload,
    /// The wrapping archive in a fully static program.
    Static,
    /// The same, at an address that the kernel chooses.
    StaticPie,
}

impl Linkage {
    /// By its name in the programs' comments.
    pub fn from_name(name: &str) -> Self {
        match name {
            "archive" => Self::Archive,
            "lld" => Self::Lld,
            "preload" => Self::Preload,
            "static" => Self::Static,
            "static-pie" => Self::StaticPie,
            _ => panic!("{name}: archive, lld, preload, static and static-pie are the ways of linkage"),
        }
    }
}

/// The folder of the programs.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Whether LLVM's linker is there.
pub fn lld_is_installed() -> bool {
    Command::new("ld.lld-19").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A runtime that writes down its events, laid out as `scripts/build.sh` does it.
pub struct Runtime {
    library: PathBuf,
    programs: PathBuf,
}

impl Runtime {
    /// Builds it, once in a test process. Its cargo has a target folder of its own: the one of these tests may be
    /// locked, and it holds the runtime without the feature.
    pub fn get() -> &'static Self {
        static RUNTIME: OnceLock<Runtime> = OnceLock::new();
        RUNTIME.get_or_init(|| {
            let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lifecycle");
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/build.sh");
            let mut build = Command::new(script);
            build.args(["--runtime-only", "--trace"]).arg(scratch.join("distribution"));
            // What cargo sets for tests is not meant for another cargo.
            for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_")) {
                build.env_remove(name);
            }
            if let Some(home) = env::var_os("CARGO_HOME") {
                build.env("CARGO_HOME", home);
            }
            build.env("CARGO_TARGET_DIR", scratch.join("target"));
            run(&mut build);
            let programs = scratch.join("programs");
            fs::create_dir_all(&programs).unwrap_or_else(|e| panic!("{}: {e}", programs.display()));
            Self { library: scratch.join("distribution/lib/threadtalk"), programs }
        })
    }

    /// The library to preload.
    pub fn shared(&self) -> PathBuf {
        self.library.join("libthreadtalk_rt.so")
    }

    /// The folder of the runtime's libraries.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// A folder for what tests build.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// What the compiler must be told to link the runtime in.
    pub fn link_arguments(&self, linkage: Linkage) -> Vec<String> {
        let file = |name: &str| self.library.join(name).display().to_string();
        let whole = |archive: &str| ["-Wl,--whole-archive".into(), file(archive), "-Wl,--no-whole-archive".into()];
        let mut arguments = Vec::new();
        match linkage {
            Linkage::Preload => {}
            Linkage::Static | Linkage::StaticPie => {
                arguments.push(if linkage == Linkage::Static { "-static" } else { "-static-pie" }.into());
                arguments.extend(whole("libthreadtalk_rt_static.a"));
                arguments.push(format!("-Wl,@{}", file("libthreadtalk_rt_static.wrap")));
            }
            Linkage::Archive | Linkage::Lld => {
                arguments.extend(whole("libthreadtalk_rt.a"));
                arguments.push(format!("-Wl,--dynamic-list={}", file("libthreadtalk_rt.syms")));
                arguments.extend((linkage == Linkage::Lld).then(|| "-fuse-ld=lld".into()));
            }
        }
        arguments
    }

    /// A folder in which LLVM's OpenMP runtime has the name of gcc's.
    pub fn openmp_for_gcc(&self) -> PathBuf {
        let found = Command::new("clang-19").arg("-print-file-name=libomp.so.5").output().expect("clang-19 runs");
        let library = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
        let folder = self.programs.join("openmp_for_gcc");
        fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let name = folder.join("libgomp.so.1");
        let _ = fs::remove_file(&name);
        std::os::unix::fs::symlink(&library, &name).unwrap_or_else(|e| panic!("{}: {e}", name.display()));
        folder
    }

    /// Compiles and links a program.
    pub fn build(&self, source: &Path, expectation: &Expectation, linkage: Linkage) -> PathBuf {
        let name = expectation.name.replace('.', "_");
        let program = self.programs.join(format!("{name}_{linkage:?}"));
        let mut compiler = match &expectation.compiler {
            Some(name) => Command::new(name),
            None => compiler(&expectation.name),
        };
        compiler.args(["-g", "-O1", "-fno-builtin", "-pthread", "-w", "-o"]).arg(&program).arg(source);
        compiler.arg(format!("-DCOLUMN_OFFSET={}", threadtalk_abi::thread::offset::COLUMN));
        compiler.arg(format!("-DABI_VERSION={}", threadtalk_abi::ABI_VERSION));
        if let Some((library, flags)) = expectation.library.as_ref().and_then(|words| words.split_first()) {
            let object = self.programs.join(format!("lib{name}_{linkage:?}.so"));
            let mut command = self::compiler(library);
            command.args(["-shared", "-fPIC", "-O1", "-w", "-fno-builtin", "-o"]).arg(&object);
            run(command.arg(source.with_file_name(library)).args(flags));
            compiler.arg(&object);
        }
        compiler.args(self.link_arguments(linkage)).args(&expectation.flags);
        run(&mut compiler);
        program
    }
}

fn compiler(source: &str) -> Command {
    Command::new(if source.ends_with(".cpp") { "clang++-19" } else { "clang-19" })
}

/// Runs a tool that must succeed.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
