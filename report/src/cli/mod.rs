//! The command line: what each command takes, and which module does it.

mod compare;
mod destination;
mod export;
mod imbalance;
mod manual;
mod map;
mod merge;
mod mistake;
mod print;
mod report;
mod reporting;
mod run;
mod scale;

use crate::error::{Error, Result};
use crate::wrapper::{self, Language};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// See which threads talk to each other, through which lines of code, and what it costs
#[derive(Parser, Debug)]
#[command(name = "threadtalk", version, max_term_width = 100, arg_required_else_help = true, after_help = FIRST_STEPS)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const FIRST_STEPS: &str = "First steps:
  threadtalk cc -O2 -pthread prog.c -o prog    compile (or CC=threadtalk-cc ./configure && make)
  threadtalk run -o prog.ttp -- ./prog         run: prints a summary
  threadtalk report prog.ttp -o report         open report/index.html";

#[derive(Subcommand, Debug)]
enum Command {
    /// Compile C with instrumentation: clang-19 and its options [also as threadtalk-cc]
    #[command(disable_help_flag = true)]
    Cc(CompilerArgs),
    /// Compile C++ with instrumentation: clang++-19 and its options [also as threadtalk-c++]
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(CompilerArgs),
    /// Compile Fortran with instrumentation: flang-new-19 and its options [also as threadtalk-fc]
    #[command(disable_help_flag = true)]
    Fc(CompilerArgs),
    /// Run an instrumented program and write a profile
    #[command(visible_alias = "record")]
    Run(run::RunArgs),
    /// Show what a profile holds: text, pictures, a page, JSON, CSV
    Report(report::ReportArgs),
    /// Show what changed from one profile to another: text, pictures, a page, JSON
    #[command(visible_alias = "diff")]
    Compare(compare::CompareArgs),
    /// Show which threads do more than others, and which lines make them
    Imbalance(imbalance::ImbalanceArgs),
    /// Write a profile for other programs: JSON, CSV, Parquet, a trace for Perfetto
    Export(export::ExportArgs),
    /// Make one profile of those of several ranks, or of several runs
    Merge(merge::MergeArgs),
    /// Compute which processor each thread should run on, from who communicates with whom
    Map(map::MapArgs),
    /// Show how communication and reuse distances grow over input sizes or threads, from two or more profiles
    Scale(scale::ScaleArgs),
    /// Print a profile's records as they are stored
    Dump(FileArgs),
    /// Check that a profile is whole and consistent
    Validate(FileArgs),
    /// Print what a compiler needs
    Print {
        /// What to print
        what: print::What,
    },
    /// Say what is installed and what is missing
    Doctor,
    /// Write the manual pages of all commands to a folder
    Man {
        /// The folder: share/man/man1 of an installation
        folder: PathBuf,
    },
    /// Print the completion script of a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args, Debug)]
struct CompilerArgs {
    /// Options and files of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

#[derive(Args, Debug)]
struct FileArgs {
    /// The profile
    file: PathBuf,
}

/// Runs the command that `args` ask for.
pub fn main(args: Vec<OsString>) -> Result<ExitCode> {
    // Before the parser sees them: a compiler's options are not ours, `--help` and `--version` included.
    if let Some(language) = args.get(1).and_then(|command| compiler(command.to_str()?)) {
        return Err(wrapper::exec(language, args.into_iter().skip(2).collect()));
    }
    let launching = args.get(1).is_some_and(|command| command == "run" || command == "record");
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            error.print().map_err(|e| Error::stdout(&e))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(mistake::one_line(&error, launching)),
    };
    match cli.command {
        Command::Cc(args) => Err(wrapper::exec(Language::C, args.args)),
        Command::Cxx(args) => Err(wrapper::exec(Language::Cxx, args.args)),
        Command::Fc(args) => Err(wrapper::exec(Language::Fortran, args.args)),
        Command::Run(args) => args.run(),
        Command::Report(args) => args.run(),
        Command::Compare(args) => args.run(),
        Command::Imbalance(args) => args.run(),
        Command::Export(args) => args.run(),
        Command::Merge(args) => args.run(),
        Command::Map(args) => args.run(),
        Command::Scale(args) => args.run(),
        Command::Dump(args) => crate::profile::dump(&args.file),
        Command::Validate(args) => crate::profile::validate(&args.file),
        Command::Print { what } => what.print(),
        Command::Doctor => crate::doctor::run(),
        Command::Man { folder } => manual::write(&folder),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "threadtalk", &mut script);
            crate::output::to_stdout(&script)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn compiler(command: &str) -> Option<Language> {
    match command {
        "cc" => Some(Language::C),
        "c++" => Some(Language::Cxx),
        "fc" => Some(Language::Fortran),
        _ => None,
    }
}
