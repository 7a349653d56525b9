//! Prints the overhead table; see `--help`.

use std::process::ExitCode;

use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::output;
use threadtalk_benchmarks::overhead::{Table, USAGE, measure, parse};

fn main() -> ExitCode {
    output::program("overhead", USAGE, parse, |options, compilers, progress| {
        let rows = measure(options, compilers, progress)?;
        Ok((Table::new(Machine::describe(compilers), options.summary, rows), options.json.clone()))
    })
}
