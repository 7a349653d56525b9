//! Prints what a report takes; see `--help`.

use std::process::ExitCode;

use threadtalk_benchmarks::analysis::{Table, USAGE, measure, parse};
use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::output;

fn main() -> ExitCode {
    output::program("analysis", USAGE, parse, |options, compilers, progress| {
        let rows = measure(options, compilers, progress)?;
        Ok((Table::new(Machine::describe(compilers), rows), options.json.clone()))
    })
}
