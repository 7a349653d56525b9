//! `threadtalk`: see which threads talk to each other, through which lines of code, and what it costs.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadtalk::main(std::env::args_os().collect())
}
