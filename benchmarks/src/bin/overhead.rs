//! Prints the overhead table; see `--help`.

use std::io::Write;
use std::process::ExitCode;

use threadtalk_benchmarks::build::Compilers;
use threadtalk_benchmarks::machine::Machine;
use threadtalk_benchmarks::overhead::{self, Options, Table, USAGE};
use threadtalk_benchmarks::{Error, Result};

fn main() -> ExitCode {
    let outcome = match overhead::parse(std::env::args_os().skip(1)) {
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(Some(options)) => run(&options),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("overhead: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let compilers = Compilers::find();
    let rows = overhead::measure(options, &compilers, |step| eprintln!("{step}"))?;
    let table = Table::new(Machine::describe(&compilers), options.summary, rows);
    print!("{table}");
    if let Some(path) = &options.json {
        let json = serde_json::to_string_pretty(&table).expect("numbers and strings are always JSON");
        let write = || std::fs::File::create(path)?.write_all(json.as_bytes());
        write().map_err(|source| Error::Io { what: format!("writing {}", path.display()), source })?;
    }
    Ok(())
}
