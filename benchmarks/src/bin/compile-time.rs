//! Prints the table of compile times; see `--help`.

use std::process::ExitCode;

use threadtalk_benchmarks::compile_time::{Table, USAGE, measure, parse};
use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::output;

fn main() -> ExitCode {
    output::program("compile-time", USAGE, parse, |options, compilers, progress| {
        let rows = measure(options, compilers, progress)?;
        Ok((Table::new(Machine::describe(compilers), options.timeout.as_secs(), rows), options.json.clone()))
    })
}
