//! Arguments of `threadtalk run`.

use crate::error::Result;
use crate::run::{self, Launch};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `threadtalk run`.
#[derive(Args, Debug)]
#[command(override_usage = "threadtalk run [-o FILE] [OPTIONS] -- PROG [ARGS]...")]
pub struct RunArgs {
    /// Profile to write; %p stands for the process, %n for the program's name [default: threadtalk.%n.%p.ttp]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Signature memory: a fixed budget, or as much as the program's data
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// Budget of the hashed signature, with K, M or G [default: 256M]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    signature_bytes: Option<String>,
    /// Communication reuse distances: exact then sampled, all exact, or none [default: auto]
    #[arg(long, value_enum)]
    crd: Option<Crd>,
    /// Count nothing until the program calls threadtalk_start()
    #[arg(long)]
    start_paused: bool,
    /// A further option of the runtime, as in THREADTALK_OPTIONS (help=1 lists them)
    #[arg(short = 'x', long = "option", value_name = "NAME=VALUE", value_parser = option)]
    options: Vec<String>,
    /// Bind thread 0, 1, 2, ... to processors: a list (3,0-2), a plan of `threadtalk map -o`, or a profile to map first
    ///
    /// The first thread is bound when it creates its first thread. OpenMP runtimes are told not to bind threads
    /// themselves.
    #[arg(long, value_name = "PLAN")]
    bind: Option<String>,
    /// No summary at the end
    #[arg(short, long)]
    quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_names = ["PROG", "ARGS"])]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    Hashed,
    Exact,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Crd {
    Auto,
    Exact,
    Off,
}

fn size(text: &str) -> std::result::Result<String, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let valid = text.len() - digits.len() <= 1 && digits.parse::<u64>().is_ok_and(|n| n > 0);
    if valid { Ok(text.to_string()) } else { Err("write a number of bytes, for example 64M or 1G".to_string()) }
}

fn option(text: &str) -> std::result::Result<String, String> {
    let valid = text.split_once('=').is_some_and(|(name, _)| !name.is_empty()) && !text.contains(':');
    if valid { Ok(text.to_string()) } else { Err("write NAME=VALUE, one option each".to_string()) }
}

impl RunArgs {
    /// Runs the program; the exit status is its own.
    pub fn run(self) -> Result<ExitCode> {
        let mut options = Vec::new();
        options.extend(self.mode.map(|mode| match mode {
            Mode::Hashed => "mode=hashed".to_string(),
            Mode::Exact => "mode=exact".to_string(),
        }));
        options.extend(self.signature_bytes.map(|bytes| format!("signature_bytes={bytes}")));
        options.extend(self.crd.map(|crd| match crd {
            Crd::Auto => "crd=auto".to_string(),
            Crd::Exact => "crd=exact".to_string(),
            Crd::Off => "crd=off".to_string(),
        }));
        options.extend(self.start_paused.then(|| "paused=1".to_string()));
        options.extend(self.options);
        run::run(&Launch { output: self.output, options, bind: self.bind, quiet: self.quiet, program: self.program })
    }
}
