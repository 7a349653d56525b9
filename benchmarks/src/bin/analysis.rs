//! Prints what a report takes; see `--help`.

use std::process::ExitCode;

use threadtalk_benchmarks::analysis::{Table, USAGE, measure, parse};
use threadtalk_benchmarks::build::Compilers;
use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::{Result, output};

fn main() -> ExitCode {
    output::exit("analysis", run())
}

fn run() -> Result<()> {
    let Some(options) = parse(std::env::args_os().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    let compilers = Compilers::find();
    let rows = measure(&options, &compilers, |step| eprintln!("{step}"))?;
    let table = Table::new(Machine::describe(&compilers), rows);
    print!("{table}");
    output::write_json(&table, options.json.as_deref())
}
