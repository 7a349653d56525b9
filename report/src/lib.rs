//! The command line tool `threadtalk`: compiler wrapper, launcher and reports.
//!
//! * [`wrapper`] stands in for the compiler: `CC=threadtalk-cc`.
//! * [`run`] starts an instrumented program and says where its profile is.
//! * [`text`], [`svg`], [`html`], [`json`] and [`csv`] turn an analysed profile into something to read.
//! * [`imbalance`] shows which threads do more than others, and why.
//! * [`parquet`] and [`trace`] do so for other programs.
//! * [`compare`] does the same for two profiles against each other.
//! * [`scale`] shows how several grow.
//! * [`placement`] says which thread should run where.
//! * [`cli`] maps the command line to these; [`error`] is what can go wrong, in one line each.

pub mod cli;
pub mod compare;
pub mod csv;
pub mod doctor;
pub mod error;
pub mod fold;
pub mod html;
pub mod imbalance;
pub mod install;
pub mod json;
pub mod label;
mod names;
pub mod number;
pub mod output;
pub mod parquet;
pub mod placement;
pub mod profile;
pub mod run;
pub mod scale;
mod summary;
pub mod svg;
pub mod text;
pub mod trace;
pub mod wrapper;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the tool. `args[0]` decides: named `threadtalk-cc`, `threadtalk-c++` or `threadtalk-fc`, it is a compiler,
/// named `threadtalk-llvm-ar` or `threadtalk-llvm-ranlib` the compiler's archiver.
pub fn main(mut args: Vec<OsString>) -> ExitCode {
    let name = args.first().map(PathBuf::from).unwrap_or_default();
    let result = if let Some(language) = wrapper::Language::of_program(&name) {
        args.remove(0);
        Err(wrapper::exec(language, args))
    } else if let Some(archiver) = wrapper::archiver::of_program(&name) {
        args.remove(0);
        Err(wrapper::archiver::exec(archiver, args))
    } else {
        cli::main(args)
    };
    match result {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}
