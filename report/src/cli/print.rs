//! `threadtalk print`: what a build without the wrapper needs.

use crate::error::Result;
use crate::install::Installation;
use crate::wrapper::{arguments::Request, command};
use clap::ValueEnum;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

/// What can be printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum What {
    /// Path of the compiler plugin, for -fpass-plugin=
    Plugin,
    /// Flags for linking an executable
    Ldflags,
    /// Flags for compiling with clang-19
    Cflags,
    /// Folder of threadtalk.h
    Include,
}

impl What {
    /// Prints it on standard output.
    pub fn print(self) -> Result<ExitCode> {
        let installation = Installation::find()?;
        let words: Vec<OsString> = match self {
            Self::Plugin => vec![installation.plugin()?.into()],
            Self::Include => vec![installation.include()?.into()],
            Self::Cflags => {
                let mut plugin = OsString::from("-fpass-plugin=");
                plugin.push(installation.plugin()?);
                let mut include = OsString::from("-I");
                include.push(installation.include()?);
                vec![plugin, "-gline-tables-only".into(), "-fdebug-info-for-profiling".into(), include]
            }
            Self::Ldflags => {
                let executable = Request { links_executable: true, ..Request::default() };
                command::link_arguments(&executable, &installation)?
            }
        };
        let mut line = words.join(std::ffi::OsStr::new(" ")).into_vec();
        line.push(b'\n');
        crate::output::to_stdout(&line)?;
        Ok(ExitCode::SUCCESS)
    }
}
