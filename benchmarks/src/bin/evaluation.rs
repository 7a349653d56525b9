//! Prints the paper's evaluation; see `--help`.

use std::process::ExitCode;

use threadtalk_benchmarks::evaluation::{Table, USAGE, measure, parse};
use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::output;

fn main() -> ExitCode {
    output::program("evaluation", USAGE, parse, |options, compilers, progress| {
        let outcomes = measure(options, compilers, progress)?;
        Ok((
            Table::new(Machine::describe(compilers), options.threads, options.timed_threads, outcomes),
            options.json.clone(),
        ))
    })
}
