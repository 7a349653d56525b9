//! Prints the accuracy table; see `--help`.

use std::process::ExitCode;

use threadtalk_benchmarks::accuracy::{Table, USAGE, measure, parse};
use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::output;

fn main() -> ExitCode {
    output::program("accuracy", USAGE, parse, |options, compilers, progress| {
        let rows = measure(options, compilers, progress)?;
        Ok((Table::new(Machine::describe(compilers), options.threads, rows), options.json.clone()))
    })
}
